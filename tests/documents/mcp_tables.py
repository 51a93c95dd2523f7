"""The tables of docs/mcp.md, from the MCP server's own."""

from collections.abc import Iterable

from bot.dashboard.mcp_server import PROMPTS, RESOURCES, TOOLS
from bot.dashboard.mcp_tools import Tool


def tools() -> str:
    """Return every tool as a Markdown table."""
    rows = (
        (f"`{tool.name}`", _arguments(tool), "yes" if tool.writes else "", tool.help)
        for tool in TOOLS
    )
    return _table(("tool", "takes", "changes", "what it does"), rows)


def resources() -> str:
    """Return every resource as a Markdown table."""
    rows = ((f"`{each.uri}`", f"what `{each.tool.name}` gives") for each in RESOURCES)
    return _table(("address", "what is there"), rows)


def prompts() -> str:
    """Return every prompt as a Markdown table."""
    rows = (
        (f"`{each.name}`", ", ".join(f"`{name}`" for name in each.takes), each.help)
        for each in PROMPTS
    )
    return _table(("prompt", "takes", "what it does"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    whole = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in whole)


def _arguments(tool: Tool) -> str:
    fields = tool.schema["properties"]
    needed = tool.schema["required"]
    return ", ".join(
        f"`{each}`" if each in needed else f"[`{each}`]" for each in fields
    )
