"""Why a task is where it is, and what it waits for: the same rules, said to people.

Pure: sentences from the state. Their parts may come from strangers; who shows them
makes them harmless where it shows them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from convoy.events.fact import clause
from convoy.kinds.relations import awaited, relief
from convoy.kinds.splitting import can_be_split
from convoy.model.attempt import Attempt
from convoy.model.set_aside import another_try
from convoy.model.state import Convoy, Lease, State, Task
from convoy.readiness.attempt_start import blocking, conflicting_leases, resting
from convoy.readiness.budget_left import closed, overspent
from convoy.readiness.landing import clashing, kept_back, waiting_to_merge
from convoy.readiness.second_looks import helped_by
from convoy.readiness.stuck_tasks import unmet
from convoy.readiness.turns import turns
from convoy.text.counts_and_times import clock
from convoy.views.plan_order import edges

_PLAN_WAITS: Final = {
    False: "a person: the plan is to be approved",
    True: "staged = true to be taken out of the configuration",
}


def waits_for(convoy: Convoy, task: Task, leases: Iterable[Lease] = ()) -> str:
    """Return what keeps the task from the next state, in a few words.

    Args:
        convoy: the task's.
        task: one of its tasks.
        leases: those that have not run out, as far as the caller knows them.
    """
    if task.settled:
        return ""
    if task.state == "blocked":
        return _help(convoy, task)
    if task.set_aside is not None and task.waits_aside:
        return another_try(task.set_aside)
    if task.state == "running":
        return "its session"
    if task.state == "needs-review":
        queue = "CI" if task.candidate else "the merge queue"
        waits = kept_back(convoy, task) or helped_by(convoy, task)
        return waits or _turn(convoy, task) or queue
    if kept := convoy.kept_by or (task.taken_out and task.taken_out.back):
        return kept
    if convoy.state == "planning":
        return _PLAN_WAITS[convoy.staged]
    numbers = ", ".join(str(number) for number in unmet(convoy, task))
    needed = f"task {numbers}" if numbers else ""
    held = _held(convoy, task, leases)
    turn = _turn(convoy, task)
    why = awaited(convoy, task) or needed or turn or held
    return why or task.why or "a free slot"


def plan_waits(convoy: Convoy) -> str:
    """Return why an engine does not make the plan now; empty: it does, or no longer."""
    mayor = convoy.mayor
    if convoy.state != "planning" or convoy.tasks or mayor is None:
        return ""
    if mayor.state != "queued" or mayor.attempt is not None:
        return ""
    return convoy.kept_by or mayor.why


def _turn(convoy: Convoy, task: Task) -> str:
    """Return whom the task lets go first that is not ahead of it in the merge queue."""
    queue = {each.number: each for each in waiting_to_merge(convoy)}
    if task.number in queue:
        return ""
    if task.state == "needs-review" and (turn := clashing(task, queue)):
        return turn.words()
    first = (
        turn
        for turn in turns(convoy).get(task.number, ())
        if turn.on not in queue or task.state == "queued"
    )
    return next((turn.words() for turn in first), "")


def holding(lease: Lease) -> str:
    """Return who holds what until when."""
    return f"{lease.holder} holds {lease.resource} until {clock(lease.expires)}"


def _held(convoy: Convoy, task: Task, leases: Iterable[Lease]) -> str:
    """Return the locks that keep a task from starting, and when they end."""
    found = blocking(leases, task) if convoy.settings.locks == "require" else ()
    return "; ".join(
        f"{each.resource}, which {each.holder} holds until {clock(each.expires)}"
        for each in found
    )


def _help(convoy: Convoy, task: Task) -> str:
    """Return who may help a task that is blocked, and why it is."""
    _, found = relief(convoy, task) or (None, None)
    mayor = "the mayor to split it" if can_be_split(convoy, task) else "a person"
    return f"{found.who if found else mayor}: {task.why}"


def _blocked(convoy: Convoy, task: Task) -> Iterator[str]:
    _, found = relief(convoy, task) or (None, None)
    if found is not None:
        yield found.why
        return
    yield "it waits for a person"
    if task.splits and not convoy.settings.splitter:
        yield "nobody splits it: no engine is to ([mayor] engine and split)"
    elif task.splits and task.spec.part_of:
        yield f"it is a part of task {task.spec.part_of}: a part is not split again"


def reasons(state: State, convoy: Convoy, task: Task, now: int) -> tuple[str, ...]:
    """Return why a task is where it is, in order: what is so, then what it waits for.

    Args:
        state: what the log says.
        convoy: the task's, of that state.
        task: one of its tasks.
        now: unix ms.
    """
    return (
        *_standing(task),
        *_waiting(state, convoy, task, now),
        *edges(task.spec),
        *(f"an earlier attempt did not land: {note}" for note in task.notes),
        *(f"an attempt noted: {note}" for note in task.learned),
    )


def _standing(task: Task) -> Iterator[str]:
    tries = {0: "not tried yet", 1: "tried once"}
    tried = tries.get(task.started, f"tried {task.started} times")
    yield f"it is {task.state}, {tried}"
    if task.landed:
        yield f"it landed as {task.landed[:10]}"
    if task.state in ("blocked", "dropped") and task.why:
        yield task.why
    if task.taken_out is not None and not task.settled:
        yield task.taken_out.why


def _waiting(state: State, convoy: Convoy, task: Task, now: int) -> Iterator[str]:
    match task.state:
        case "queued":
            yield from _queued(state, convoy, task, now)
        case "running":
            yield from _running(convoy, task)
        case "needs-review":
            yield from _review(convoy, task)
        case "blocked":
            yield from _blocked(convoy, task)
        case "merged" | "dropped":
            return


def _queued(state: State, convoy: Convoy, task: Task, now: int) -> Iterator[str]:
    leases = conflicting_leases(state, task, now)
    held = map(holding, leases if convoy.settings.locks == "require" else ())
    found = (
        *((f"the convoy is {convoy.state}",) if convoy.state != "active" else ()),
        *((f"the convoy waits for {convoy.kept_by}",) if convoy.kept_by else ()),
        *((f"it waits for {task.taken_out.back}",) if task.taken_out else ()),
        *(_needed(convoy, number) for number in unmet(convoy, task)),
        *((f"it waits for {waits}",) if (waits := awaited(convoy, task)) else ()),
        *(
            f"it waits for {turn.words()}"
            for turn in turns(convoy).get(task.number, ())
        ),
        *(("its last session has not ended yet",) if task.attempt else ()),
        *(_outage(task) if task.not_before > now else ()),
        *((spent,) if (spent := overspent(convoy, task)) else ()),
        *_closed(state, convoy, task, now),
        *held,
        *(_slots(state, convoy, task, now) if task.not_before <= now else ()),
    )
    yield from found or ("it starts with the bot's next look",)


def _outage(task: Task) -> Iterator[str]:
    when = "" if task.cause == "spent" else f": it waits until {clock(task.not_before)}"
    yield f"{task.why.rstrip('.')}{when}"


def _closed(state: State, convoy: Convoy, task: Task, now: int) -> Iterator[str]:
    why = closed(state, convoy, task, now)
    if why and task.not_before <= now:
        yield why


def _needed(convoy: Convoy, number: int) -> str:
    other = convoy.task(number)
    if other is None:
        return f"task {number} must be merged first, and there is none"
    return f"task {number} must be merged first; it is {other.state}"


def _slots(state: State, convoy: Convoy, task: Task, now: int) -> Iterator[str]:
    running = tuple(each for _, each in state.running())
    most, name = convoy.settings.max_sessions, task.spec.engine
    if len(running) >= most:
        yield f"all {most} slots for sessions are in use"
    engine = convoy.settings.engines.get(name)
    used = Counter(each.spec.engine for each in running)[name]
    rest = Counter(resting(state, now))[name]
    if engine is not None and used + rest >= engine.max_sessions:
        held = f" or wait for its vendor ({rest})" if rest else ""
        yield f"all {engine.max_sessions} slots of the engine {name} are in use{held}"


def _running(convoy: Convoy, task: Task) -> Iterator[str]:
    if task.attempt is None:
        return
    engine = convoy.settings.engines.get(task.spec.engine)
    run = f", run {task.attempt.run}" if task.attempt.run else ", not dispatched yet"
    yield f"attempt {task.attempt.number} began at {clock(task.attempt.at)}{run}"
    if engine is not None:
        end = task.attempt.at + engine.timeout_s * 1000
        yield f"its session ends at {clock(end)} at the latest"
    yield from _messages(task.attempt)


def _messages(attempt: Attempt) -> Iterator[str]:
    told, heard = len(attempt.messages), attempt.heard
    if heard:
        yield f"its engine was given {heard} of {told} messages for it"
    if left := told - heard:
        yield (
            f"{left} of {told} messages for it have not reached its engine; the next "
            "attempt is told all of them"
        )


def _review(convoy: Convoy, task: Task) -> Iterator[str]:
    if convoy.state == "paused":
        yield (
            f"the convoy is paused: {convoy.why}"
            if convoy.why
            else "the convoy is paused"
        )
    queue = [each.number for each in waiting_to_merge(convoy)]
    place = queue.index(task.number) if task.number in queue else 0
    if ahead := ", ".join(map(str, queue[:place])):
        yield f"in the merge queue it stands behind task {ahead}"
    if waits := kept_back(convoy, task):
        yield f"it waits for {waits}"
        return
    if waits := helped_by(convoy, task) or _turn(convoy, task):
        yield f"it waits for {waits}"
        return
    yield from _doubted(task)
    if task.pull is None:
        yield "its pull request is not open yet"
    if task.candidate is None:
        yield "the refinery has not built its candidate yet"
    else:
        yield f"CI judges its candidate {task.candidate.commit[:10]}"


def _doubted(task: Task) -> Iterator[str]:
    doubt = task.doubted
    if doubt is not None and doubt.is_open:
        said = clause(doubt.why)
        yield f"CI was red on it ({said}), and judges it alone before anybody is blamed"
