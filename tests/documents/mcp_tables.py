"""The tables of docs/mcp.md, from the MCP server's own."""

from bot.mcp.server import TOOLS
from bot.mcp.tool import Tool


def tools() -> str:
    """Return every tool as a Markdown table."""
    rows = (
        (f"`{tool.name}`", _arguments(tool), "yes" if tool.writes else "", tool.help)
        for tool in TOOLS
    )
    head = (("tool", "takes", "changes", "what it does"), ("---",) * 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (*head, *rows))


def _arguments(tool: Tool) -> str:
    fields = tool.schema["properties"]
    needed = tool.schema["required"]
    return ", ".join(
        f"`{each}`" if each in needed else f"[`{each}`]" for each in fields
    )
