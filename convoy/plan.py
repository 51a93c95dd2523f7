"""`plan(State, Observed, Pace, now) -> actions`: what the world still owes, in order.

Level-triggered: computed from nothing each time, so a lost delivery changes nothing.
Results come before triggers, so that a freed slot is used in the same tick.
"""

from collections import Counter, deque
from collections.abc import Iterator

from msgspec import Struct

from convoy import ids
from convoy.actions import (
    Action,
    Align,
    Begin,
    BeginPlan,
    Block,
    Build,
    BuildConvoy,
    Call,
    CancelRun,
    Choose,
    Collect,
    CreateBase,
    Defer,
    Do,
    Expire,
    Land,
    LandConvoy,
    MakePlan,
    Pause,
    Prove,
    Reject,
    Show,
    Split,
    Sweep,
    Try,
)
from convoy.budget import closed, overspent, reopens
from convoy.kinds import half_done, stands_on
from convoy.needs import uncalled
from convoy.observed import Checks, Observed
from convoy.queue import (
    Link,
    candidates,
    chain,
    must_wait,
    plannable,
    queue_branches,
    ready,
    resting,
    startable,
)
from convoy.reorder import overlooked
from convoy.rivals import NONE_LEFT, chooses, is_unchosen, left, under_way
from convoy.splits import can_be_split
from convoy.state import Candidate, Convoy, State, Task

HEADS = "refs/heads/"
NO_CI = (
    "no check has reported on the candidate: set [ci] command (local) or let a "
    "workflow run on pushes to brat/queue/**, or set [refinery] require_ci = false"
)

NOT_RED = "CI is green with these tests and without the code: none of them fails"
TOO_MANY = (
    "too many attempts in a row brought no work ({}, over all convoys): see why they "
    "failed, then say `/brat resume all`"
)


class Pace(Struct, frozen=True, kw_only=True):
    """How patient the forge wants us to be."""

    session_slack_s: int = 120
    """Over a session's own timeout, before its run is cancelled."""
    force_s: int = 600
    """And this long after that, before it is ended without being asked: it had time to
    hand in what there was."""
    check_start_s: int = 600
    """Until the first check must have reported on a candidate."""


def plan(state: State, observed: Observed, pace: Pace, now: int) -> tuple[Action, ...]:
    """Return everything owed at `now` (unix ms), the most urgent first."""
    convoys = tuple(state.live())
    return (
        *_results(state, observed, pace, now),
        *(a for convoy in convoys for a in _merges(convoy, observed, pace, now)),
        *(a for convoy in convoys for a in _foundations(convoy, observed)),
        *(a for convoy in convoys for a in overlooked(convoy)),
        *(a for convoy in convoys for a in _overspent(convoy)),
        *(a for convoy in convoys for a in _splits(convoy)),
        *(a for convoy in convoys for a in _closed(state, convoy, now)),
        *_starts_unless_broken(state, observed, now),
        *_calls(state),
        *(Do(intent) for intent in state.intents.values()),
        *(Show(convoy.name) for convoy in convoys),
        *_sweeps(state, observed),
        *(
            Expire(lease.resource, lease.nonce)
            for lease in state.leases.values()
            if lease.expires <= now
        ),
    )


def _calls(state: State) -> Iterator[Action]:
    for convoy in state.convoys.values():
        if convoy.state != "complete" and (needs := uncalled(convoy)):
            yield Call(convoy.name, needs)


def waits_for_nobody(state: State) -> bool:
    """Whether no session runs and no candidate is being judged."""
    return not any(True for _ in state.running()) and not any(
        True for convoy in state.live() for _ in candidates(convoy)
    )


# --- sessions -----------------------------------------------------------------------


def _results(
    state: State, observed: Observed, pace: Pace, now: int
) -> Iterator[Action]:
    for convoy, task in state.running():
        attempt = task.attempt
        if attempt is None or attempt.run is None:
            continue
        run = observed.runs.get(attempt.run)
        settings = convoy.settings
        timeout_s = settings.engines[task.spec.engine].timeout_s
        timeout_s += settings.limits.setup_s
        late_ms = now - attempt.at - (timeout_s + pace.session_slack_s) * 1000
        late = late_ms > 0
        if run.completed if run else late:  # the forge may have forgotten it
            yield Collect(convoy.name, task.number, attempt.run)
        elif run and (late or task.state != "running"):
            yield CancelRun(run.id, force=late_ms > pace.force_s * 1000)


def _closed(state: State, convoy: Convoy, now: int) -> Iterator[Action]:
    """Let what could start wait for the next day, where today's money is spent."""
    for task in convoy.tasks:
        is_ready = startable(convoy, task) and task.not_before <= now
        if is_ready and (why := closed(state, convoy, task, now)):
            yield Defer(convoy.name, task.number, reopens(now), why)


def _overspent(convoy: Convoy) -> Iterator[Action]:
    """Ask a person where the money for the next attempt is spent."""
    for task in convoy.tasks:
        if ready(convoy, task) and (why := overspent(convoy, task)):
            is_small = why.startswith(
                "the task's"
            )  # of its own money, not the convoy's
            yield Block(convoy.name, task.number, why, splits=is_small)


def _splits(convoy: Convoy) -> Iterator[Action]:
    """Let the mayor split what was too much for one agent."""
    for task in convoy.tasks:
        if convoy.state == "active" and can_be_split(convoy, task):
            yield Split(convoy.name, task.number)


def _starts_unless_broken(
    state: State, observed: Observed, now: int
) -> Iterator[Action]:
    """Start what may start; where too many attempts in a row failed, pause instead."""
    broken = [
        convoy.name
        for convoy in state.live()
        if convoy.state == "active" and state.failures >= convoy.settings.failures
    ]
    why = TOO_MANY.format(state.failures)
    for name in broken:
        yield Pause(name, why, tell=name == broken[0])
    if not broken:
        yield from _starts(state, observed, now)


def _starts(state: State, observed: Observed, now: int) -> Iterator[Action]:
    """Give free slots to the convoys in turn, the one with the fewest first.

    Those of a higher priority come before all others.
    """
    used = Counter(convoy.name for convoy, _ in state.running())
    engines = Counter(task.spec.engine for _, task in state.running())
    # A task that the vendor sent away keeps its slot: so an engine's slots go down with
    # each outage, and come back one by one as the waits, which are spread, run out.
    engines.update(resting(state, now))
    queues = {
        convoy.name: deque(_startable(state, convoy, observed, now))
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
            yield _begin(convoy, task, observed)


def _startable(
    state: State, convoy: Convoy, observed: Observed, now: int
) -> Iterator[Task]:
    """Give what a session could work on now, but for free slots."""
    mayor = None if state.paused_by else convoy.mayor
    if mayor and plannable(convoy, mayor) and mayor.not_before <= now:
        yield mayor
    if HEADS + ids.base_branch(convoy.name) not in observed.refs:
        return
    later = {each.task for each in overlooked(convoy)}
    for task in convoy.tasks:
        is_ready = startable(convoy, task) and task.not_before <= now
        if task.number in later or (is_ready and closed(state, convoy, task, now)):
            continue
        if is_ready and not must_wait(state, convoy, task, now):
            yield task


def _begin(convoy: Convoy, task: Task, observed: Observed) -> Begin | BeginPlan:
    if task.number == 0:
        return BeginPlan(convoy.name)
    tip = observed.refs[HEADS + ids.base_branch(convoy.name)]
    if work := stands_on(convoy, task):
        tip = work.commit
    base = task.earlier.commit if task.earlier else tip
    return Begin(convoy.name, task.number, _left(convoy, task, observed) or base)


def _left(convoy: Convoy, task: Task, observed: Observed) -> str:
    """Return the half-done work to go on from, as long as the forge keeps it."""
    left = half_done(convoy, task)
    if left is None:
        return ""
    refs = ids.attempt_refs(convoy.name, task.number, left.attempt, left.commit)
    is_there = any(observed.refs.get(ref) == left.commit for ref in refs)
    return left.commit if is_there else ""


# --- convoys ------------------------------------------------------------------------


def _foundations(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    if convoy.state == "planning":
        if not convoy.tasks and not _is_planning(convoy):
            yield MakePlan(convoy.name)
    elif HEADS + ids.base_branch(convoy.name) not in observed.refs:
        landed = [task for task in convoy.tasks if task.landed]
        last = max(landed, key=lambda t: t.ended_at, default=None)
        yield CreateBase(convoy.name, (last and last.landed) or convoy.base)


def _is_planning(convoy: Convoy) -> bool:
    """Whether an engine plans, or will; one that could not leaves it to the list."""
    return convoy.mayor is not None and convoy.mayor.state in ("queued", "running")


# --- merging ------------------------------------------------------------------------


def _merges(
    convoy: Convoy, observed: Observed, pace: Pace, now: int
) -> Iterator[Action]:
    tip = observed.refs.get(HEADS + ids.base_branch(convoy.name))
    if tip is None or convoy.held or convoy.state not in ("active", "paused"):
        return
    if convoy.settled:
        if not convoy.withdrawn:
            yield from _convoy_merge(convoy, observed, pace, now)
        return
    yield from _trials(convoy, observed, pace, now)
    yield from _choices(convoy)
    queue = chain(convoy, tip)
    green = _green_front(convoy, queue.links, observed)
    yield from _landing(convoy, green, observed, tip)
    if queue.links and not green and convoy.settings.require_ci:
        front = queue.links[0]
        checks = observed.checks.get(front.candidate.commit)
        yield from _verdict(convoy, front, checks, pace, now)
    if queue.unbuilt:
        numbers = tuple(task.number for task in queue.unbuilt)
        yield Build(convoy.name, numbers, queue.onto)


def _trials(
    convoy: Convoy, observed: Observed, pace: Pace, now: int
) -> Iterator[Action]:
    """Let CI see tests red before there is code, and each rival's work green."""
    for task in convoy.tasks:
        is_tried = task.spec.kind == "tests" or is_unchosen(convoy, task)
        if not is_tried or task.state != "needs-review" or task.is_proven:
            continue
        if task.work is not None:
            yield from _trial(convoy, task, task.work.commit, observed, pace, now)


def _trial(
    convoy: Convoy, task: Task, work: str, observed: Observed, pace: Pace, now: int
) -> Iterator[Action]:
    name, candidate = convoy.name, task.candidate
    if not convoy.settings.require_ci:  # tests need CI: it is a rival
        yield Prove(name, task.number, work)
        return
    if candidate is None or candidate.commit != work:
        yield Try(name, task.number)
        return
    checks = observed.checks.get(work)
    verdict = checks.verdict if checks else "none"
    tests = task.spec.kind == "tests"
    if verdict == ("red" if tests else "green"):
        yield Prove(name, task.number, work)
    elif checks and verdict in ("red", "green"):
        why = NOT_RED if tests else checks.text
        yield Reject(name, task.number, work, why)
    elif checks and verdict == "none" and _overdue(candidate, pace, now):
        yield Block(name, task.number, NO_CI)


def _choices(convoy: Convoy) -> Iterator[Action]:
    """Take the only rival that is left, and ask a person where there is none."""
    for task in convoy.tasks:
        if not chooses(task) or under_way(convoy, task):
            continue
        found = left(convoy, task)
        if not found:
            yield Block(convoy.name, task.number, NONE_LEFT)
        elif len(found) == 1:
            yield Choose(convoy.name, task.number)


def _green_front(
    convoy: Convoy, links: tuple[Link, ...], observed: Observed
) -> tuple[Link, ...]:
    """Return the links from the front on that may land."""
    for position, link in enumerate(links):
        checks = observed.checks.get(link.candidate.commit)
        if not _is_shown(link) or not _is_green(convoy, checks):
            return links[:position]
    return links


def _is_shown(link: Link) -> bool:
    """Whether the forge has the pull request and, from an earlier push, the work."""
    pull, work = link.task.pull, link.task.work
    return pull is not None and work is not None and work.log != ""


def _is_green(convoy: Convoy, checks: Checks | None) -> bool:
    if not convoy.settings.require_ci:
        return True
    return checks is not None and checks.verdict == "green"


def _landing(
    convoy: Convoy, green: tuple[Link, ...], observed: Observed, tip: str
) -> Iterator[Action]:
    """Move the branches of the green tasks first; once they are there, land.

    Both in one push would let the forge see the base move first, and the pull request
    would show as closed instead of merged.
    """
    if not green:
        return
    behind = tuple(
        link.task.number for link in green if _must_align(convoy, link, observed)
    )
    if behind:
        yield Align(convoy.name, behind)
    else:
        yield Land(convoy.name, tuple(link.task.number for link in green), tip)


def _must_align(convoy: Convoy, link: Link, observed: Observed) -> bool:
    if convoy.settings.strategy == "merge":
        return False
    branch = HEADS + ids.task_branch(convoy.name, link.task.number)
    return observed.refs.get(branch) != link.candidate.commit


def _verdict(
    convoy: Convoy, front: Link, checks: Checks | None, pace: Pace, now: int
) -> Iterator[Action]:
    """Act on the front's checks; only the front stands on what has really landed."""
    if checks is None:
        return
    if checks.verdict == "red":
        yield Reject(
            convoy.name, front.task.number, front.candidate.commit, checks.text
        )
    elif checks.verdict == "none" and _overdue(front.candidate, pace, now):
        yield Block(convoy.name, front.task.number, NO_CI)


def _overdue(candidate: Candidate, pace: Pace, now: int) -> bool:
    return now > candidate.at + pace.check_start_s * 1000


def _convoy_merge(
    convoy: Convoy, observed: Observed, pace: Pace, now: int
) -> Iterator[Action]:
    tip = observed.refs.get(HEADS + convoy.target)
    work = observed.refs.get(HEADS + ids.base_branch(convoy.name))
    if tip is None or work is None:
        return
    candidate = convoy.candidate
    if candidate is None or candidate.base != tip or candidate.work != work:
        yield BuildConvoy(convoy.name, tip)
        return
    checks = observed.checks.get(candidate.commit)
    if _is_green(convoy, checks):
        if convoy.pull is not None:
            yield LandConvoy(convoy.name, tip)
    elif checks is not None and checks.verdict == "red":
        yield Reject(convoy.name, 0, candidate.commit, checks.text)
    elif (
        checks is not None
        and checks.verdict == "none"
        and _overdue(candidate, pace, now)
    ):
        yield Block(convoy.name, 0, NO_CI)


# --- cleaning up --------------------------------------------------------------------


def _sweeps(state: State, observed: Observed) -> Iterator[Action]:
    """Delete the queue branches of candidates that are open no more."""
    kept = queue_branches(state)
    stale = tuple(
        (ref, commit)
        for ref, commit in sorted(observed.refs.items())
        if ref.startswith(HEADS + "brat/queue/") and ref not in kept
    )
    if stale:
        yield Sweep(stale)
