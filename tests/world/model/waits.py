"""Whom each waiting task waits for, until something that ends by itself, or a person.

Read from the state alone: a task hangs when no chain of reasons leads from it to a
running session, a CI run, a timer, a person or the bot's next look.
"""

import re
from collections.abc import Iterator
from typing import Final

from convoy.kinds import kept_by_tasks, kind_of, relief
from convoy.kinds.rivals import choice_of
from convoy.model.state import Convoy, State, Task
from convoy.rules.landing import kept_by_people, waiting_to_merge
from convoy.rules.starting import blocking_leases, moment
from convoy.rules.turns import turns, unmet
from convoy.views.reasons import waits_for

_NAMED: Final = re.compile(r"(?:\btask |\brivals [^(]*\()((?:\d+, )*\d+)")

END: Final = frozenset[int]()
"""Something ends it that is no task."""


def hanging(state: State) -> Iterator[str]:
    """Yield each task for whose wait nothing stands at the end, and each unsaid one."""
    for convoy in state.live():
        waits = {
            task.number: _waits(state, convoy, task)
            for task in convoy.tasks
            if not task.settled
        }
        grounded: set[int] = set()
        grown = True
        while grown:
            more = {n for n, on in waits.items() if on <= grounded} - grounded
            grounded |= more
            grown = bool(more)
        for number in waits.keys() - grounded:
            yield f"task {number} of {convoy.name} waits in a circle: {waits}"
        at = moment(state, state.moment.at)
        for task in convoy.tasks:
            said = waits_for(convoy, task, at)
            if not task.settled and not said:
                yield f"nobody is told what task {task.number} waits for"


def _waits(state: State, convoy: Convoy, task: Task) -> frozenset[int]:
    """Return the tasks that must move before this one does; none: it ends by itself."""
    if task.attempt is not None or task.waits_aside or task.taken_out is not None:
        return END  # its session, a timer, a person
    match task.state:
        case "queued" if _stands_still(state, convoy):
            return END  # a person
        case "blocked":
            choice = choice_of(convoy, task.number) if relief(convoy, task) else None
            return frozenset({choice.number}) if choice else END  # a person
        case "needs-review":
            return _queue(convoy, task)
        case _:
            return _start(state, convoy, task)


def _stands_still(state: State, convoy: Convoy) -> bool:
    """Whether nothing of the convoy starts before a person acts."""
    return bool(
        convoy.kept_by or convoy.state in ("planning", "paused") or state.paused_by
    )


def _start(state: State, convoy: Convoy, task: Task) -> frozenset[int]:
    needed = {
        *unmet(convoy, task),
        *named_in(kind_of(task.spec).waits_for(convoy, task)),
    }
    first = {turn.on for turn in turns(convoy).get(task.number, ())}
    held = blocking_leases(moment(state, state.moment.at).leases, task)
    if needed or first:
        there = {other.number for other in convoy.tasks}
        assert needed | first <= there, "it waits for what is not there"
        return frozenset(needed | first)
    assert all(lease.expires for lease in held)
    return END  # a slot, which a session gives back; a lease, which runs out


def _queue(convoy: Convoy, task: Task) -> frozenset[int]:
    if kept_by_people(convoy, task):
        return END  # a person
    if task.is_suspect:
        return END  # CI, which judges it alone
    if why := kept_by_tasks(convoy, task):
        return frozenset(named_in(why))  # none named: CI
    queue = [each.number for each in waiting_to_merge(convoy)]
    if task.number in queue:  # CI judges the front; all others stand behind it
        return frozenset(queue[: queue.index(task.number)])
    first = frozenset(turn.on for turn in turns(convoy).get(task.number, ()))
    assert first, f"task {task.number} is not in the queue, and nothing keeps it out"
    return first


def named_in(why: str) -> set[int]:
    """Return the tasks that a wait is for; none: what it is for is no task."""
    if why.startswith("no one"):  # it names what the bot takes in its next look
        return set()
    return {int(n) for each in _NAMED.findall(why) for n in each.split(", ")}
