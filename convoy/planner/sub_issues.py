"""The planner of sub-issues: what the forge lists becomes the convoy's tasks. Pure.

The order is the forge's: what blocks an issue comes first. No text of an issue is read
for anything; each agent is told its own issue's in a block of code.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from convoy.model.records import NamedIssue, SubIssue, TaskSpec
from convoy.model.task_graph import find_cycle
from convoy.planner.tasklist import AROUND_CHARS, INSTRUCTIONS_CHARS, TITLE_MOST
from convoy.text import clean, cut

MOST_SUB_ISSUES: Final = 50
"""So many open sub-issues one issue may have, nested ones included."""
_TICKS: Final = re.compile(r"`+")
_NUMBER_CHARS: Final = 13


def steps_of(issue: int, listed: Iterable[SubIssue]) -> tuple[SubIssue, ...]:
    return tuple(sub for sub in listed if sub.step_of == issue)


def named_by(
    listed: tuple[SubIssue, ...], named: Iterable[NamedIssue] = (), first: int = 1
) -> tuple[NamedIssue, ...]:
    """Return which task stands for which issue, steps before their parent.

    Issues in `named` keep their tasks; new ones are numbered from `first`.
    """
    known = {each.issue: each.task for each in named}

    def walk(parent: int) -> Iterator[SubIssue]:
        for sub in steps_of(parent, listed):
            yield from walk(sub.issue)
            yield sub

    found: list[NamedIssue] = []
    for sub in walk(0):
        has_work = sub.text.strip() or not steps_of(sub.issue, listed)
        if sub.issue in known or has_work:  # a parent without a text has none
            number = known.get(sub.issue, first)
            first += number == first
            found.append(NamedIssue(number, sub.issue))
    return tuple(found)


def tasks_of(
    issue: int, listed: Collection[SubIssue], tasks: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the tasks after which an issue is done; `tasks` has them by issue."""
    if issue in tasks:
        return (tasks[issue],)
    steps = (tasks_of(sub.issue, listed, tasks) for sub in steps_of(issue, listed))
    return tuple(number for numbers in steps for number in numbers)


def awaited(
    sub: SubIssue, listed: Collection[SubIssue], tasks: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the tasks that an issue's task waits for, sorted."""
    by_issue = {each.issue: each for each in listed}
    issues = {each.issue for each in steps_of(sub.issue, listed)}
    at: SubIssue | None = sub
    while at is not None:  # what blocks a parent blocks its steps
        issues |= {issue for issue in at.after if issue in by_issue}
        at = by_issue.get(at.step_of)
    numbers = {n for issue in issues for n in tasks_of(issue, listed, tasks)}
    return tuple(sorted(numbers))


def list_fault(listed: tuple[SubIssue, ...]) -> str:
    """Return why a list is no plan, as a clause; empty: it is one."""
    if len(listed) > MOST_SUB_ISSUES:
        return (
            f"the issue has more than {MOST_SUB_ISSUES} open sub-issues: move some "
            "to another issue"
        )
    known = {sub.issue for sub in listed}
    for sub in listed:
        if sub.away:
            return (
                f"#{sub.issue} is blocked by {sub.away}, which is open and in another "
                "repository: remove the dependency, or close that issue"
            )
        if lost := [issue for issue in sub.after if issue not in known]:
            return (
                f"#{sub.issue} is blocked by #{lost[0]}, which is open but not a "
                f"sub-issue here: add or close #{lost[0]}, or remove the dependency"
            )
    named = named_by(listed)
    tasks = {each.issue: each.task for each in named}
    issues = {each.task: each.issue for each in named}
    edges = {
        tasks[sub.issue]: awaited(sub, listed, tasks)
        for sub in listed
        if sub.issue in tasks
    }
    if circle := find_cycle(edges):
        names = ", ".join(f"#{issues[number]}" for number in circle)
        return f"the sub-issues wait for each other in a cycle: {names}"
    return ""


def planned(
    title: str, around: str, listed: tuple[SubIssue, ...], named: Iterable[NamedIssue]
) -> tuple[TaskSpec, ...]:
    """Return the tasks of a list that has no fault, by number."""
    tasks = {each.issue: each.task for each in named}
    specs = (
        _task(title, around, sub, listed, tasks) for sub in listed if sub.issue in tasks
    )
    return tuple(sorted(specs, key=lambda spec: spec.number))


def _task(
    title: str,
    around: str,
    sub: SubIssue,
    listed: tuple[SubIssue, ...],
    tasks: Mapping[int, int],
) -> TaskSpec:
    words = " ".join(clean(sub.title).split())
    name = f"{cut(words, TITLE_MOST - _NUMBER_CHARS)} (#{sub.issue})".strip()
    number = tasks[sub.issue]
    told = f'This is task {number} of the issue "{cut(title, TITLE_MOST)}".'
    if sub.labels:
        told += f" Its labels: {', '.join(sub.labels)}."
    if steps := steps_of(sub.issue, listed):
        done = ", ".join(f"#{step.issue}" for step in steps)
        told += f" Some of its steps are already done ({done}): do the rest."
    if around.strip():
        about = cut(around.strip(), AROUND_CHARS)
        told += f" Apart from its tasks, the issue says:\n\n{about}"
    body = f"{words}\n\n{clean(sub.text).strip()}".strip()
    room = INSTRUCTIONS_CHARS - len(told) - len(name) - 100
    body = cut(body, room)
    longest = max(map(len, _TICKS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    says = f"Issue #{sub.issue} says:\n\n{fence}\n{body}\n{fence}"
    return TaskSpec(
        number=number,
        title=name,
        instructions=f"{name}\n\n{says}\n\n{told}",
        after=awaited(sub, listed, tasks),
    )
