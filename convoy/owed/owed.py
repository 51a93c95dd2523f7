"""The actions due, in order: `owed_actions(State, Observed, Patience, now)`.

Level-triggered: computed from nothing each time, so a lost delivery changes nothing.
Results come before triggers, so that a freed slot is used in the same tick.

Of the tasks that may start first goes what was sent back, for its work is paid for
already; then what most tasks wait for; then what is listed first.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from typing import Final

from msgspec.structs import replace

from convoy import owed
from convoy.events import hold_events
from convoy.events.forge_actions import ItemSetAside, ItemTakenUp
from convoy.events.leases import ExpireLease
from convoy.kinds import half_done, kind_of, starts_from
from convoy.kinds.task_kinds import SPLIT
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import reached
from convoy.model.work import Attempt, Convoys
from convoy.owed import Action, Hear, Look, Note, Patience
from convoy.owed.gestures import gestures, pushes
from convoy.owed.landings import merges, ways
from convoy.rules import calls, landing, people, starting, sub_issues
from convoy.rules.leftovers import unneeded_branches
from convoy.rules.observed import Observed
from convoy.rules.turns import sync_task, turns

UNTRIED_MS: Final = 600_000
"""What is due for so long and was not tried is wanted no more, such as a check of a
candidate that was given up: people are told of it no longer."""
SAID: Final = 300
"""How many characters of a fault are told."""


def owed_actions(
    state: State, observed: Observed, patience: Patience, now: int
) -> tuple[Action, ...]:
    """Return every action due at `now` (unix ms), the most urgent first.

    What is set aside is not due before its time. A convoy for which the rules fail, by
    a fault of theirs, is due to be set aside; all others are served.
    """
    look = Look(observed, patience, now)
    try:
        return tuple(_owed(state, look))
    except Exception:
        faults = dict(_faults(state, look))
        if not faults:
            raise
    at_hand = state.convoys.at_hand.items()
    kept = {name: convoy for name, convoy in at_hand if name not in faults}
    rest = replace(state, convoys=Convoys(kept, state.convoys.packed))
    return (*faults.values(), *_owed(rest, look))


def _owed(state: State, look: Look) -> Iterator[Action]:
    observed, now, at = look.observed, look.now, starting.moment(state, look.now)
    yield from _due_again(state, now)
    yield from old_splits(state)
    yield from taken_up(state, look)
    yield from ended_sessions(state, look)
    for convoy in state.live():
        yield from ways(convoy, observed)
    convoys = tuple(convoy for convoy in state.live() if not convoy.waits_aside)
    given = tuple(convoy for convoy in convoys if convoy.lands_given is not None)
    for convoy in convoys:
        yield from pushes(convoy, None, observed)
    rules: tuple[Callable[[Convoy], Iterator[Action]], ...] = (
        lambda convoy: gestures(convoy, observed),
        lambda convoy: _lists(state, convoy, look),
        lambda convoy: merges(convoy, look, given),
        lambda convoy: _foundations(convoy, observed),
        lambda convoy: _unaffordable(convoy, at),
    )
    for rule in rules:
        for convoy in convoys:
            yield from rule(convoy)
    yield from starts(state, look)
    for convoy in state.convoys.at_hand.values():
        if convoy.state != "complete" and (needs := calls.uncalled(state, convoy)):
            yield owed.Call(convoy.name, needs)
    yield from _effects(state, look)
    for run in observed.unneeded:
        if state.may_try(ids.item("run", run), now):
            yield owed.CancelRun(run, role="refinery")
    stale = tuple(unneeded_branches(state, observed.refs, now))
    if stale and state.may_try(ids.SWEEP_ITEM, now):
        yield owed.Sweep(stale)
    for lease in state.leases.values():
        if lease.expires <= now:
            expire = ExpireLease(resource=lease.resource, nonce=lease.nonce, now=now)
            yield Note("deacon", expire)


def _faults(state: State, look: Look) -> Iterator[tuple[str, Note]]:
    """Yield the convoys for which a rule fails; each is tried without the others."""
    for convoy in state.live():
        alone = replace(state, convoys=Convoys({convoy.name: convoy}), intents={})
        try:
            deque(_owed(alone, look), maxlen=0)
        except Exception as fault:  # noqa: BLE001  the other convoys go on
            item, why = ids.item("convoy", convoy.name), f"a bug in brat: {fault!r}"
            aside = ItemSetAside(item=item, why=why[:SAID])
            yield convoy.name, Note(None, aside, item)


def _due_again(state: State, now: int) -> Iterator[Note]:
    """Yield the convoys whose next try has come, and what nobody wants any more."""
    for convoy in state.live():
        item = ids.item("convoy", convoy.name)
        if convoy.waits_aside and state.may_try(item, now):
            yield Note(None, ItemTakenUp(item=item))
    for item, aside in state.set_aside.items():
        is_wanted = aside.due + UNTRIED_MS > now or item.startswith(ids.DELIVERY_ITEM)
        if not aside.again and not is_wanted:
            yield Note(None, ItemTakenUp(item=item))


def _effects(state: State, look: Look) -> Iterator[Action]:
    """Yield what the forge has to be told, but for what is set aside."""
    for intent in state.intents.values():
        convoy = state.convoys.get(intent.convoy)
        if convoy and intent.kind == "pull":
            if convoy.base_is == "deleted":
                continue  # it would have nothing to be merged into
            # A forge opens none without commits, and the target may hold all of the
            # convoy. Once the target has been taken in, it shows.
            target = look.tip(convoy.target)
            tip = look.tip(ids.base_branch(intent.convoy))
            is_new = target != landing.target_taken_in(convoy)
            is_behind = is_new and sync_task(convoy) is None
            if not intent.task and (tip == target or is_behind):
                continue
        elif convoy and intent.kind == "land":
            is_stopped = convoy.issue_closed or convoy.taken_out
            if is_stopped and not convoy.ended:
                continue  # a person has said no by hand since
        if state.may_try(intent.item, look.now):
            yield owed.Do(intent)
    for convoy, part in _unshown(state, look.now):
        if state.may_try(ids.item("show", convoy.name, part), look.now):
            yield owed.Show(convoy.name, part)


def _unshown(state: State, now: int) -> Iterator[tuple[Convoy, owed.Shown]]:
    """Yield what is shown of live convoys, and what was refused when one ended.

    The comment of one that ended tells of what is still refused.
    """
    yield from ((convoy, part) for convoy in state.live() for part in owed.SHOWN)
    live = {convoy.issue for convoy in state.live()}
    concerned = {state.convoy_of_item(item) for item in state.set_aside}
    for name in (name for name in state.convoys if name in concerned):
        convoy = state.convoys[name]
        is_over = convoy.ended and convoy.issue not in live
        finish = ids.key("finish", name)  # it shows everything of an ended convoy
        is_finishing = finish in state.intents and state.may_try(
            ids.item("action", finish), now
        )
        if is_over and not is_finishing:
            refused = any(True for _ in state.asides_of(convoy.name))
            for part in owed.SHOWN:
                own = state.set_aside.get(ids.item("show", convoy.name, part))
                if own is not None and own.is_given_up:
                    continue
                if own is not None or (part == "comment" and refused):
                    yield convoy, part


def _foundations(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    if convoy.lands_given is not None:
        return  # it has no branch of its own
    if convoy.state == "planning":
        mayor = convoy.mayor  # if it failed, the task list is the plan
        is_planning = mayor is not None and mayor.state in ("queued", "running")
        if not convoy.tasks and not is_planning:
            yield owed.MakePlan(convoy.name)
    elif ids.HEADS + ids.base_branch(convoy.name) in observed.refs:
        if convoy.base_is != "there":
            yield Note(None, hold_events.BaseRestored(convoy=convoy.name))
    elif convoy.settled and landing.merged_commit(convoy, observed):
        return  # the forge has deleted what it merged
    elif convoy.base_is == "there" and any(task.started for task in convoy.tasks):
        yield Hear(None, hold_events.BaseDeleted(convoy=convoy.name))
    elif convoy.base_is != "deleted":
        yield owed.CreateBase(convoy.name, convoy.tip or convoy.base)


def _lists(state: State, convoy: Convoy, look: Look) -> Iterator[Note]:
    """Yield what became of the sub-issues that are a convoy's plan, or lack of them."""
    name, seen = convoy.name, look.observed.lists.get(convoy.name)
    if sub_issues.unwritten(state, convoy):
        yield Note("mayor", sub_issues.WriteSubIssues(convoy=name))
    if seen is None or not convoy.tasks:
        return
    target = look.tip(convoy.target)
    known = {sub.issue: sub.kept_by for sub in convoy.listed}
    for sub in seen:
        task, by = sub_issues.task_for(convoy, sub.issue), known.get(sub.issue)
        if by and task and task.state == "blocked" and sub.closed == "completed":
            done = sub_issues.FinishKept(
                convoy=name, task=task.number, by=by, target=target
            )
            yield Note("mayor", done)
    if sub_issues.changes(convoy, seen) != sub_issues.changes(convoy, convoy.proposed):
        yield Note(
            "mayor", sub_issues.ProposeList(convoy=name, listed=seen, now=look.now)
        )
    elif convoy.settings.follow and sub_issues.may_follow(convoy):
        yield Note("mayor", sub_issues.FollowList(convoy=name, target=target))


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
            if not state.may_try(ids.item("run", run.id), look.now):
                continue
            yield owed.CancelRun(run.id, force=late_ms > look.patience.force_s * 1000)


def _late_ms(convoy: Convoy, task: Task, attempt: Attempt, look: Look) -> int:
    """Return for how long a session has been overdue; at most 0: it is not."""
    settings = convoy.settings
    timeout_s = settings.engines[task.spec.engine].timeout_s
    timeout_s += settings.limits.setup_s + look.patience.session_slack_s
    return look.now - attempt.at - timeout_s * 1000


def _unaffordable(convoy: Convoy, at: starting.Moment) -> Iterator[Action]:
    """Ask a person if the money for the next attempt is spent; a plan is its list.

    If only today's is spent, what could start waits for the next day.
    """
    name, until = convoy.name, starting.next_day(at.now)
    for task in convoy.spenders:
        waits = {each.cause: each for each in starting.start_waits(convoy, task, at)}
        number, others = task.number, waits.keys() - {*starting.PASSING, "money"}
        if money := waits.get("money"):
            stop = people.BlockTask(convoy=name, task=number, why=money.noted)
            yield Note("refinery", stop)
        elif (day := waits.get("day")) and not others and task.not_before <= at.now:
            why = day.noted
            wait = people.DeferTask(convoy=name, task=number, until=until, why=why)
            yield Note("witness", wait)


def old_splits(state: State) -> Iterator[Action]:
    """Drop the splits that an older brat began; a person is asked about the task."""
    why = "only people can split tasks now, with `/brat split`"
    for convoy in state.live():
        for task in convoy.tasks:
            if kind_of(task.spec) is SPLIT and not task.settled:
                drop = people.DropTask(convoy=convoy.name, task=task.number, why=why)
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
        or state.may_try(ids.task_item(convoy.name, task.number), look.now)
    ]
    used = Counter(convoy.name for convoy, _ in running)
    resting = starting.resting_tasks(state, look.now)
    slots = starting.Slots((task for _, task in running), resting)
    at = starting.moment(state, look.now)
    queues = {
        convoy.name: _in_start_order(convoy, [*_startable(convoy, at, look)])
        for convoy in state.live()
    }
    while waiting := [name for name, queue in queues.items() if queue]:
        name = min(waiting, key=lambda n: (state.convoys[n].priority, used[n]))
        convoy = state.convoys[name]
        if slots.are_full(convoy):
            queues[name].clear()
            continue
        task = queues[name].popleft()
        if slots.take(convoy, task):
            used[name] += 1
            yield _begin(convoy, task, look)


def taken_up(state: State, look: Look) -> Iterator[Note]:
    """Try tasks again whose time has come; a session that never began needs a slot."""
    running = (task for each, task in state.running() if _has_slot(each, task, look))
    slots = starting.Slots(running)
    for convoy in state.convoys.at_hand.values():
        is_due = state.may_try(ids.item("convoy", convoy.name), look.now)
        for task in convoy.tasks if is_due else ():
            item, attempt = ids.task_item(convoy.name, task.number), task.attempt
            if not (task.waits_aside and state.may_try(item, look.now)):
                continue
            if convoy.ended and attempt is None:
                continue  # only what a session still holds
            unbegun = attempt is not None and attempt.run is None
            if not unbegun or slots.take(convoy, task):
                yield Note(None, ItemTakenUp(item=item))


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


def _startable(convoy: Convoy, at: starting.Moment, look: Look) -> Iterator[Task]:
    """Yield what a session could work on now if there were free slots."""
    tip, mayor = look.tip(ids.base_branch(convoy.name)), convoy.mayor
    if mayor and not starting.is_kept(convoy, mayor, at):
        yield mayor
    if not tip or landing.foreign_tip(convoy, look.observed.refs):
        return
    later, queue = turns(convoy), landing.chain(convoy, tip)
    for task in convoy.tasks:
        if starting.is_kept(convoy, task, at, ("turn",)):
            continue
        if task.number not in later or _early(convoy, task, queue, look):
            yield task


def _begin(convoy: Convoy, task: Task, look: Look) -> owed.Begin:
    if task.number == 0:
        return owed.Begin(convoy.name, 0, convoy.base)
    tip = look.tip(ids.base_branch(convoy.name))
    if early := _early(convoy, task, landing.chain(convoy, tip), look):
        tip = early
    work = starts_from(convoy, task)
    base = work.commit if work else tip
    left = half_done(convoy, task)  # it is continued as long as the forge keeps it
    if left is not None:
        refs = ids.attempt_refs(convoy.name, task.number, left.attempt, left.commit)
        if any(look.observed.refs.get(ref) == left.commit for ref in refs):
            base = left.commit
    return owed.Begin(convoy.name, task.number, base)


def _early(convoy: Convoy, task: Task, queue: landing.Chain, look: Look) -> str:
    """Return the candidate, or the work, to start from before what goes first lands.

    Empty: nothing goes first, or it is not in the queue, or CI is against it.
    """
    first = {turn.on for turn in turns(convoy).get(task.number, ())}
    if not first or not starting.may_start_early(convoy, task):
        return ""
    for link in queue.links[:1] if task.started else queue.links:
        checks = look.checks(link.candidate)
        if checks is not None and checks.verdict not in ("pending", "none", "green"):
            return ""
        first -= {link.task.number}
        if not first:
            return link.candidate.commit
    return starting.work_ahead(convoy, task)


def _in_start_order(convoy: Convoy, tasks: Collection[Task]) -> deque[Task]:
    left = [task for task in convoy.tasks if not task.settled] if tasks else []
    before = {task.number: {*task.spec.after, *task.spec.on} for task in left}
    behind = Counter[int]()  # how many wait for each, at any remove
    for number in before:
        behind.update(reached(lambda n: before.get(n, ()), [number]) - {number})
    at = {each.task: at for at, each in enumerate(convoy.named) if convoy.listed}
    found = sorted(
        tasks, key=lambda task: (at.get(task.number, task.number), task.number)
    )
    found.sort(key=lambda task: (not task.started, -behind[task.number]))
    return deque(found)
