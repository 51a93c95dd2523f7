"""A real agent CLI, whose model follows a script, works with brat by MCP."""

import json
import sys
from pathlib import Path

import pytest

from brat.local.forge_process import Process
from tests.engines.install import PROGRAMS
from tests.world.given_secrets import given
from tests.world.program import ran
from tests.world.terminal import Terminal
from tests.world.vendor.script import Case, Insist, Script, dump
from tests.world.words import engine, project

pytestmark = [
    pytest.mark.needs("claude"),
    pytest.mark.layer("deep"),
    pytest.mark.timeout(300),
]

ASKED = "Have the words said, and tell me why the second waits."
LIST = "Say words\n\n- [ ] Say hi (paths: hi.txt)\n- [ ] Say ho (after: 1)\n"
START = Insist(tool="mcp__brat__start", arguments=(("text", LIST),))
WHY = Insist(
    tool="mcp__brat__why", arguments=(("convoy", "say-words-1"), ("task", "2"))
)
DROP = Insist(
    tool="mcp__brat__drop", arguments=(("convoy", "say-words-1"), ("task", "2"))
)

NOWHERE = "http://127.0.0.1:9"
"""Whatever else the agent asks for is refused at once."""


def asked(terminal: Terminal, url: str, folder: Path) -> str:
    """Let the agent do what is asked, without `drop`; return all that it tells."""
    server = {"command": sys.executable, "args": ["-I", "-m", "brat", "mcp"]}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"brat": server}}))
    may = f"{START.tool},{WHY.tool}"
    done = ran(
        [
            *(str(PROGRAMS / "claude"), "-p", ASKED, "--permission-mode", "dontAsk"),
            *("--mcp-config", str(config), "--strict-mcp-config"),
            *("--allowedTools", may, "--output-format", "stream-json", "--verbose"),
        ],
        cwd=terminal.cwd,
        env={
            **terminal.environment(),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": given("made-up-key-of-the-agent"),
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
        },
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def test_an_agent_starts_a_convoy_and_reads_why_a_task_waits(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("echo hi > hi.txt"))
    terminal.done("brat init")
    case = Case(when=(ASKED,), steps=(START, WHY, DROP), closing="It waits for hi.")
    script, log = tmp_path / "script.json", tmp_path / "calls.jsonl"
    script.write_bytes(dump(Script(cases=(case,))))
    options = ("--script", str(script), "--log", str(log))
    vendor = Process("tests.world.vendor", *options, log=tmp_path / "vendor.log")
    try:
        said = asked(terminal, json.loads(vendor.ready())["url"], tmp_path)
    finally:
        vendor.stop()

    assert "it is waiting for task 1" in said
    ended = json.loads(said.splitlines()[-1])
    assert ended["result"] == "It waits for hi."
    assert [each["tool_name"] for each in ended["permission_denials"]] == [DROP.tool]
    (convoy,) = json.loads(terminal.done("brat status --json"))["convoys"]
    assert convoy["name"] == "say-words-1"
    assert [task["state"] for task in convoy["tasks"]] == ["queued", "queued"]
