from pathlib import Path

import pytest

from brat.doctor.checkup import LEAST, checked_machine, room, tools
from brat.forge.service.programs import SECRET
from brat.local.start_checks import model_keys
from convoy.config import load


def test_a_full_disk_is_a_fault_and_what_agents_have_of_a_terminal_is_named(
    tmp_path: Path,
) -> None:
    full, enough = room(LEAST - 1, tmp_path), room(LEAST, tmp_path)

    assert full.grade == "fault"
    assert full.said.startswith("only 1.0 GB")
    assert str(tmp_path) in full.mend
    assert enough.grade == "ok"
    has_room, has_tools = checked_machine(tmp_path)
    assert "GB of disk space free for sessions" in has_room.said
    assert "agents and CI get PATH" in has_tools.said

    (tmp_path / ".npmrc").touch()

    found = tools({"JAVA_HOME": "/opt/java"}, tmp_path)

    assert found.grade == "ok"
    assert "get PATH, JAVA_HOME from your terminal, but not ~/.npmrc" in found.said


CONFIG = '[engine.default]\ntype = "codex"\nsecret = "TEAM_KEY"\n'


def test_only_what_engines_and_the_configuration_name_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ANTHROPIC_API_KEY", "TEAM_KEY", "BRAT_MODEL_URL"):
        monkeypatch.setenv(name, f"value of {name}")
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", f"{SECRET}X"):
        monkeypatch.setenv(name, "not theirs")
    monkeypatch.setenv("GEMINI_API_KEY", "")
    for name in ("OPENAI_API_KEY", "COPILOT_GITHUB_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.chdir("/usr")
    monkeypatch.setenv("BRAT_SHOWN", "/opt/tools:lib/../share:")

    found = model_keys(load(CONFIG, source="x"))

    shown = {"BRAT_SHOWN": "/opt/tools:/usr/share"}
    keys = {"ANTHROPIC_API_KEY", "TEAM_KEY", "BRAT_MODEL_URL"}
    assert found == {name: f"value of {name}" for name in keys} | shown
