"""May it start? `start_waits` lists what keeps a task; then how an attempt begins.

Only known costs count. A session is ended when it alone has spent what was left at its
start, so parallel sessions can overspend a budget. A person decides about a spent task
or convoy budget; a day's budget renews itself.

A task may start on the candidate of what goes first, which lands unchanged if CI finds
it green; it goes on while CI judges. If that does not land after all, only what the
attempt itself changed is built on what does: with the strategy `merge` the work would
bring the other's commits along, so there every task waits until the other has landed.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import Events, Refusal, TaskCommand, copied
from convoy.events.forge_actions import ActionIntended
from convoy.events.leases import LeaseTaken, freed
from convoy.events.session_events import DAY_MS, TaskStarted
from convoy.gate import gate_of, path_list
from convoy.kinds import half_done, kind_of, starts_from, trial, unmerged
from convoy.model import ids
from convoy.model.records import CAUSES, Limits
from convoy.model.session_result import dollars, report_for_others as handed_on
from convoy.model.state import Convoy, Lease, State, Task
from convoy.model.work import Resolution, Work
from convoy.rules.turns import Turn, sync_task, turns, unmet
from convoy.text import clock
from grite.resource import overlaps


class Moment(Struct, frozen=True, kw_only=True):
    """What a start depends on outside its convoy."""

    now: int
    leases: tuple[Lease, ...]
    """Those that have not run out."""
    spent: float
    """What all convoys have spent today, USD."""
    paused: bool
    """Whether somebody paused everything."""


def moment(state: State, now: int) -> Moment:
    return Moment(
        now=now,
        leases=tuple(each for each in state.leases.values() if each.expires > now),
        spent=state.day_usd if state.day == now // DAY_MS else 0.0,
        paused=bool(state.paused_by),
    )


StartCause = Literal[
    "state", "convoy", "aside", "task", "session", "money", "turn", "vendor", "day",
    "lease",
]  # fmt: skip


class StartWait(Struct, frozen=True):
    """One thing that has to happen before the next attempt begins."""

    cause: StartCause
    why: str
    """What stands behind "it waits for"."""
    more: str = ""
    """What a list of reasons adds to that."""
    noted: str = ""
    """Of money: what the log notes of it."""


def start_waits(
    convoy: Convoy, task: Task, at: Moment | None = None
) -> Iterator[StartWait]:
    """Yield all that keeps a task from starting; none: it starts when there is a slot.

    Without a moment, only what the convoy itself knows. Task 0 is the plan: its convoy
    has none yet.
    """
    if task.state != "queued":
        yield StartWait("state", f"nothing: it is {task.state}")
        return
    wait = None
    for wait in (*_convoy_keeps(convoy, task, at), *_tasks_keep(convoy, task)):
        yield wait
    if wait is None and (why := overspent(convoy, task)):  # its sum takes long
        yield StartWait("money", f"a person: {why}", noted=why)
    for turn in turns(convoy).get(task.number, ()):
        yield StartWait("turn", turn.words())
    if at is not None:
        yield from _moment_keeps(convoy, task, at)


def _convoy_keeps(convoy: Convoy, task: Task, at: Moment | None) -> Iterator[StartWait]:
    """Yield what a person did, or has to do, to the convoy or to the task."""
    if why := convoy.kept_by:
        yield StartWait("convoy", why)
    if convoy.state != ("active" if task.number else "planning"):
        because = f": {convoy.why}" if convoy.why else ""
        said = {
            "planning": "a person: the plan needs approval",
            "paused": f"a person: the convoy is paused{because}",
        }.get(convoy.state, f"nothing: the convoy is {convoy.state}")
        if convoy.staged:
            said = "`staged = true` to be removed from the configuration"
        yield StartWait("convoy", said)
    elif not task.number and at is not None and at.paused:
        yield StartWait("convoy", "`/brat resume all`")
    if task.set_aside is not None and task.waits_aside:
        yield StartWait("aside", task.set_aside.back)
    if task.taken_out is not None:
        yield StartWait("aside", task.taken_out.back)


def _tasks_keep(convoy: Convoy, task: Task) -> Iterator[StartWait]:
    """Yield what has to merge or to end first."""
    if task.attempt is not None:
        yield StartWait("session", "its previous session to end")
    if why := kind_of(task.spec).waits_for(convoy, task):
        yield StartWait("task", why)
    for number in unmet(convoy, task):
        other = convoy.task(number)
        if other is not None and other.on_target:
            # The target is to be taken in, with a task that a person did on it.
            takes_in, target = sync_task(convoy), convoy.target
            by = f" by task {takes_in.number}" if takes_in else ""
            is_red = convoy.sync.left and not takes_in
            red = f", but CI is red on {target}" if is_red else ""
            merged = f"{target} to be merged into the convoy branch{by}"
            why = f"{merged} ({target} contains task {number}{red})"
            yield StartWait("task", why)
        else:
            stands = f" ({other.state})" if other else ", which does not exist"
            yield StartWait("task", f"task {number}", stands)


def _moment_keeps(convoy: Convoy, task: Task, at: Moment) -> Iterator[StartWait]:
    """Yield what ends by itself."""
    if task.not_before > at.now and task.cause != "spent":
        until = clock(task.not_before)
        yield StartWait("vendor", f"the model's vendor until {until}: {task.why}")
    elif why := closed_today(convoy, task, at):
        yield StartWait("day", f"the next day: {why}", noted=why)
    elif task.not_before > at.now:
        yield StartWait("day", f"the next day: {task.why}")
    if convoy.settings.locks == "require":
        for lease in blocking_leases(at.leases, task):
            yield StartWait("lease", holding(lease))


def is_kept(
    convoy: Convoy, task: Task, at: Moment, but: Container[StartCause] = ()
) -> bool:
    """Whether anything keeps a task from starting, `but` for these causes."""
    return any(wait.cause not in but for wait in start_waits(convoy, task, at))


def holding(lease: Lease) -> str:
    return f"{lease.resource}, which {lease.holder} holds until {clock(lease.expires)}"


def needed_resources(task: Task) -> tuple[str, ...]:
    """Return what the task's session must hold: its paths and needs."""
    return (*(f"path:{path}" for path in task.spec.paths), *task.spec.needs)


def blocking_leases(leases: Iterable[Lease], task: Task) -> tuple[Lease, ...]:
    """Return those of the leases that are on what the task's session must hold."""
    wanted = needed_resources(task)
    return tuple(
        lease
        for lease in leases
        if any(overlaps(lease.resource, resource) for resource in wanted)
    )


def kept_by_leases(
    state: State, now: int
) -> Iterator[tuple[Convoy, Task, tuple[Lease, ...]]]:
    """Yield each task that only leases keep from starting; a lease ends by itself."""
    at = moment(state, now)
    for convoy in state.live():
        if convoy.settings.locks == "require" and at.leases:
            for task in convoy.tasks:
                held = blocking_leases(at.leases, task)
                if held and not is_kept(convoy, task, at, PASSING):
                    yield convoy, task, held


PASSING: Final[frozenset[StartCause]] = frozenset({"turn", "vendor", "day", "lease"})
"""What ends by itself, or by others' work."""


class Slots:
    """The slots for sessions, of all engines and of each."""

    def __init__(self, running: Iterable[Task], resting: Iterable[Task] = ()) -> None:
        """Take those of the running tasks as used, and those of resting ones as kept.

        A task waiting for its vendor keeps its engine's slot: so these go down with
        each outage, and come back one by one as the waits, which are spread, run out.
        """
        self._used = Counter(task.spec.engine for task in running)
        self._kept = Counter(task.spec.engine for task in resting)

    def take(self, convoy: Convoy, task: Task) -> bool:
        """Use a slot for a task's session, if one is free."""
        is_free = not any(self.lacking(convoy, task))
        self._used[task.spec.engine] += is_free
        return is_free

    def are_full(self, convoy: Convoy) -> bool:
        """Whether no engine has a free slot for a convoy's sessions."""
        return self._used.total() >= convoy.settings.max_sessions

    def lacking(self, convoy: Convoy, task: Task) -> Iterator[str]:
        """Yield which slots for a task's session are all in use."""
        if self.are_full(convoy):
            yield f"no session slot is free (limit: {convoy.settings.max_sessions})"
        name = task.spec.engine
        engine, kept = convoy.settings.engines.get(name), self._kept[name]
        if engine is not None and self._used[name] + kept >= engine.max_sessions:
            held = f"; waiting for its vendor: {kept}" if kept else ""
            limit = f"limit: {engine.max_sessions}{held}"
            yield f"the engine {name} has no free slot ({limit})"


def resting_tasks(state: State, now: int) -> Iterator[Task]:
    """Yield each task that waits for its model's vendor."""
    return (
        task
        for convoy in state.live()
        for task in convoy.tasks
        if task.state == "queued" and task.cause == "outage" and task.not_before > now
    )


def may_start_early(convoy: Convoy, task: Task) -> bool:
    """Whether a task may start from work that has not landed: its first attempt may.

    What makes conflicting work fit would conflict again if that were red: it may while
    CI was against nothing of this convoy, and not in its last round.
    """
    if task.spec.on or convoy.settings.strategy == "merge":
        return False
    if not task.started:
        return True
    makes_fit = unmerged(convoy, task) and not half_done(convoy, task)
    is_last = task.conflicts >= convoy.settings.rounds
    was_red = any(each.doubt or each.cause == "red" for each in convoy.tasks)
    return bool(makes_fit) and not (is_last or was_red)


def work_ahead(convoy: Convoy, task: Task) -> str:
    """Return the conflicting work on which a task's own is made fit; empty: none.

    Where all sides only added lines, what fits the work of the task directly ahead fits
    that on what has landed, too: so all that conflicted with one landing is made fit at
    once, and not one after another. Where something has conflicted twice, nothing is.
    """
    own, waits = unmerged(convoy, task), turns(convoy)
    was_in_vain = any(each.conflicts > 1 for each in convoy.tasks)
    if own is None or not own.only_adds or was_in_vain:
        return ""
    first = {turn.on for turn in waits.get(task.number, ())}
    for number in first:
        # The one directly ahead waits for all others that go first.
        other = convoy.task(number)
        behind = {number, *(turn.on for turn in waits.get(number, ()))}
        if other is None or not first <= behind:
            continue
        theirs = unmerged(convoy, other)
        if theirs and theirs.only_adds and theirs.base == own.base:
            return theirs.commit if {*own.paths} <= {*theirs.paths} else ""
    return ""


def stands_behind(convoy: Convoy, task: Task, first: Iterable[Turn], base: str) -> bool:
    """Whether `base` holds the work of all that go first, or of the one directly ahead.

    It is a candidate, or what `work_ahead` says. Of candidates, conflicting work is
    made fit on the front one alone: if that is red, it costs only what is next in turn.
    """
    if not may_start_early(convoy, task):
        return False
    if base == work_ahead(convoy, task):
        return True
    offered = {
        other.candidate.commit: (other.number, other.candidate)
        for other in convoy.tasks
        if other.candidate and trial(convoy, other) is None  # else it is not to land
    }
    held: set[int] = set()
    at = base
    while at in offered and offered[at][0] not in held:
        number, candidate = offered[at]
        held.add(number)
        at = candidate.base
    is_near = not task.started or len(held) == 1
    return is_near and held.issuperset(turn.on for turn in first)


def overspent(convoy: Convoy, task: Task) -> str:
    """Return why there is no money for another attempt at the task; empty: there is."""
    if CAUSES[task.cause].asked_for:
        return ""
    budget = convoy.settings.budget
    of_task = _spent("the task's", task.used.usd, budget.task)
    if of_task or budget.convoy is None:
        return of_task
    return _spent("the convoy's", convoy.used.usd, budget.convoy)


def closed_today(convoy: Convoy, task: Task, at: Moment) -> str:
    """Return why the task does not start before the next day; empty: it may."""
    spent = _spent("today's", at.spent, convoy.settings.budget.day)
    if not spent or CAUSES[task.cause].asked_for:
        return ""
    again = datetime.fromtimestamp(next_day(at.now) / 1000, UTC)
    return f"{spent}; it resets at {again:%Y-%m-%d %H:%M} UTC"


def next_day(now: int) -> int:
    """Return when the next day begins, UTC, unix ms."""
    return (now // DAY_MS + 1) * DAY_MS


def limits_left(convoy: Convoy, task: Task) -> Limits:
    """Return the next attempt's limits, with no more money than is left."""
    limits, budget = convoy.settings.limits, convoy.settings.budget
    if CAUSES[task.cause].asked_for:
        return limits
    known = (
        limits.usd,
        None if budget.task is None else budget.task - task.used.usd,
        None if budget.convoy is None else budget.convoy - convoy.used.usd,
    )
    left = [usd for usd in known if usd is not None]
    return replace(limits, usd=max(0.0, round(min(left), 6)) if left else None)


def _spent(whose: str, usd: float, most: float | None) -> str:
    if most is None or usd < most:
        return ""
    return f"{whose} budget of {dollars(most)} is used up ({dollars(usd)} so far)"


PLAN_LINES: Final = 60
"""Of how many tasks an agent is told; of a longer plan those that are not settled."""
FILES_TOLD: Final = 20
"""How many changed files of a task before it an agent is told."""
LEASE_SLACK_S = 300
"""A task's leases outlive its session's deadlines by this much; its end frees them."""


class StartTask(TaskCommand, frozen=True, kw_only=True):
    """Begin the next attempt, at task 0 the plan's.

    `session` and `nonce` are fresh random hex.
    """

    base: str
    session: str
    nonce: str
    now: int
    brief: str = ""
    resolves: Resolution | None = None
    """The conflict of earlier work that it makes fit; `base` then holds it."""

    def decide(self, state: State) -> Events:
        convoy = self.in_state(state, "active" if self.task else "planning")
        task = convoy.in_session(self.task)
        if task is None:
            raise Refusal(f"{convoy.name} has no task {self.task}")
        at, first = moment(state, self.now), turns(convoy).get(task.number, ())
        onto = self.resolves.tip if self.resolves else self.base
        behind = stands_behind(convoy, task, first, onto)
        for wait in start_waits(convoy, task, at):
            if not (wait.cause == "turn" and behind):
                raise Refusal(f"task {task.number} waits for {wait.why}{wait.more}")
        kind = kind_of(task.spec)
        work, left = starts_from(convoy, task), half_done(convoy, task)
        if left is not None and self.base != left.commit:
            left = None  # it no longer exists
        if left is None and work is not None and self.base != work.commit:
            must = "continue" if task.earlier else "start"
            raise Refusal(f"task {task.number} must {must} from {work.commit}")
        held = blocking_leases(at.leases, task)
        attempt = task.started + 1
        engine = convoy.settings.engines[task.spec.engine]
        session = ids.session_name(convoy.name, task.number, attempt)
        notes = (
            *task.notes,
            *(f"{lease.holder} is also working on {lease.resource}" for lease in held),
        )
        settings, tasks = convoy.settings, convoy.tasks
        if len(tasks) > PLAN_LINES:
            tasks = tuple(each for each in tasks if not each.settled)[:PLAN_LINES]
        started = copied(
            TaskStarted,
            task.spec,
            settings,
            self,
            attempt=attempt,
            root=left.base if left else _root(task, work, self.resolves),
            salvaged=left.attempt if left else 0,
            branch=ids.task_branch(convoy.name, task.number),
            plan=tuple(f"{t.number}. {t.spec.title} ({t.state})" for t in tasks),
            notes=notes,
            kind=kind.name,
            handed=notes_handed_on(convoy, task),
            scratchpad=convoy.scratchpad,
            acceptance=task.spec.acceptance if kind.is_accepted else "",
            engine=engine,
            limits=limits_left(convoy, task),
            gate=gate_of(settings.gate, task),
        )
        key = ids.key("dispatch", session)
        intent = copied(ActionIntended, self, key=key, kind="dispatch", attempt=attempt)
        return (*self._leases(state, convoy, task, held), started, intent)

    def _leases(
        self, state: State, convoy: Convoy, task: Task, held: Collection[Lease]
    ) -> Events:
        """Take the leases that the session needs, and free expired ones on the way.

        Under `warn`, what somebody else holds stays theirs; under `off`, none is taken.
        """
        if convoy.settings.locks == "off":
            return ()
        wanted = [
            resource
            for resource in needed_resources(task)
            if not any(overlaps(lease.resource, resource) for lease in held)
        ]
        expired = (
            lease
            for lease in state.leases.values()
            if lease.expires <= self.now
            and any(overlaps(lease.resource, resource) for resource in wanted)
        )
        engine = convoy.settings.engines[task.spec.engine]
        holder = ids.session_name(convoy.name, task.number, task.started + 1)
        longest_s = convoy.settings.limits.setup_s + engine.timeout_s
        expires = self.now + (longest_s + LEASE_SLACK_S) * 1000
        taken = (
            copied(LeaseTaken, self, resource=each, holder=holder, expires=expires)
            for each in wanted
        )
        return (*freed(expired), *taken)


def notes_handed_on(convoy: Convoy, task: Task) -> tuple[str, ...]:
    there = (convoy.task(number) for number in task.spec.after)
    before = {f"task {t.number} ({t.spec.title})": t for t in there if t is not None}
    did = (
        f"{name} changed {path_list(other.work.files, FILES_TOLD)}"
        for name, other in before.items()
        if other.state == "merged" and other.work is not None
    )
    found = (
        f"{name} reports: {handed_on(other.report)}"
        for name, other in before.items()
        if other.report is not None
    )
    told = (f"{n}: {note}" for n, other in before.items() for note in other.learned)
    own = (f"an earlier attempt at this task: {note}" for note in task.learned)
    return (*did, *found, *told, *own)


def _root(task: Task, work: Work | None, resolves: Resolution | None) -> str:
    """Return the commit the whole work is measured from, if that is not its base."""
    if resolves is not None:
        return resolves.tip
    return "" if work is None or kind_of(task.spec).answer else work.base
