"""The kinds of task, a row each; no other module names a kind."""

from typing import Final

from convoy.kinds import (
    choice_kind,
    plan_kind,
    report_kind,
    review_kind,
    rival_kind,
    scout_kind,
    split_kind,
    sync_kind,
    tests_kind,
    work_kind,
)
from convoy.kinds.task_kind import Name, TaskKind
from convoy.model.records import TaskSpec

_MODULES = (
    *(work_kind, report_kind, scout_kind, review_kind, tests_kind, rival_kind),
    *(choice_kind, split_kind, sync_kind, plan_kind),
)
KINDS: Final[dict[Name, TaskKind]] = {each.KIND.name: each.KIND for each in _MODULES}
"""The kinds by name, in the order people are shown them."""


def kind_of(spec: TaskSpec) -> TaskKind:
    """Return the row of a task's kind; number 0, the plan itself, has its own."""
    return KINDS[spec.kind] if spec.number else plan_kind.KIND
