"""The headers that go to a vendor and come back; all others are left out.

Headers could move the cost to another project of the key, turn on what the schemas
leave out, or stand for another method.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from runner.proxy.gateway.allowances import Allowances

_ASKED: Final = frozenset(
    {
        *("accept", "user-agent", "anthropic-version", "x-app"),
        *("x-claude-code-session-id", "x-client-request-id", "x-goog-api-client"),
        *("anthropic-dangerous-direct-browser-access", "originator", "session_id"),
        *("session-id", "thread-id", "x-openai-internal-codex-responses-lite"),
        *("x-session-affinity", "x-session-id", "x-initiator", "x-interaction-type"),
    }
)
_ASKED_BEGINNINGS: Final = ("x-stainless-", "x-codex-")
_BETA: Final = "anthropic-beta"
_BETAS: Final = frozenset(
    {
        *("advanced-tool-use", "claude-code", "compact", "context-1m"),
        *("context-management", "effort", "extended-cache-ttl"),
        *("fine-grained-tool-streaming", "interleaved-thinking"),
        *("mid-conversation-system", "mid-conversation-tool-changes", "oauth"),
        *("per-turn-control", "prompt-caching", "prompt-caching-scope"),
        *("redact-thinking", "structured-outputs", "thinking-display-updates"),
        *("thinking-token-count", "token-counting", "token-efficient-tools"),
        *("tool-search-tool",),
    }
)
"""What Anthropic has on trial that changes only how a model answers, less its date.
https://platform.claude.com/docs/en/api/beta-headers"""
_DATE: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z")

_ANSWERED: Final = frozenset(
    {
        *("content-type", "date", "retry-after", "retry-after-ms", "request-id"),
        *("x-request-id", "x-should-retry", "openai-model", "openai-processing-ms"),
        *("openai-version", "content-encoding"),
    }
)
_ANSWERED_BEGINNINGS: Final = ("anthropic-ratelimit-", "x-ratelimit-", "x-codex-")


def asked(
    headers: Iterable[tuple[str, str]], allowed: Allowances
) -> Iterator[tuple[str, str]]:
    """Yield the headers of a request that its vendor gets."""
    for name, value in headers:
        small = name.lower()
        is_opened = {small, f"{small}={value.lower()}"} & allowed.headers
        if is_opened or small in _ASKED or small.startswith(_ASKED_BEGINNINGS):
            yield name, value
        elif small == _BETA and (kept := _trials(value, allowed)):
            yield name, kept


def left_out(headers: Iterable[tuple[str, str]], allowed: Allowances) -> list[str]:
    """Return what of Anthropic's trials a request names and its vendor does not get."""
    given = [value for name, value in headers if name.lower() == _BETA]
    return [
        each
        for value in given
        for each in _listed(value)
        if not _may_try(each, allowed)
    ]


def answered(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the headers of an answer that the agent gets."""
    for name, value in headers:
        small = name.lower()
        if small in _ANSWERED or small.startswith(_ANSWERED_BEGINNINGS):
            yield name, value


def _trials(value: str, allowed: Allowances) -> str:
    return ",".join(each for each in _listed(value) if _may_try(each, allowed))


def _listed(value: str) -> list[str]:
    return [each.strip() for each in value.split(",") if each.strip()]


def _may_try(name: str, allowed: Allowances) -> bool:
    opened = {_BETA, f"{_BETA}={name.lower()}"} & allowed.headers
    return bool(opened) or _DATE.sub("", name) in _BETAS
