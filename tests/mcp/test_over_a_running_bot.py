"""MCP over HTTP at a bot that runs on this machine: it begins convoys, too."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.world.forge import until
from tests.world.patience import patient
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.layer("deep")
LIST = "Say words\n\n- [ ] Say hi (paths: hi.txt)\n- [ ] Say ho (after: 1)\n"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = project(tmp_path, engine("echo hi > hi.txt"))
    terminal.done("brat init")
    try:
        yield terminal
    finally:
        terminal.type("brat daemon stop")


async def test_a_convoy_begins_and_waits_for_approval(terminal: Terminal) -> None:
    said = terminal.type("brat daemon start --port 0").err
    found = re.search(r"dashboard: (\S+)/\?token=(\S+)", said)
    assert found, said
    url, token = found.groups()
    shows = {"Authorization": f"Bearer {token}"}
    wanted = {"text": LIST, "plan_only": True}
    async with (
        httpx2.AsyncClient(headers=shows, trust_env=False, timeout=patient(60)) as http,
        streamable_http_client(f"{url}/mcp", http_client=http) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        begun = await session.call_tool("start", wanted)
        again = await session.call_tool("start", wanted)

        async def planned() -> object:
            seen = await session.call_tool("convoy_show", {"convoy": "say-words-1"})
            assert isinstance(seen, CallToolResult)
            return not seen.is_error and seen.structured_content

        convoy = await until(planned, deadline_s=patient(60))
        terminal.write({"words/count.py": "changed = True\n"})
        dirty = await session.call_tool("start", {"text": "Something else"})

    assert isinstance(begun, CallToolResult)
    assert isinstance(again, CallToolResult)
    assert begun.structured_content == again.structured_content
    assert begun.structured_content["issue"] == 1
    assert convoy["state"] == "planning"
    assert isinstance(dirty, CallToolResult)
    assert dirty.is_error
