"""The types of engine that brat knows, and what the rules need to know about each.

A new engine is a row here and the module in `runner/engines` that starts it and reads
it. tests/runner/engines/test_complete.py names every other place it is missing from.
"""

from typing import Final

from msgspec import Struct

_ANTHROPIC, _OPENAI, _GEMINI = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"


class EngineType(Struct, frozen=True, kw_only=True):
    """One type of engine."""

    name: str
    """The `type` in the configuration."""
    module: str = ""
    """Its module in `runner/engines`; empty: the type's name, with `_` for `-`."""
    keys: tuple[str, ...] = ()
    """The variables in which it looks for its model's key. One is enough; the model
    decides which. Empty: it needs no key that brat knows."""
    can_be_limited: bool = True
    """Whether it can be told which tools it may use."""
    good_at: str = ""
    """What the planner is told about it when the configuration has no `good_at`."""
    obeys: tuple[str, ...] = ()
    """Files and folders of a project that tell it what to do, as in .gitignore."""
    logins: tuple[str, ...] = ()
    """Files and folders in a person's home that hold that person's login for it."""


ENGINE_TYPES: Final = {
    each.name: each
    for each in (
        EngineType(
            name="claude-code",
            keys=(_ANTHROPIC, "CLAUDE_CODE_OAUTH_TOKEN"),
            good_at="architecture, complex refactoring",
            obeys=("CLAUDE.md", ".claude/**"),
            logins=(".claude", ".claude.json"),
        ),
        EngineType(
            name="aider",
            keys=(_OPENAI, _ANTHROPIC, _GEMINI),
            can_be_limited=False,
            good_at="mechanical edits such as tests, with many models",
            obeys=("CONVENTIONS.md", ".aider*"),
        ),
        EngineType(
            name="opencode",
            keys=(_ANTHROPIC, _OPENAI),
            good_at="work with whichever of many vendors' models is set",
            obeys=(".opencode/**", "opencode.json"),
            logins=(".local/share/opencode",),
        ),
        EngineType(
            name="codex",
            keys=(_OPENAI,),
            can_be_limited=False,
            good_at="documents and code, with OpenAI's models",
            obeys=(".codex/**",),
            logins=(".codex",),
        ),
        EngineType(
            name="continue",
            module="continue_cli",
            keys=(_OPENAI, _ANTHROPIC, _GEMINI),
            good_at="what is near to an editor's own changes",
            obeys=(".continue/**",),
            logins=(".continue",),
        ),
        EngineType(
            name="gemini",
            keys=(_GEMINI,),
            good_at="work with Google's models and services",
            obeys=("GEMINI.md", ".gemini/**"),
            logins=(".gemini",),
        ),
        EngineType(
            name="copilot",
            keys=("COPILOT_GITHUB_TOKEN", _OPENAI, _ANTHROPIC),
            good_at="what has to do with GitHub: workflows, issues, pull requests",
            logins=(".copilot", ".config/github-copilot"),
        ),
        EngineType(name="shell", can_be_limited=False),
    )
}
"""The types by name, in the order the documents list them."""
