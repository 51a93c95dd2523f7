"""The actions due for sessions: some have to end, others to start. Pure.

Of the tasks that may start first goes what was sent back, for its work is paid for
already; then what most tasks wait for; then what is listed first.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterator

from convoy import owed
from convoy.events.forge_actions import ItemTakenUp
from convoy.kinds import half_done, kind_of, stands_on
from convoy.kinds.task_kinds import SPLIT
from convoy.model import ids
from convoy.model.state import Convoy, State, Task, may_try
from convoy.model.task_graph import reached
from convoy.model.work import Attempt
from convoy.owed import Action, Look, Note
from convoy.rules.landing import Chain, chain, foreign_tip
from convoy.rules.people import BlockTask, DeferTask, DropTask
from convoy.rules.starting import (
    PASSING,
    Moment,
    closed_today,
    is_kept,
    may_start_early,
    moment,
    next_day,
    overspent,
    resting_engines,
)
from convoy.rules.turns import turns

TOO_MANY = "too many attempts in a row failed ({}, across all convoys)"


def ended_sessions(state: State, look: Look) -> Iterator[Action]:
    """Collect the results of ended sessions, and end sessions past their deadline."""
    for convoy, task in state.running():
        attempt = task.attempt
        if attempt is None or attempt.run is None or task.waits_aside:
            continue
        run = look.observed.runs.get(attempt.run)
        late_ms = _late_ms(convoy, task, attempt, look)
        late = late_ms > 0
        if run.completed if run else late:  # the forge may have forgotten it
            off = run is not None and run.conclusion == "cancelled" and not late
            yield owed.Collect(convoy.name, task.number, attempt.run, called_off=off)
        elif run and (late or task.state != "running"):
            if not may_try(state, ids.item("run", run.id), look.now):
                continue
            yield owed.CancelRun(run.id, force=late_ms > look.patience.force_s * 1000)


def _late_ms(convoy: Convoy, task: Task, attempt: Attempt, look: Look) -> int:
    """Return for how long a session has been overdue; at most 0: it is not."""
    settings = convoy.settings
    timeout_s = settings.engines[task.spec.engine].timeout_s
    timeout_s += settings.limits.setup_s + look.patience.session_slack_s
    return look.now - attempt.at - timeout_s * 1000


def deferred(convoy: Convoy, at: Moment) -> Iterator[Action]:
    """Let what could start wait for the next day if today's money is spent."""
    for task in convoy.spenders:
        why = closed_today(convoy, task, at) if task.not_before <= at.now else ""
        if why and not is_kept(convoy, task, at, PASSING):
            name, number, until = convoy.name, task.number, next_day(at.now)
            wait = DeferTask(convoy=name, task=number, until=until, why=why)
            yield Note("witness", wait)


def overspent_tasks(convoy: Convoy, at: Moment) -> Iterator[Action]:
    """Ask a person if the money for the next attempt is spent; a plan is its list."""
    for task in convoy.spenders:
        is_due = not is_kept(convoy, task, at, {*PASSING, "money"})
        if is_due and (why := overspent(convoy, task)):
            stop = BlockTask(convoy=convoy.name, task=task.number, why=why)
            yield Note("refinery", stop)


def old_splits(state: State) -> Iterator[Action]:
    """Drop the splits that an older brat began; a person is asked about the task."""
    why = "only people can split tasks now, with `/brat split`"
    for convoy in state.live():
        for task in convoy.tasks:
            if kind_of(task.spec) is SPLIT and not task.settled:
                drop = DropTask(convoy=convoy.name, task=task.number, why=why)
                yield Note("mayor", drop)


def starts(state: State, look: Look) -> Iterator[Action]:
    """Start what may start; if too many attempts in a row failed, pause instead.

    Free slots are given to the convoys in turn. The convoy with the fewest sessions
    comes first, and those of a higher priority before all others.
    """
    broken = [
        convoy.name
        for convoy in state.live()
        if convoy.state == "active" and state.failures >= convoy.settings.failures
    ]
    why = TOO_MANY.format(state.failures)
    for name in broken:
        yield owed.Pause(name, why, tell=name == broken[0])
    if broken:
        return
    running = [
        (convoy, task)
        for convoy, task in state.running()
        if _has_slot(convoy, task, look)
        or may_try(state, ids.task_item(convoy.name, task.number), look.now)
    ]
    used = Counter(convoy.name for convoy, _ in running)
    engines = Counter(task.spec.engine for _, task in running)
    # A task waiting for its vendor keeps its slot: so an engine's slots go down with
    # each outage, and come back one by one as the waits, which are spread, run out.
    engines.update(resting_engines(state, look.now))
    at = moment(state, look.now)
    queues = {
        convoy.name: _in_start_order(convoy, [*_startable(convoy, at, look)])
        for convoy in state.live()
    }
    while waiting := [name for name, queue in queues.items() if queue]:
        name = min(waiting, key=lambda n: (state.convoys[n].priority, used[n]))
        convoy = state.convoys[name]
        if used.total() >= convoy.settings.max_sessions:
            queues[name].clear()
            continue
        task = queues[name].popleft()
        engine = task.spec.engine
        if engines[engine] < convoy.settings.engines[engine].max_sessions:
            used[name] += 1
            engines[engine] += 1
            yield _begin(convoy, task, look)


def taken_up(state: State, look: Look) -> Iterator[Note]:
    """Try tasks again whose time has come; a session that never began needs a slot."""
    running = [task for each, task in state.running() if _has_slot(each, task, look)]
    used, engines = len(running), Counter(task.spec.engine for task in running)
    for convoy, task in _due(state, look.now):
        if task.attempt is not None and task.attempt.run is None:
            engine = task.spec.engine
            slots = convoy.settings.engines[engine].max_sessions
            if used >= convoy.settings.max_sessions or engines[engine] >= slots:
                continue
            used += 1
            engines[engine] += 1
        yield Note(None, ItemTakenUp(item=ids.task_item(convoy.name, task.number)))


def _due(state: State, now: int) -> Iterator[tuple[Convoy, Task]]:
    """Yield the tasks set aside whose time has come, and their convoys' as well.

    Of a convoy that has ended, only what a session still holds.
    """
    for convoy in state.convoys.at_hand.values():
        if may_try(state, ids.convoy_item(convoy.name), now):
            for task in convoy.tasks:
                if convoy.ended and task.attempt is None:
                    continue
                item = ids.task_item(convoy.name, task.number)
                if task.waits_aside and may_try(state, item, now):
                    yield convoy, task


def _has_slot(convoy: Convoy, task: Task, look: Look) -> bool:
    """Whether a task with an attempt uses a slot.

    Aside it does so only while its session runs: it may never have begun, or only its
    result may not be taken in yet.
    """
    if not task.waits_aside:
        return True
    attempt = task.attempt
    if attempt is None or attempt.run is None:
        return False
    run = look.observed.runs.get(attempt.run)
    if run is None:  # it began after the look, or the forge has forgotten it
        return _late_ms(convoy, task, attempt, look) <= 0
    return not run.completed


def _startable(convoy: Convoy, at: Moment, look: Look) -> Iterator[Task]:
    """Yield what a session could work on now if there were free slots."""
    tip, mayor = look.tip(ids.base_branch(convoy.name)), convoy.mayor
    if mayor and not is_kept(convoy, mayor, at):
        yield mayor
    if not tip or foreign_tip(convoy, look.observed.refs):
        return
    later, queue = turns(convoy), chain(convoy, tip)
    for task in convoy.tasks:
        if is_kept(convoy, task, at, ("turn",)):
            continue
        if task.number not in later or _early(convoy, task, queue, look):
            yield task


def _begin(convoy: Convoy, task: Task, look: Look) -> owed.Begin:
    if task.number == 0:
        return owed.Begin(convoy.name, 0, convoy.base)
    tip = look.tip(ids.base_branch(convoy.name))
    if early := _early(convoy, task, chain(convoy, tip), look):
        tip = early
    if work := stands_on(convoy, task):
        tip = work.commit
    base = task.earlier.commit if task.earlier else tip
    left = half_done(convoy, task)  # it is continued as long as the forge keeps it
    if left is not None:
        refs = ids.attempt_refs(convoy.name, task.number, left.attempt, left.commit)
        if any(look.observed.refs.get(ref) == left.commit for ref in refs):
            base = left.commit
    return owed.Begin(convoy.name, task.number, base)


def _early(convoy: Convoy, task: Task, queue: Chain, look: Look) -> str:
    """Return the candidate to start from while those that go first are judged.

    Empty: nothing goes first, or it is not in the queue, or CI is against it.
    """
    first = {turn.on for turn in turns(convoy).get(task.number, ())}
    if not first or not may_start_early(convoy, task):
        return ""
    for link in queue.links:
        checks = look.checks(link.candidate)
        if checks is not None and checks.verdict not in ("pending", "none", "green"):
            return ""
        first -= {link.task.number}
        if not first:
            return link.candidate.commit
    return ""


def _in_start_order(convoy: Convoy, tasks: Collection[Task]) -> deque[Task]:
    behind = waiting_behind(convoy) if tasks else {}
    at = {each.task: at for at, each in enumerate(convoy.named) if convoy.listed}
    found = sorted(
        tasks, key=lambda task: (at.get(task.number, task.number), task.number)
    )
    found.sort(key=lambda task: (not task.started, -behind.get(task.number, 0)))
    return deque(found)


def waiting_behind(convoy: Convoy) -> dict[int, int]:
    """Return for each task how many that are not settled wait for it, at any remove."""
    before = {
        task.number: {*task.spec.after, *task.spec.on}
        for task in convoy.tasks
        if not task.settled
    }
    behind = dict.fromkeys(before, 0)
    for number in before:
        found = reached(lambda n: before.get(n, ()), [number])
        for other in before.keys() & found - {number}:
            behind[other] += 1
    return behind
