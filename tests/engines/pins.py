"""Which version of each CLI is pinned here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_PACKAGES: Final = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "continue": "@continuedev/cli",
    "copilot": "@github/copilot",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-linux-x64-baseline",
}


def pinned_versions() -> Mapping[str, str]:
    """Return the pinned version of each type of engine."""
    npm = json.loads((_HERE / "npm/package.json").read_text("utf-8"))
    wanted = npm["dependencies"] | npm["optionalDependencies"]
    asked = (_HERE / "aider/requirements.in").read_text("utf-8").strip()
    of_npm = {name: wanted[package] for name, package in _PACKAGES.items()}
    return {"aider": asked.partition("==")[2], **of_npm}
