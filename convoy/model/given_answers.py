"""The answers that each person had within the last hour, as the log tells. Pure."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

HOUR_MS: Final = 3_600_000


class GivenAnswers(Struct, frozen=True, kw_only=True):
    """What one person had."""

    at: dict[str, int] = {}
    """When each answer was announced, unix ms, by its key."""
    told: str = ""
    """The key of the answer that said that it is enough; empty: none did."""
    told_at: int = 0
    """When that was announced, unix ms."""


def with_answer(
    known: dict[str, GivenAnswers], by: str, key: str, now: int, *, enough: bool
) -> dict[str, GivenAnswers]:
    """Return what everybody had within the hour before `now`, with one answer more.

    Args:
        known: the same before, by name in lower case.
        by: whom it answers.
        key: the answer's.
        now: when it is announced, unix ms.
        enough: whether it says that it is enough.
    """
    had = known.get(by.casefold(), GivenAnswers())
    if enough:
        had = replace(had, told=key, told_at=now)
    else:
        had = replace(had, at=had.at | {key: now})
    lately = {who: _lately(each, now) for who, each in known.items()}
    lately[by.casefold()] = _lately(had, now)
    return {who: each for who, each in lately.items() if each.at or each.told}


def _lately(had: GivenAnswers, now: int) -> GivenAnswers:
    since = now - HOUR_MS
    at = {key: at for key, at in had.at.items() if at > since}
    if had.told_at <= since:
        return GivenAnswers(at=at)
    return replace(had, at=at)
