"""What CI says of the groups of a merge queue, and what follows from the queue's rule.

https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from brat.forge.account_resource import Repository
from brat.forge.forge_state import Forge
from brat.forge.wire import parse
from tests.world.github_forge.queue_entries import QueueEntry
from tests.world.github_forge.rules.commit_checks import checks_of
from tests.world.github_forge.rules.push_rules import check_state
from tests.world.github_forge.rules.rule_bindings import protection_of, rulesets_on
from tests.world.github_forge.rules.rule_types import (
    MergeQueueParameters,
    RequiredStatusChecks,
)

Verdict = Literal["green", "pending", "failing"]


class QueueVerdicts:
    """Reads a forge's checks and its clock."""

    def __init__(self, forge: Forge) -> None:
        """Read `forge`."""
        self._forge = forge

    def verdict(self, repo: Repository, entry: QueueEntry) -> Verdict:
        """Return what the required checks say of an entry's group."""
        checks = checks_of(self._forge, repo, entry.group_sha)
        kept = protection_of(self._forge, repo, entry.base)
        rules = list(kept.rules()) if kept is not None else []
        for one in rulesets_on(self._forge, repo, f"refs/heads/{entry.base}"):
            rules += one.rules
        states = {
            check_state(check, checks)
            for rule in rules
            if isinstance(rule, RequiredStatusChecks)
            for check in rule.parameters.required_status_checks
        }
        if "failing" in states:
            return "failing"
        return "green" if states <= {"green"} else "pending"

    def is_late(self, entry: QueueEntry, asked: MergeQueueParameters) -> bool:
        """Say whether a group's checks took too long."""
        return self._is_over(entry.built_at, asked.check_response_timeout_minutes)

    def waits(self, built: list[QueueEntry], asked: MergeQueueParameters) -> bool:
        """Say whether more pull requests may come before any lands."""
        since = min(entry.enqueued_at for entry in built)
        is_over = self._is_over(since, asked.min_entries_to_merge_wait_minutes)
        return len(built) < asked.min_entries_to_merge and not is_over

    def _is_over(self, since: str, minutes: int) -> bool:
        return self._forge.clock() - parse(since) >= timedelta(minutes=minutes)


def front(verdicts: Sequence[Verdict], asked: MergeQueueParameters) -> int:
    """Return how many groups, from the first on, may land.

    All of them are green, or, by HEADGREEN, the last of them is.
    """
    if asked.grouping_strategy == "ALLGREEN":
        red = (place for place, one in enumerate(verdicts) if one != "green")
        return next(red, len(verdicts))
    green = [place for place, one in enumerate(verdicts) if one == "green"]
    return green[-1] + 1 if green else 0


def may_recover(rest: Sequence[Verdict], asked: MergeQueueParameters) -> bool:
    """Say whether a group behind a red one may still make up for it."""
    return asked.grouping_strategy == "HEADGREEN" and "pending" in rest
