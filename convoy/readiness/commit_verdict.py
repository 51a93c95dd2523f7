"""CI's verdict on a commit, out of what jobs, check runs and statuses say. Pure.

Anybody who may write checks can write one of any name. So what is green counts only
from whoever is known to report that check: the workflow's own job, the App that a
ruleset or the configuration names, or else the first that was green when something
landed. What is red or under way counts from anybody.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from convoy.readiness.observed import Check, Checks, CiVerdict

LOST: Final = frozenset({"cancelled", "timed_out", "startup_failure", "stale"})
"""Conclusions that say nothing about the commit: somebody or something stopped CI.

https://docs.github.com/rest/checks/runs (conclusion)
"""
REQUIRE: Final = (
    "let a check run on it, or name in [refinery] checks those that may be skipped"
)
MEND: Final = "name who reports it in [refinery] reporters, or let that one report it"


class Reporters(Struct, frozen=True, kw_only=True):
    """Whose word counts for which check."""

    named: Mapping[str, str] = {}
    """The App's or account's name, by the check's name."""
    ids: Mapping[str, int] = {}
    """The App's number, by the check's name: what a ruleset says."""

    def vouch_for(self, check: Check) -> bool:
        """Whether a green check counts."""
        if check.is_loose:
            return False
        if wanted := self.ids.get(check.name):
            return check.app_id == wanted
        return self.named.get(check.name, check.app) == check.app

    def are_strangers(self, checks: Iterable[Check]) -> bool:
        """Whether none of these checks is a job's or of a name that is known."""
        known = {*self.named, *self.ids}
        return bool(known) and not any(c.workflow or c.name in known for c in checks)


ANYBODY: Final = Reporters()


def judge(
    reported: Iterable[Check],
    required: tuple[str, ...],
    own_app: str,
    *,
    running: bool = False,
    reporters: Reporters = ANYBODY,
) -> Checks:
    """Return the verdict over a commit's checks.

    Of two check runs or statuses of one name and reporter, the one with the larger id
    counts; of two runs of a workflow both do, until a person runs the red one again.
    As on GitHub, a skipped or neutral check passes; but where no name is required, at
    least one must have succeeded. What was cancelled or ran out of time is no verdict.
    The bot's own checks never count. All `required` checks must be present; without
    such names all present checks must pass.
    While a workflow is `running` on the commit nothing is green.

    Source: https://docs.github.com/rest/checks/runs
    """
    newest = _counted(reported, required, own_app)
    names = tuple(sorted({check.name for check in newest}))
    asking = [c for c in newest if c.asks_a_person]
    ended = [c for c in newest if c.status == "completed" and not c.has_passed]
    lost = [check for check in ended if check.conclusion in LOST]
    if red := [check for check in ended if check not in (*asking, *lost)]:
        return _against("red", names, red)
    if asking:
        text = "\n".join(f"{c.name}: {c.text or c.conclusion}" for c in asking)
        return Checks(verdict="broken", names=names, text=text)
    if lost and not running and all(c.status == "completed" for c in newest):
        return _against("lost", names, lost)
    if not newest:
        return Checks(verdict="pending" if running else "none", more=running)
    waits = set(required) - set(names) or not all(c.has_passed for c in newest)
    if waits or running:
        return Checks(verdict="pending", names=names, more=running)
    if not required and not any(check.has_tested for check in newest):
        text = f"nothing has tested it: {_skipped(newest)}; {REQUIRE}"
        return Checks(verdict="broken", names=names, text=text)
    return _green(newest, required, reporters)


def _counted(
    reported: Iterable[Check], required: tuple[str, ...], own_app: str
) -> tuple[Check, ...]:
    """Return the checks that speak now."""
    newest: dict[tuple[bool, bool, str, str, str], Check] = {}
    for check in sorted(reported, key=lambda c: c.id):
        if check.is_own(own_app) or (required and check.name not in required):
            continue
        key = (check.is_status, check.is_loose, check.workflow, check.app, check.name)
        before = newest.get(key)
        if before is None or not check.workflow or not _is_red(before):
            newest[key] = check
    return tuple(newest.values())


def _is_red(check: Check) -> bool:
    """Whether a job has failed, so that no other run of its workflow replaces it."""
    has_ended = check.status == "completed" and not check.asks_a_person
    return has_ended and not check.has_passed and check.conclusion not in LOST


def _green(
    passed: tuple[Check, ...], required: tuple[str, ...], reporters: Reporters
) -> Checks:
    """Return the verdict where all have passed: green, if they are who should say."""
    names = tuple(sorted({check.name for check in passed}))
    sound = [check for check in passed if reporters.vouch_for(check)]
    is_known = bool(sound) and not reporters.are_strangers(sound)
    wanted = set(required) - {check.name for check in sound}
    if lacking := wanted if required else set() if is_known else set(names):
        text = "\n".join(
            f"{c.name}: it is by {_whose(c)}, whose word does not count for it; {MEND}"
            for c in passed
            if c.name in lacking
        )
        return Checks(verdict="broken", names=names, text=text)
    return Checks(
        verdict="green",
        names=tuple(sorted({check.name for check in sound})),
        reporters={c.name: c.app for c in sound if c.app and c.has_tested},
    )


def _skipped(checks: Iterable[Check]) -> str:
    return ", ".join(f"{check.name} was {check.conclusion}" for check in checks)


def _whose(check: Check) -> str:
    return "a job's token" if check.is_loose else check.app or "somebody unknown"


def _against(
    verdict: CiVerdict, names: tuple[str, ...], said: Iterable[Check]
) -> Checks:
    """Return a verdict with the checks that it is by, and their text."""
    against = tuple(said)
    text = "\n".join(f"{c.name}: {c.conclusion}\n{c.text}".strip() for c in against)
    failed = tuple(sorted({check.name for check in against}))
    return Checks(verdict=verdict, names=names, failed=failed, text=text)


def may_turn(by_runs: Checks, required: tuple[str, ...]) -> bool:
    """Whether commit statuses may change a verdict that check runs alone led to.

    They may where no check run speaks, where a required name is missing, and where all
    is green, or green by the wrong ones. What is red stays red, and what check runs are
    awaited for stays pending.
    """
    if by_runs.verdict in ("none", "green", "broken"):
        return True
    return by_runs.verdict == "pending" and not set(required) <= set(by_runs.names)
