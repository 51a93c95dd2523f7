"""In which variables each type of engine looks for its model's key."""

from types import MappingProxyType
from typing import Final

from convoy.events import EngineSpec

_ANTHROPIC, _OPENAI, _GEMINI = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"
KEYS: Final = MappingProxyType(
    {
        "claude-code": (_ANTHROPIC, "CLAUDE_CODE_OAUTH_TOKEN"),
        "aider": (_OPENAI, _ANTHROPIC, _GEMINI),
        "opencode": (_ANTHROPIC, _OPENAI),
        "codex": (_OPENAI,),
        "continue": (_OPENAI, _ANTHROPIC, _GEMINI),
        "gemini": (_GEMINI,),
        "copilot": ("COPILOT_GITHUB_TOKEN", _OPENAI, _ANTHROPIC),
        "shell": (),
    }
)
"""One of them will do; which one, the model decides. The runner's rows say the same."""


def looked_in(engine: EngineSpec) -> tuple[str, ...]:
    """Return the variables one of which must be set; none: it needs no key we know."""
    return (engine.secret,) if engine.secret else KEYS.get(engine.type, ())
