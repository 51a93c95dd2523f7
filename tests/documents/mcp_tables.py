"""The table of docs/mcp.md, from the MCP server's own."""

from brat.commands.mcp_server import TOOLS, Tool


def tools() -> str:
    rows = (
        (f"`{tool.name}`", _arguments(tool), "yes" if tool.writes else "", tool.help)
        for tool in TOOLS
    )
    head = ("tool", "takes", "changes", "what it does")
    whole = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in whole)


def _arguments(tool: Tool) -> str:
    fields = tool.schema["properties"]
    needed = tool.schema["required"]
    return ", ".join(
        f"`{each}`" if each in needed else f"[`{each}`]" for each in fields
    )
