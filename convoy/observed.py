"""What the shell saw of the world: git refs, workflow runs, checks."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from convoy import ids

Verdict = Literal["none", "pending", "green", "red"]


class Run(Struct, frozen=True, kw_only=True):
    """A workflow run."""

    id: int
    completed: bool
    conclusion: str | None = None


class Check(Struct, frozen=True, kw_only=True):
    """One check run on a commit, as the forge reports it."""

    id: int
    app: str
    name: str
    status: str
    conclusion: str | None
    text: str = ""
    external: str = ""
    """What its maker calls it: a key, if that is the bot."""


class Checks(Struct, frozen=True, kw_only=True):
    """What CI says of one commit."""

    verdict: Verdict
    names: tuple[str, ...] = ()
    """The checks that spoke, sorted."""
    text: str = ""
    """What the red ones said, for the next attempt."""
    more: bool = False
    """Nothing is red, and a workflow that runs on the commit may bring another."""


class Observed(Struct, frozen=True, kw_only=True):
    """One look at the world; what was not asked is absent, never guessed."""

    refs: dict[str, str] = {}
    """Full ref names to commit ids."""
    runs: dict[int, Run] = {}
    checks: dict[str, Checks] = {}
    """By commit id."""


def judge(
    reported: Iterable[Check],
    required: tuple[str, ...],
    own_app: str,
    *,
    running: bool = False,
) -> Checks:
    """Return the verdict over a commit's checks.

    Of two runs of one check the one with the larger id counts. Only `success` passes:
    a skipped or neutral check has tested nothing. The bot's own checks never count.
    With `required` names, all of them must be there; without, all there are must pass,
    and while a workflow is `running` on the commit not all are there: a job that needs
    another one shows no check before that has passed.

    Source: https://docs.github.com/rest/checks/runs
    """
    newest: dict[tuple[str, str], Check] = {}
    for check in sorted(reported, key=lambda c: c.id):
        own = check.app == own_app or ids.is_check_key(check.external)
        if not own and (not required or check.name in required):
            newest[check.app, check.name] = check
    names = tuple(sorted({check.name for check in newest.values()}))
    red = [c for c in newest.values() if c.status == "completed" and not _passed(c)]
    if red:
        text = "\n".join(f"{c.name}: {c.conclusion}\n{c.text}".strip() for c in red)
        return Checks(verdict="red", names=names, text=text)
    more = running and not required
    if not newest:
        return Checks(verdict="pending" if more else "none", more=more)
    waits = set(required) - set(names) or any(not _passed(c) for c in newest.values())
    if waits or more:
        return Checks(verdict="pending", names=names, more=more)
    return Checks(verdict="green", names=names)


def _passed(check: Check) -> bool:
    return check.status == "completed" and check.conclusion == "success"
