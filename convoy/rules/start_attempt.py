"""How an attempt begins: its leases, its hand-off, and the dispatch that is owed."""

from typing import Final

from convoy.events.command import Command, Decision, Events, Refusal, in_state
from convoy.events.forge_actions import ActionIntended
from convoy.events.leases import LeaseFreed, LeaseTaken
from convoy.events.task_start import TaskStarted
from convoy.gate import gate_of, path_list
from convoy.kinds import kind_of
from convoy.kinds.relations import half_done, stands_on
from convoy.model import ids
from convoy.model.attempt import Resolution, Work
from convoy.model.notes import handed as handed_on
from convoy.model.state import Convoy, State, Task
from convoy.readiness.attempt_start import (
    conflicting_leases,
    resources,
    startable,
)
from convoy.readiness.budget_left import capped, closed
from convoy.readiness.early_start import stands_behind
from convoy.readiness.turns import turns
from grite.resource import overlaps

PLAN_LINES: Final = 60
"""Of how many tasks an agent is told; of a longer plan those that are not settled."""
FILES: Final = 20
"""How many changed files of a task before it an agent is told."""
LEASE_SLACK_S = 300
"""A task's leases outlive its session's deadlines by this much; its end frees them."""


class StartPlanning(Command, frozen=True, kw_only=True):
    """Begin the next attempt of task 0; `session` and `nonce` are fresh random hex."""

    convoy: str
    brief: str
    session: str
    nonce: str
    now: int

    def decide(self, state: State) -> Decision:
        """Begin an attempt at the plan, from the commit the convoy starts at."""
        convoy = in_state(state, self.convoy, "planning")
        if isinstance(convoy, Refusal):
            return convoy
        mayor = convoy.mayor
        if mayor is None or not startable(convoy, mayor):
            return Refusal(f"nobody is to plan {convoy.name} now")
        if mayor.not_before > self.now:
            return Refusal("the plan waits for the model's vendor")
        if why := closed(state, convoy, mayor, self.now):
            return Refusal(why)
        attempt = mayor.started + 1
        started = TaskStarted(
            convoy=convoy.name,
            task=0,
            attempt=attempt,
            session=self.session,
            nonce=self.nonce,
            base=convoy.base,
            branch=ids.task_branch(convoy.name, 0),
            title=mayor.spec.title,
            instructions=mayor.spec.instructions,
            kind="plan",
            brief=self.brief,
            notes=mayor.notes,
            engine=convoy.settings.engines[mayor.spec.engine],
            limits=capped(convoy, mayor),
            gate=convoy.settings.gate,
            egress=convoy.settings.egress,
            setup_hosts=convoy.settings.setup_hosts,
            box=convoy.settings.box,
        )
        intent = ActionIntended(
            key=ids.dispatch_key(ids.session_name(convoy.name, 0, attempt)),
            kind="dispatch",
            convoy=convoy.name,
            task=0,
            attempt=attempt,
        )
        return (started, intent)


class StartTask(Command, frozen=True, kw_only=True):
    """Begin the next attempt; `session` and `nonce` are fresh random hex."""

    convoy: str
    task: int
    base: str
    session: str
    nonce: str
    now: int
    brief: str = ""
    """What a session that looks at another task's work is told about it."""
    resolves: Resolution | None = None
    """The conflict of earlier work that it makes fit; `base` then holds it."""

    def decide(self, state: State) -> Decision:
        """Begin an attempt: its leases, the hand-off, and the dispatch that is owed."""
        convoy = in_state(state, self.convoy, "active")
        if isinstance(convoy, Refusal):
            return convoy
        task = convoy.task(self.task)
        if task is None or not startable(convoy, task):
            return Refusal(f"task {self.task} of {convoy.name} cannot start now")
        if task.not_before > self.now:
            return Refusal(f"task {task.number} waits for the model's vendor")
        if why := closed(state, convoy, task, self.now) or _late(
            convoy, task, self.base
        ):
            return Refusal(why)
        work = stands_on(convoy, task) if task.earlier is None else None
        left = half_done(convoy, task)
        if left is not None and self.base != left.commit:
            left = None  # it no longer exists
        if left is None and (elsewhere := _elsewhere(task, work, self.base)):
            return Refusal(elsewhere)
        held = conflicting_leases(state, task, self.now)
        if held and convoy.settings.locks == "require":
            return Refusal(f"task {self.task} waits for {held[0].resource}")
        attempt, kind = task.started + 1, kind_of(task.spec)
        engine = convoy.settings.engines[task.spec.engine]
        session = ids.session_name(convoy.name, task.number, attempt)
        notes = (
            *task.notes,
            *(f"{lease.holder} works on {lease.resource} too" for lease in held),
        )
        started = TaskStarted(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt,
            session=self.session,
            nonce=self.nonce,
            base=self.base,
            root=left.base if left else _root(task, work, self.resolves),
            salvaged=left.attempt if left else 0,
            resolves=self.resolves,
            branch=ids.task_branch(convoy.name, task.number),
            title=task.spec.title,
            instructions=task.spec.instructions,
            paths=task.spec.paths,
            plan=planned(convoy),
            notes=notes,
            kind=kind.runs_as or kind.name,
            brief=self.brief,
            handed=handed(convoy, task),
            scratchpad=convoy.scratchpad,
            followups=convoy.settings.followups != "off",
            acceptance=task.spec.acceptance if kind.is_accepted else "",
            engine=engine,
            limits=capped(convoy, task),
            gate=gate_of(convoy.settings.gate, task),
            egress=convoy.settings.egress,
            setup_hosts=convoy.settings.setup_hosts,
            box=convoy.settings.box,
        )
        intent = ActionIntended(
            key=ids.dispatch_key(session),
            kind="dispatch",
            convoy=convoy.name,
            task=task.number,
            attempt=attempt,
        )
        return (*_leases(state, convoy, task, self), started, intent)


def handed(convoy: Convoy, task: Task) -> tuple[str, ...]:
    """Return the notes for the next attempt at a task, and whose they are."""
    before = (convoy.task(number) for number in task.spec.after)
    told = (
        f"task {other.number} ({other.spec.title}): {note}"
        for other in before
        if other is not None
        for note in other.learned
    )
    before = (convoy.task(number) for number in task.spec.after)
    found = (
        f"task {other.number} ({other.spec.title}) reports: {handed_on(other.report)}"
        for other in before
        if other is not None and other.report is not None
    )
    before = (convoy.task(number) for number in task.spec.after)
    merged = (other for other in before if other and other.state == "merged")
    did = (
        f"task {it.number} ({it.spec.title}) changed {path_list(it.work.files, FILES)}"
        for it in merged
        if it.work is not None
    )
    own = (f"an earlier attempt at this task: {note}" for note in task.learned)
    return (*did, *found, *told, *own)


def planned(convoy: Convoy) -> tuple[str, ...]:
    """Return the convoy's tasks with their states, a line each."""
    tasks = convoy.tasks
    if len(tasks) > PLAN_LINES:
        tasks = tuple(task for task in tasks if not task.settled)[:PLAN_LINES]
    return tuple(f"{t.number}. {t.spec.title} ({t.state})" for t in tasks)


def _late(convoy: Convoy, task: Task, base: str) -> str:
    """Return why it is not the task's turn yet; empty: it is."""
    first = turns(convoy).get(task.number, ())
    if not first or stands_behind(convoy, task, first, base):
        return ""
    return f"task {task.number} waits for {first[0].words()}"


def _elsewhere(task: Task, work: Work | None, base: str) -> str:
    """Return what an attempt must start from instead of `base`, if anything."""
    if work is not None and base != work.commit:
        return f"task {task.number} starts from {work.commit}"
    if task.earlier is not None and base != task.earlier.commit:
        return f"task {task.number} goes on from {task.earlier.commit}"
    return ""


def _root(task: Task, work: Work | None, resolves: Resolution | None) -> str:
    """Return the commit the whole work is measured from, if that is not its base."""
    if resolves is not None:
        return resolves.tip
    if task.earlier is not None:
        return task.earlier.base
    return "" if work is None or kind_of(task.spec).answer else work.base


def _leases(state: State, convoy: Convoy, task: Task, command: StartTask) -> Events:
    """Take the leases that the session needs, and free expired ones on the way.

    Under `warn`, what somebody else holds stays theirs; under `off`, none is taken.
    """
    if convoy.settings.locks == "off":
        return ()
    held = conflicting_leases(state, task, command.now)
    wanted = [
        resource
        for resource in resources(task)
        if not any(overlaps(lease.resource, resource) for lease in held)
    ]
    expired = (
        LeaseFreed(resource=lease.resource, nonce=lease.nonce)
        for lease in state.leases.values()
        if lease.expires <= command.now
        and any(overlaps(lease.resource, resource) for resource in wanted)
    )
    engine = convoy.settings.engines[task.spec.engine]
    holder = ids.session_name(convoy.name, task.number, task.started + 1)
    longest_s = convoy.settings.limits.setup_s + engine.timeout_s
    expires = command.now + (longest_s + LEASE_SLACK_S) * 1000
    taken = (
        LeaseTaken(
            resource=resource, holder=holder, nonce=command.nonce, expires=expires
        )
        for resource in wanted
    )
    return (*expired, *taken)
