"""CI's verdict on a commit, out of what was observed of its checks. Pure.

Anybody who may write checks can write one of any name. So what is green counts only
from whoever is known to report that check: the workflow's own job, the App that a
ruleset or the configuration names, or else the first that was green when something
landed. What is red or under way counts from anybody.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from convoy.model import ids

CiVerdict = Literal["none", "pending", "green", "red", "lost", "broken"]
"""`broken`: CI itself cannot judge before a person has acted. `lost`: it ended without
a verdict."""
GITHUB_PASSES: Final = frozenset({"success", "skipped", "neutral"})
"""Conclusions that GitHub lets a required check end with."""
WITHOUT_VERDICT: Final = frozenset(
    {"cancelled", "timed_out", "startup_failure", "stale"}
)
"""Conclusions that say nothing about the commit: somebody or something stopped CI.

https://docs.github.com/rest/checks/runs (conclusion)
"""
_SAID: Final = {
    "cancelled": "cancelled, perhaps by a concurrency group without github.ref"
}
"""What is said of a conclusion instead of its name."""
WAITING: Final = "waiting"
"""The status of a job, and of its run, that its environment keeps from starting.

Its text says so where a person has to approve it; a timer ends by itself.
https://docs.github.com/actions/how-tos/deploy/configure-and-manage-deployments/review-deployments
"""
REQUIRE: Final = (
    "make a check run on it, or set [refinery] checks to those that may be skipped"
)
AWAITED: Final = "the required check{named} not reported on it{others}: {mend}"
LET_IT_RUN: Final = (
    "run CI on brat/queue/**, or set [refinery] checks to checks that run there"
)
SKIPPED_WHOLE: Final = (
    "{0} was skipped entirely, so none of its jobs reported: move the if: from {0} to "
    "the steps of those jobs"
)
"""Of a matrix or a called workflow. https://github.com/wafflebase/wafflebase/pull/807"""
MEND: Final = "set its reporter in [refinery] reporters, or let the right one report it"


class Check(Struct, frozen=True, kw_only=True):
    """One job, check run or commit status on a commit, as the forge reports it."""

    id: int
    app: str
    """The App that reported it; of a status the account."""
    app_id: int = 0
    """The App's number; 0: unknown."""
    workflow: str = ""
    """Of a job: its workflow's file and the event that started it; else empty."""
    is_loose: bool = False
    """Whether it only looks like a job's: any job's token can write such a check."""
    name: str
    status: str
    conclusion: str | None
    text: str = ""
    external: str = ""
    """Its external id; if the bot made it, a key."""
    is_status: bool = False
    """Whether it is a commit status, whose name is its context."""

    @property
    def asks_a_person(self) -> bool:
        """Whether it says nothing about the commit, but that a person has to act.

        https://docs.github.com/rest/checks/runs (action_required)
        """
        return self.status == "completed" and self.conclusion == "action_required"

    @property
    def has_passed(self) -> bool:
        """Whether it has ended and holds nothing up, as skipped and neutral.

        https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
        """
        return self.status == "completed" and self.conclusion in GITHUB_PASSES

    @property
    def has_tested(self) -> bool:
        return self.status == "completed" and self.conclusion == "success"

    def is_own(self, own_app: str) -> bool:
        """Whether the bot made it, whose App is `own_app`."""
        if self.is_status:
            return ids.is_check_name(self.name)
        return self.app == own_app or ids.is_check_key(self.external)


class Checks(Struct, frozen=True, kw_only=True):
    verdict: CiVerdict
    names: tuple[str, ...] = ()
    """The checks that reported, sorted."""
    failed: tuple[str, ...] = ()
    """The checks that did not pass, sorted."""
    text: str = ""
    """The output of the red checks, for the next attempt, or of those that ask a
    person, for that person. Of what is pending: why nothing but a person may end it."""
    more: bool = False
    """Whether nothing is red but a workflow still running on the commit may add
    checks."""
    reporters: dict[str, str] = {}
    """Who reported each check that passed, by the check's name."""
    missing: tuple[str, ...] = ()
    """The checks that judged what landed before, and do not report."""
    since: int = 0
    """When this verdict was seen first, unix ms; 0: unknown."""
    runs: frozenset[int] = frozenset()
    """The workflow runs seen on the commit; each is awaited until it has ended."""


class Reporters(Struct, frozen=True, kw_only=True):
    named: Mapping[str, str] = {}
    """The App's or account's name, by the check's name."""
    ids: Mapping[str, int] = {}
    """The App's number, by the check's name: what a ruleset says."""
    awaited: frozenset[str] = frozenset()
    """The checks that judged what landed before: a second CI may be slow to begin, or
    have been told to leave a commit alone."""
    is_late: bool = False
    """Whether they have been awaited long enough."""

    def vouch_for(self, check: Check) -> bool:
        if check.is_loose:
            return False
        if wanted := self.ids.get(check.name):
            return check.app_id == wanted
        return self.named.get(check.name, check.app) == check.app


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
    such names all present checks must pass, and those are awaited that judged what
    landed before.
    While a workflow is `running` on the commit nothing is green.

    Source: https://docs.github.com/rest/checks/runs
    """
    reported = tuple(reported)
    newest = _counted(reported, required, own_app)
    names = tuple(sorted({check.name for check in newest}))
    asking = [c for c in newest if c.asks_a_person]
    ended = [c for c in newest if c.status == "completed" and not c.has_passed]
    lost = [check for check in ended if check.conclusion in WITHOUT_VERDICT]
    if red := [check for check in ended if check not in (*asking, *lost)]:
        return _against("red", names, red)
    if asking:
        text = "\n".join(f"{c.name}: {c.text or c.conclusion}" for c in asking)
        return Checks(verdict="broken", names=names, text=text)
    if lost and not running and all(c.status == "completed" for c in newest):
        return _against("lost", names, lost)
    is_over = not running and all(check.has_passed for check in newest)
    lacking = sorted(set(required) - set(names)) if is_over else []
    waiting = [check for check in reported if check.status == WAITING]
    text = "\n".join(check.text for check in waiting if check.text)
    more = running or bool(waiting)
    if running or any(c.status not in ("completed", WAITING) for c in newest):
        text = ""
    if lacking and not (text or waiting):
        have = sorted({each.name for each in reported if not each.is_own(own_app)})
        others = f" (reported: {', '.join(have[:5])})" if have else ""
        skips = {each.name for each in reported if each.conclusion == "skipped"}
        whole = skips.intersection(re.split(r" \(| / ", name)[0] for name in lacking)
        mend = SKIPPED_WHOLE.format(min(whole)) if whole else LET_IT_RUN
        named = f"s {', '.join(lacking)} have" if lacking[1:] else f" {lacking[0]} has"
        text = AWAITED.format(named=named, others=others, mend=mend)
    if not newest:
        verdict: CiVerdict = "pending" if more else "none"
        return Checks(verdict=verdict, more=more, text=text)
    if lacking or not is_over:
        return Checks(verdict="pending", names=names, more=more, text=text)
    if not required and not any(check.has_tested for check in newest):
        skipped = ", ".join(f"{each.name} was {each.conclusion}" for each in newest)
        text = f"nothing has tested it: {skipped}; {REQUIRE}"
        return Checks(verdict="broken", names=names, text=text)
    return _green(newest, required, reporters)


def _counted(
    reported: Iterable[Check], required: tuple[str, ...], own_app: str
) -> tuple[Check, ...]:
    newest: dict[tuple[bool, bool, str, str, str], Check] = {}
    for check in sorted(reported, key=lambda c: c.id):
        if check.is_own(own_app) or (required and check.name not in required):
            continue
        key = (check.is_status, check.is_loose, check.workflow, check.app, check.name)
        before = newest.get(key)
        # A job that has failed is replaced by no other run of its workflow.
        is_red = (
            before is not None
            and before.status == "completed"
            and not (before.asks_a_person or before.has_passed)
            and before.conclusion not in WITHOUT_VERDICT
        )
        if not check.workflow or not is_red:
            newest[key] = check
    return tuple(newest.values())


def _green(
    passed: tuple[Check, ...], required: tuple[str, ...], reporters: Reporters
) -> Checks:
    """Return the verdict where all have passed: green, if they are who should say."""
    names = tuple(sorted({check.name for check in passed}))
    sound = [check for check in passed if reporters.vouch_for(check)]
    known = {*reporters.named, *reporters.ids}
    is_known = any(not known or c.workflow or c.name in known for c in sound)
    wanted = set(required) - {check.name for check in sound}
    if lacking := wanted if required else set() if is_known else set(names):
        text = "\n".join(
            f"{c.name}: {who} is not allowed to report it; {MEND}"
            for c in passed
            if c.name in lacking
            for who in ["a job's token" if c.is_loose else c.app or "an unknown app"]
        )
        return Checks(verdict="broken", names=names, text=text)
    missing = () if required else tuple(sorted(reporters.awaited - {*names}))
    if missing and not reporters.is_late:
        return Checks(verdict="pending", names=names, missing=missing)
    return Checks(
        verdict="green",
        missing=missing,
        names=tuple(sorted({check.name for check in sound})),
        reporters={c.name: c.app for c in sound if c.app and c.has_tested},
    )


def _against(
    verdict: CiVerdict, names: tuple[str, ...], against: Sequence[Check]
) -> Checks:
    said = ((c, _SAID.get(c.conclusion or "", c.conclusion)) for c in against)
    text = "\n".join(f"{c.name}: {how}\n{c.text}".strip() for c, how in said)
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
