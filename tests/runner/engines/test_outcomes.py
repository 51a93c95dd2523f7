"""Each way a session can end, made by a program that writes what the real one wrote."""

import pytest
from msgspec.structs import replace

from convoy.model.records import EngineSpec
from tests.runner.engines.hearing import SAMPLES
from tests.runner.job import Forge, Left, git

pytestmark = pytest.mark.layer("landing")

KEY = "made-up-key-0123456789"
WORK = "echo hi > greeting.txt"


def said(sample: str) -> str:
    out, err = (SAMPLES / f"{sample}.{name}" for name in ("stdout", "stderr"))
    return f"cat '{out}'" + (f"; cat '{err}' >&2" if err.exists() else "")


def driven(
    forge: Forge, script: str, name: str = "claude-code", **given: object
) -> Left:
    names = ("claude", "aider", "gemini", "codex", "cn", "opencode")
    path = forge.program(f"#!/bin/sh\n{script}\n", *names)
    spec = replace(EngineSpec(type=name, timeout_s=600), **given)
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), KEY)
    return forge.run(forge.started(engine=spec), PATH=path, GEMINI_API_KEY=KEY, **keys)


def judged(left: Left) -> tuple[str, str]:
    return left.result["outcome"], left.result["conclusion"]


def test_an_engine_that_says_nothing_is_hung(forge: Forge) -> None:
    left = driven(forge, "echo Up.; sleep 600", silence_s=1)

    assert judged(left) == ("hung", "timed_out")
    assert left.result["why"] == "The agent was stopped: it printed nothing for 1 s."


def test_a_vendors_time_reaches_the_bot(forge: Forge) -> None:
    left = driven(forge, said("codex@native-rl") + "; exit 1", "codex")

    assert judged(left) == ("rate_limited", "failure")
    assert left.result["retry_after_s"] == 3.5


def test_a_key_that_is_not_there_is_said_before_anything_runs(forge: Forge) -> None:
    left = driven(forge, WORK, secret="TEAM_KEY")

    assert judged(left) == ("credentials", "failure")
    assert left.result["why"] == (
        "The engine claude-code needs its key in the variable TEAM_KEY, which is not "
        "set in the job's environment."
    )
    assert left.result["files"] == []


def test_the_prompt_is_the_programs_input_and_no_key_is_its_own(forge: Forge) -> None:
    script = f"cat > prompt.txt; env > env.txt; {said('claude-ok')}"
    left = driven(forge, script)

    clone = forge.unpacked(left)
    shown = {
        name: git("show", f"work:{name}", cwd=clone)
        for name in ("prompt.txt", "env.txt")
    }
    assert "Greet the world" in shown["prompt.txt"]
    assert "ANTHROPIC_API_KEY=brat-" in shown["env.txt"]
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:" in shown["env.txt"]
    assert "DISABLE_AUTOUPDATER=1" in shown["env.txt"], "what its row sets"
    assert "OPENAI_API_KEY" not in shown["env.txt"]
    assert KEY not in shown["env.txt"]


def test_a_link_in_place_of_what_it_used_is_not_read(forge: Forge) -> None:
    script = f"{WORK}; ln -s /etc/passwd $HOME/analytics.jsonl; {said('aider-ok')}"

    assert judged(driven(forge, script, "aider")) == ("uncommitted", "success")
