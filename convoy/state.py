"""What is true: the state that folding the log gives.

Frozen: a change is a new value.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from convoy.events import (
    ActionKind,
    Cause,
    Estimate,
    Followup,
    Overlap,
    Reaction,
    Report,
    Settings,
    TaskSpec,
    Usage,
)

TaskState = Literal["queued", "running", "needs-review", "merged", "blocked", "dropped"]
ConvoyState = Literal["planning", "active", "paused", "complete", "failed"]


class Moment(Struct, frozen=True):
    """Where in the log the fold stands."""

    commit: str = ""
    """The commit being folded; empty while it is not written yet."""
    at: int = 0
    """Time of the event being folded, unix ms."""


class Message(Struct, frozen=True):
    """What a person said while an attempt ran."""

    by: str
    text: str


class Attempt(Struct, frozen=True, kw_only=True):
    """A session that was started and has not ended for the log."""

    number: int
    session: str
    nonce: str
    base: str
    root: str = ""
    """What its work is measured from when that is not `base`."""
    salvaged: int = 0
    """The earlier attempt whose half-done work `base` is; 0: none."""
    ground: str = ""
    """What it would have started from, had none been left half-done."""
    log: str
    """The commit that carries `task.started`: what the runner is told to read."""
    at: int
    """When it was started, and then when its dispatch was noted."""
    run: int | None = None
    """The workflow run, once the dispatch is known to be done."""
    messages: tuple[Message, ...] = ()
    """What people said to the task since it started, oldest first."""
    heard: int = 0
    """How many of them its engine was given."""


class Work(Struct, frozen=True, kw_only=True):
    """What an attempt handed in and the gate let through."""

    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    log: str = ""
    """The commit that carries `work.accepted`; empty while it is not pushed."""
    at: int


class HalfDone(Struct, frozen=True, kw_only=True):
    """What an attempt left that was ended in the midst of its work."""

    attempt: int
    commit: str
    base: str
    """What the whole work is measured from."""
    ground: str
    """What the first attempt started from, of those that went on from another."""


class HandedIn(Struct, frozen=True):
    """The newest work that the gate let through, also when it was sent back since."""

    attempt: int
    commit: str


class Candidate(Struct, frozen=True, kw_only=True):
    """A commit that CI judges and that lands unchanged."""

    commit: str
    base: str
    work: str
    at: int


class Task(Struct, frozen=True, kw_only=True):
    """One task and where it stands."""

    spec: TaskSpec
    state: TaskState = "queued"
    cause: Cause = "planned"
    why: str = ""
    """Why it waits, is blocked or was dropped."""
    started: int = 0
    """Attempts ever started: the number of the newest."""
    spent: int = 0
    """Attempts that count against the limit."""
    outages: int = 0
    """How often in a row the model's vendor kept an attempt from its work."""
    not_before: int = 0
    """It does not start earlier, unix ms."""
    notes: tuple[str, ...] = ()
    """Why earlier attempts did not land, oldest first."""
    learned: tuple[str, ...] = ()
    """What its last agent that noted anything noted for the tasks that build on it."""
    proven: str = ""
    """The work that CI found as it is to be: tests red, a rival's work green."""
    lines: int = 0
    """How many lines that work adds and takes away, of a rival."""
    splits: bool = False
    """Whether it is blocked since it was too much for one agent."""
    chosen: int = 0
    """The rival that it chose, of a choice; 0: none yet."""
    approves: str = ""
    """The work that it approves, of a review; empty: none yet."""
    rounds: int = 0
    """How often it asked for changes since a person looked, of a review."""
    report: Report | None = None
    """What it found out, of a task that ends so."""
    followups: tuple[Followup, ...] = ()
    """Further work that its agents saw, oldest first."""
    attempt: Attempt | None = None
    work: Work | None = None
    handed_in: HandedIn | None = None
    candidate: Candidate | None = None
    approved_by: tuple[str, ...] = ()
    """Who approves the work as it is now; other work is to be approved anew."""
    earlier: Work | None = None
    """Work that a person wants changed: the next attempt goes on from it."""
    half_done: HalfDone | None = None
    """What its last attempt left half-done: the next one goes on from it."""
    withdrawn: bool = False
    """Whether a person took it out of the merge queue."""
    put_back_by: str = ""
    """Who put it back into the merge queue, and so answers for its landing."""
    held: str = ""
    """The label on its pull request that keeps it from merging."""
    runs: tuple[int, ...] = ()
    """The workflow runs of its attempts, oldest first."""
    pull: int | None = None
    landed: str | None = None
    begun_at: int = 0
    """When its first attempt started."""
    ended_at: int = 0
    worked_ms: int = 0
    """Time its sessions took in all: what one at a time would have cost."""
    used: Usage = Usage()
    """By its sessions that have ended, as their engines say."""

    @property
    def number(self) -> int:
        """Its number in the convoy."""
        return self.spec.number

    @property
    def newest_run(self) -> int | None:
        """The workflow run of its newest session; None: none, or not known yet."""
        if self.attempt is not None:
            return self.attempt.run
        return self.runs[-1] if self.runs else None

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen to it by itself or by anybody."""
        return self.state in ("merged", "dropped")

    @property
    def is_proven(self) -> bool:
        """Whether CI found its work, as it is now, to be as it should be."""
        return self.work is not None and self.proven == self.work.commit


class Convoy(Struct, frozen=True, kw_only=True):
    """A group of tasks that share `convoy/<name>/base`."""

    name: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    base: str
    settings: Settings
    pattern: str = ""
    """The template that is its plan; empty: none is."""
    inputs: dict[str, str] = {}
    """What was said to fill that."""
    state: ConvoyState = "planning"
    why: str = ""
    planner: str = ""
    tasks: tuple[Task, ...] = ()
    vouched_by: str = ""
    """Who approved its plan or resumed it last, and so answers for what starts; empty:
    who asked for it."""
    mayor: Task | None = None
    """Task 0, where an engine plans; it has neither a branch nor a pull request."""
    estimate: Estimate | None = None
    """What its tasks were thought to cost when they were planned."""
    warnings: tuple[str, ...] = ()
    """What who reads the plan should know."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of its tasks may collide, as was foreseen when they were planned."""
    scratchpad: tuple[str, ...] = ()
    """What its agents noted for each other, oldest first."""
    priority: int = 1
    """0 goes before 1, and 1 before 2."""
    withdrawn: bool = False
    """Whether a person took its own pull request out of the merge queue."""
    put_back_by: str = ""
    """Who put that back into the merge queue, and so answers for its landing."""
    held: str = ""
    """The label that keeps all of it from starting and merging."""
    comment: int | None = None
    called: tuple[str, ...] = ()
    """What people were called for, by the keys of `convoy.needs`."""
    pull: int | None = None
    candidate: Candidate | None = None
    offered: str = ""
    """The tip of its branch when that was last offered to the target."""
    landed: str | None = None
    requested_at: int = 0
    ended_at: int = 0

    def task(self, number: int) -> Task | None:
        """Return task `number`; None when there is none. Numbers may have gaps."""
        return next((task for task in self.tasks if task.number == number), None)

    def in_session(self, number: int) -> Task | None:
        """Return what a session may work on: a task, or for 0 the plan itself."""
        return self.task(number) if number else self.mayor

    @property
    def waits_for_approval(self) -> bool:
        """Whether a plan does not start before a person has said so."""
        return self.settings.approve == "plan" or self.settings.staged

    @property
    def staged(self) -> bool:
        """Whether it is only planned and shown."""
        return self.settings.staged and self.state == "planning"

    @property
    def ended(self) -> bool:
        """Whether it is complete or failed."""
        return self.state in ("complete", "failed")

    @property
    def settled(self) -> bool:
        """Whether every task is merged or dropped, and there is at least one."""
        return bool(self.tasks) and all(task.settled for task in self.tasks)


class Lease(Struct, frozen=True, kw_only=True):
    """A resource that somebody holds until `expires` (unix ms)."""

    resource: str
    holder: str
    nonce: str
    expires: int


class Intent(Struct, frozen=True, kw_only=True):
    """An announced action that is not known to be done."""

    key: str
    kind: ActionKind
    convoy: str
    task: int
    attempt: int
    issue: int = 0
    comment: int = 0
    reaction: Reaction = ""
    text: str = ""


class State(Struct, frozen=True, kw_only=True):
    """Everything the log says."""

    moment: Moment = Moment()
    bots: frozenset[str] = frozenset()
    """Actors (hex) whose events count."""
    convoys: dict[str, Convoy] = {}
    leases: dict[str, Lease] = {}
    intents: dict[str, Intent] = {}
    day: int = 0
    """The day, UTC, on which money was spent last, counted from 1970."""
    day_usd: float = 0.0
    """What was spent on it, by all convoys, as far as it is known."""
    answered: frozenset[int] = frozenset()
    """Comments whose commands were carried out and answered."""
    heard: frozenset[str] = frozenset()
    """Reviews and ticks that were carried out and answered, by key."""
    paused_by: str = ""
    """Who stopped everything; empty: nobody."""
    failures: int = 0
    """Attempts in a row, of all convoys, that brought no work."""
    unknown: tuple[str, ...] = ()
    """Types of bot events this version does not know; while any is here, read only."""

    def running(self) -> Iterator[tuple[Convoy, Task]]:
        """Give each task that has a session, with its convoy.

        Also one that was dropped or blocked, as long as its session has not ended.
        """
        for convoy in self.convoys.values():
            for task in (*((convoy.mayor,) if convoy.mayor else ()), *convoy.tasks):
                if task.attempt is not None:
                    yield convoy, task

    def live(self) -> Iterator[Convoy]:
        """Give each convoy that has not ended, oldest first."""
        return (convoy for convoy in self.convoys.values() if not convoy.ended)
