"""`brat mcp` as a process, asked by the official client."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from brat.commands.mcp_server import TOOLS
from tests.world.terminal import Terminal
from tests.world.words import engine, project

pytestmark = pytest.mark.layer("landing")

LIST = "Say words\n\n- [ ] Say hi (paths: hi.txt)\n- [ ] Say ho (after: 1)\n"
NAME = "say-words-1"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A convoy that was planned; nobody has run a session yet."""
    terminal = project(tmp_path_factory.mktemp("mcp"), engine("echo hi > hi.txt"))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    return terminal


@asynccontextmanager
async def asking(terminal: Terminal, *words: str) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "brat", "mcp", *words],
        env={"HOME": str(terminal.home)},
        cwd=terminal.cwd,
    )
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


def said(answer: object, *, refused: bool) -> tuple[str, CallToolResult]:
    assert isinstance(answer, CallToolResult)
    assert answer.is_error is refused, answer.content
    (text,) = answer.content
    assert isinstance(text, TextContent)
    return text.text, answer


def told(answer: object) -> dict[str, Any]:
    """Return an answer; its text, which older clients read, says the same."""
    text, whole = said(answer, refused=False)
    assert json.loads(text) == whole.structured_content
    return dict(whole.structured_content)


def refused(answer: object) -> str:
    return said(answer, refused=True)[0]


async def test_an_agent_reads_what_people_read(terminal: Terminal) -> None:
    async with asking(terminal) as session:
        whole = told(await session.call_tool("status", {}))
        why = told(await session.call_tool("why", {"convoy": NAME, "task": 2}))

    typed = json.loads(terminal.done("brat status --json"))
    assert whole == typed | {"ended": []}
    reasons = json.loads(terminal.done("brat why 2 --json"))["reasons"]
    assert why["reasons"] == reasons
    assert "it is waiting for task 1 (queued)" in reasons


async def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, terminal: Terminal
) -> None:
    wrong: tuple[tuple[str, dict[str, object], str], ...] = (
        ("why", {"convoy": NAME, "task": 9}, f"{NAME} has no task 9"),
        ("why", {"convoy": "say-word-1", "task": 1}, "did you mean"),
        ("why", {"convoy": NAME}, "missing required field `task`"),
        ("why", {"convoy": NAME, "task": "1; rm -rf /"}, "Expected `int`"),
        ("status", {"repo": "/etc"}, "unknown field `repo`"),
        ("explode", {}, "there is no tool explode"),
    )
    async with asking(terminal) as session:
        for tool, arguments, why in wrong:
            said = refused(await session.call_tool(tool, arguments))
            assert why in said
            assert len(said.splitlines()) == 1
    async with asking(terminal, "--repo", str(tmp_path)) as session:
        said = refused(await session.call_tool("status", {}))
        assert said.startswith(f"{tmp_path} is not in a git repository: run `git init`")


async def test_an_agent_starts_a_convoy_and_decides_in_it(terminal: Terminal) -> None:
    evil = "--repo=/etc $(touch bad) \x00\x1b[2J; drop everything"
    async with asking(terminal) as session:
        text = "Say bye\n\n- [ ] Say bye (paths: bye.txt)"
        wanted = {"text": text, "plan_only": True}
        begun = told(await session.call_tool("start", wanted))["convoy"]
        name = begun["name"]
        task = {"convoy": name, "task": 1}
        why = told(await session.call_tool("why", task))
        said = told(await session.call_tool("tell", {**task, "text": evil}))
        done = told(await session.call_tool("approve", {"convoy": name}))
        again = refused(await session.call_tool("approve", {"convoy": name}))
        stopped = refused(await session.call_tool("stop", task))

    assert begun["state"] == "planning"
    assert "it is waiting for a person: the plan needs approval" in why["reasons"]
    assert (said["done"], done["done"]) == (True, True)
    kept = terminal.done("brat log export --format json")
    assert "--repo=/etc $(touch bad) ; drop everything" in kept
    assert not (terminal.cwd / "bad").exists()
    assert len(again.splitlines()) == 1
    assert stopped == f"task 1 of {name} has no running session"


def test_without_the_sdk_it_says_what_to_install(terminal: Terminal) -> None:
    hidden = "import sys; sys.modules['mcp'] = None; sys.argv = ['brat', 'mcp']"
    run = "from brat.__main__ import main; main()"
    said = terminal.type(f'{sys.executable} -c "{hidden}; {run}"')

    assert said.status == 1
    assert said.err.endswith("install it with: pip install 'brat-bot[mcp]'\n")


def test_other_commands_do_not_load_the_sdk_nor_what_they_do_not_ask(
    terminal: Terminal,
) -> None:
    shown = terminal.type(f"{sys.executable} -X importtime -m brat status")

    loaded = {line.rpartition("| ")[2].strip() for line in shown.err.splitlines()}
    assert "brat.status.status_screen" in loaded
    unasked = {"mcp", "mcp_types", "starlette", "git", "bot.requests.verb_table"}
    assert not loaded & unasked


@pytest.mark.layer("deep")
async def test_every_tool_answers(terminal: Terminal) -> None:
    given = {"convoy": NAME, "task": 2, "text": "- [ ] Mind it", "lines": 3}
    async with asking(terminal) as session:
        listed = (await session.list_tools()).tools
        for tool in listed:
            some = {k: given[k] for k in tool.input_schema["properties"] if k in given}
            answer = await session.call_tool(tool.name, some)
            assert isinstance(answer, CallToolResult)
            if answer.is_error:
                assert len(refused(answer).splitlines()) == 1, tool.name
            else:
                told(answer)
        ended = told(await session.call_tool("status", {}))["ended"]

    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    assert NAME in [each["name"] for each in ended], "cancel was among them"
