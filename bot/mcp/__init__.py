"""The MCP server: what agents and editors read of a repository, and decide in it."""

from typing import Final

MISSING: Final = (
    "the MCP server needs the package mcp, which is not installed here; install it "
    "with: pip install 'brat-bot[mcp]'"
)
