"""The kinds of task, a row each; no other module names a kind."""

from typing import Final

from convoy.kinds.choice_kind import KIND as CHOICE
from convoy.kinds.plan_kind import KIND as PLAN
from convoy.kinds.report_kind import KIND as REPORT
from convoy.kinds.review_kind import KIND as REVIEW
from convoy.kinds.rival_kind import KIND as RIVAL
from convoy.kinds.scout_kind import KIND as SCOUT
from convoy.kinds.split_kind import KIND as SPLIT
from convoy.kinds.sync_kind import KIND as SYNC
from convoy.kinds.task_kind import Name, TaskKind
from convoy.kinds.tests_kind import KIND as TESTS
from convoy.kinds.work_kind import KIND as WORK
from convoy.model.records import TaskSpec

KINDS: Final[dict[Name, TaskKind]] = {
    kind.name: kind
    for kind in (
        *(WORK, REPORT, SCOUT, REVIEW, TESTS, RIVAL),
        *(CHOICE, SPLIT, SYNC, PLAN),
    )
}
"""The kinds by name, in the order people are shown them."""


def kind_of(spec: TaskSpec) -> TaskKind:
    """Return the row of a task's kind; number 0, the plan itself, has its own."""
    return KINDS[spec.kind] if spec.number else PLAN
