"""`brat doctor --engines`: what would stop an engine is said before it is paid for."""

from pathlib import Path

import pytest

from tests.world.words import project

CONFIG = """\
[engine.default]
type = "claude-code"
secret = "TEAM_KEY"

[engine.tests]
type = "continue"

[engine.docs]
type = "plugin:abacus"

[engine.own]
type = "shell"
args = ["no-such-program"]
"""
DOCTOR = "brat doctor --engines"


def of(engine: str, lines: list[str]) -> list[str]:
    return [one for one in lines if f"[engine.{engine}]" in one]


@pytest.mark.layer("landing")
def test_each_engine_is_looked_at(tmp_path: Path) -> None:
    terminal = project(tmp_path, CONFIG)
    terminal.install("claude", "echo 2.1.0 '(a stand-in)'")

    lines = terminal.type(DOCTOR).lines

    program, key = of("default", lines)
    assert program.endswith(
        "ok    [engine.default] claude-code: claude 2.1.0 (a stand-in)"
    )
    assert "FAULT [engine.default] claude-code: The engine claude-code needs" in key
    assert "in the variable TEAM_KEY, which is not set" in key
    (tests,) = of("tests", lines)
    assert "FAULT [engine.tests] continue: The engine continue needs a model" in tests
    (docs,) = of("docs", lines)
    assert "There is no engine 'plugin:abacus'; available: " in docs
    (own,) = of("own", lines)
    assert "the program no-such-program was not found -> install it" in own

    terminal.install("claude", "env")
    said = terminal.type(f"env TEAM_KEY=made-up-0123456789 {DOCTOR}").lines
    program, key = of("default", said)

    assert key.endswith("[engine.default] claude-code: the key is set")
    assert "made-up" not in program + key, "a key is not shown"
