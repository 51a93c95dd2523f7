"""The types of engine, and who serves their models.

A new engine is a row of `ENGINE_TYPES` and the module in `runner/engines` that starts
it and reads it; tests/runner/engines/test_complete.py names every other place it is
missing from.
"""

from typing import Final

from msgspec import Struct

_ANTHROPIC, _OPENAI, _GEMINI = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"


class Provider(Struct, frozen=True, kw_only=True):
    """Who serves models that others made."""

    key: str
    """The variable of the job that holds its key."""
    url: str = ""
    """Its server, after the `/v1` of OpenAI's dialects."""
    form: str = ""
    """What `url` in the configuration must look like; empty: it can be left out."""


PROVIDERS: Final = {
    "openrouter": Provider(
        key="OPENROUTER_API_KEY",
        url="https://openrouter.ai/api/v1",
    ),
    "chatgpt": Provider(
        key="CODEX_ACCESS_TOKEN",
        url="https://chatgpt.com/backend-api/codex",
    ),
    "bedrock": Provider(
        key="AWS_BEARER_TOKEN_BEDROCK",
        form="https://bedrock-runtime.REGION.amazonaws.com",
    ),
    "vertex": Provider(
        key="GOOGLE_OAUTH_ACCESS_TOKEN",
        form="https://REGION-aiplatform.googleapis.com/v1/projects/ID/locations/REGION",
    ),
    "code-assist": Provider(
        key="GOOGLE_CLOUD_ACCESS_TOKEN",
        url="https://cloudcode-pa.googleapis.com",
    ),
    "foundry": Provider(
        key="ANTHROPIC_FOUNDRY_API_KEY",
        form="https://NAME.services.ai.azure.com/anthropic",
    ),
}
"""By the word before the first `/` of a model in the configuration."""


class EngineType(Struct, frozen=True, kw_only=True):
    name: str
    """The `type` in the configuration."""
    module: str = ""
    """Its module in `runner/engines`; empty: the type's name, with `_` for `-`."""
    keys: tuple[str, ...] = ()
    """The variables in which it looks for its model's key. One is enough; the model
    decides which. Empty: it needs no key that brat knows."""
    providers: tuple[str, ...] = ()
    """The names in `PROVIDERS` that its models may begin with."""
    can_be_limited: bool = True
    """Whether it can be told which tools it may use."""
    tells_cost: bool = False
    """Whether it says itself what its model's calls cost."""
    good_at: str = ""
    """What the planner is told about it when the configuration has no `good_at`."""
    obeys: tuple[str, ...] = ()
    """Files and folders of a project that tell it what to do, as in .gitignore."""
    logins: tuple[str, ...] = ()
    """Files and folders in a person's home that hold that person's login for it."""

    @property
    def all_keys(self) -> tuple[str, ...]:
        """The variables in which any of its vendors and providers has a key."""
        return (*self.keys, *(PROVIDERS[each].key for each in self.providers))


ENGINE_TYPES: Final = {
    each.name: each
    for each in (
        EngineType(
            name="claude-code",
            keys=(_ANTHROPIC, "CLAUDE_CODE_OAUTH_TOKEN"),
            providers=("bedrock", "vertex", "foundry"),
            tells_cost=True,
            good_at="architecture, complex refactoring",
            obeys=("CLAUDE.md", "CLAUDE.local.md", "**/.claude/**"),
            logins=(".claude", ".claude.json"),
        ),
        EngineType(
            name="aider",
            keys=(_OPENAI, _ANTHROPIC, _GEMINI),
            providers=("openrouter",),
            can_be_limited=False,
            tells_cost=True,
            good_at="mechanical edits such as tests, with many models",
            obeys=("CONVENTIONS.md", ".aider*", "/.env"),
        ),
        EngineType(
            name="opencode",
            keys=(_ANTHROPIC, _OPENAI),
            providers=("openrouter",),
            tells_cost=True,
            good_at="work with the models of many vendors",
            obeys=("**/.opencode/**", "opencode.json", "opencode.jsonc", "CONTEXT.md"),
            logins=(".local/share/opencode",),
        ),
        EngineType(
            name="codex",
            keys=(_OPENAI,),
            providers=("chatgpt",),
            can_be_limited=False,
            good_at="documents and code, with OpenAI's models",
            obeys=("AGENTS.override.md", "**/.codex/**", "**/.agents/**"),
            logins=(".codex",),
        ),
        EngineType(
            name="continue",
            module="continue_cli",
            keys=(_OPENAI, _ANTHROPIC, _GEMINI),
            tells_cost=True,
            good_at="small edits, as in a code editor",
            obeys=(
                *("**/.continue/**", ".continuerules", ".continueignore"),
                *("AGENT.md", "CODEX.md"),
            ),
            logins=(".continue",),
        ),
        EngineType(
            name="gemini",
            keys=(_GEMINI,),
            providers=("vertex", "code-assist"),
            good_at="work with Google's models and services",
            obeys=("GEMINI.md", "**/.gemini/**", ".geminiignore"),
            logins=(".gemini",),
        ),
        EngineType(
            name="copilot",
            keys=("COPILOT_GITHUB_TOKEN", _OPENAI, _ANTHROPIC),
            good_at="GitHub: workflows, issues, pull requests",
            obeys=("**/.github/**", "**/.copilot/**"),
            logins=(".copilot", ".config/github-copilot"),
        ),
        EngineType(name="shell", can_be_limited=False),
    )
}
"""The types by name, in the order the documents list them."""
