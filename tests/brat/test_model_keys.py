"""A local run gets the keys that are named, and nothing else of the terminal."""

import pytest

from brat.forge.service.run_processes import SECRET
from brat.local.start_checks import model_keys
from convoy.config import load

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

    found = model_keys(load(CONFIG, source="x"))

    assert found.keys() == {"ANTHROPIC_API_KEY", "TEAM_KEY", "BRAT_MODEL_URL"}
