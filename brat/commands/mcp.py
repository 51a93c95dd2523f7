"""`brat mcp`: the MCP server over standard input and output, for agents and editors.

It reads as the other commands read, with the rights of whoever started it.
"""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import typer

from brat.commands.options import HERE, Repo
from grite.errors import BratError


def add_to(app: typer.Typer) -> None:
    """Add this word to the command line."""
    app.command()(mcp)


def mcp(repo: Repo = HERE) -> None:
    """Serve agents and editors over MCP on standard input and output."""
    if find_spec("mcp") is None:
        from bot.dashboard.mcp_tools import MISSING

        raise BratError(MISSING)
    asyncio.run(_served(repo.resolve()))


async def _served(path: Path) -> None:
    from mcp.server.stdio import stdio_server

    from bot.dashboard.mcp_server import server_of
    from brat.status.mcp_backend import CheckoutBackend

    server = server_of(CheckoutBackend(path))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
