"""Limits the convoys started in an hour by person, repository and installation.

They are counted from the log, so that a restart forgets nothing. Pure.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from convoy.model.state import State
from convoy.text import counted

HOUR_MS: Final = 3_600_000


class Quota(BaseModel):
    """The operator's limits; a repository's own settings may allow less."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    person_hour: int = Field(default=20, ge=0)
    """Convoys that one person may start in an hour, in one repository."""
    repository_hour: int = Field(default=60, ge=0)
    """Convoys that may be started in an hour in one repository."""
    installation_hour: int = Field(default=200, ge=0)
    """The same for all repositories of one installation of the App, or of one token."""
    unfinished: int = Field(default=50, ge=0)
    """Convoys that may be unfinished at once in one repository."""
    tasks: int = Field(default=100, ge=1)
    """The most tasks that one convoy may have."""


def refusal(
    quota: Quota, state: State, by: str, elsewhere: Iterable[int], now: int
) -> str | None:
    """Return why `by` may not start a convoy now, and when they may; None: now.

    Args:
        quota: the limits.
        state: this repository's state.
        by: who asks.
        elsewhere: start times of convoys in the installation's other repositories.
        now: unix ms.
    """
    live = sum(1 for _ in state.live())
    if live >= quota.unfinished:
        return (
            f"{live} convoys of this repository are not finished, and more may not be "
            "at once: set the label again when one has ended."
        )
    known = [summary for _, summary in state.convoys.summaries()]
    here = [each.requested_at for each in known]
    own = [each.requested_at for each in known if each.by == by]
    for whose, moments, most in (
        (f"@{by} has", own, quota.person_hour),
        ("This repository has", here, quota.repository_hour),
        ("This installation has", [*here, *elsewhere], quota.installation_hour),
    ):
        free = _free_at(moments, most, now)
        if free is not None:
            return (
                f"{whose} started {counted(most, 'convoy')} within an hour, which is "
                f"the most: set the label again {free}."
            )
    return None


def _free_at(moments: Sequence[int], most: int, now: int) -> str | None:
    """Return in words when one more convoy is allowed; None: now."""
    recent = sorted(at for at in moments if at > now - HOUR_MS)
    if len(recent) < most:
        return None
    if not most:
        return "when whoever runs this bot allows it"
    free_ms = recent[-most] + HOUR_MS
    moment = datetime.fromtimestamp(-(-free_ms // 60_000) * 60, UTC)
    return f"at {moment:%H:%M} UTC"
