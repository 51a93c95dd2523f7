"""What happens to a task."""

from typing import Literal

from convoy.events.parts import (
    Cause,
    EngineSpec,
    Fact,
    Followup,
    Gate,
    Kind,
    Limits,
    Report,
    TaskSpec,
    Usage,
)


class TaskQueued(Fact, frozen=True, kw_only=True, tag="task.queued"):
    """The task waits for a session; `why` is told to the next attempt."""

    convoy: str
    task: int
    cause: Cause
    why: str = ""
    not_before: int = 0
    """It does not start earlier (unix ms): the model's vendor wants some rest."""


class TaskStarted(Fact, frozen=True, kw_only=True, tag="task.started"):
    """Everything the runner needs for one attempt; its chunk is the hand-off."""

    convoy: str
    task: int
    attempt: int
    """From 1, counted from the log."""
    session: str
    """The actor that may speak for this attempt: 32 hex digits."""
    nonce: str
    """In the run's name, so that a run whose id was lost is found again."""
    base: str
    """The commit the work starts from."""
    root: str = ""
    """What the whole work is measured from, when it goes on from earlier work."""
    salvaged: int = 0
    """The earlier attempt whose half-done work `base` is; 0: none."""
    branch: str
    """Where the bot will push the work."""
    title: str
    instructions: str
    kind: Kind | Literal["plan"] = "work"
    """`plan`: it changes nothing, and its answer is the convoy's plan."""
    brief: str = ""
    """What a session that is to answer is told beside its instructions; ours."""
    notes: tuple[str, ...] = ()
    """Why earlier attempts did not land, oldest first."""
    handed: tuple[str, ...] = ()
    """What the agents of tasks it builds on, and of its last attempt, noted for it."""
    scratchpad: tuple[str, ...] = ()
    """What the convoy's agents noted for each other, oldest first."""
    followups: bool = True
    """Whether its agent is asked for further work that it sees."""
    acceptance: str = ""
    """What the runner runs on the work; it is accepted where that exits with 0."""
    engine: EngineSpec
    limits: Limits
    gate: Gate
    egress: tuple[str, ...] | None = None
    """The only hosts that its agent may reach; null: none where the key proxy takes it
    to its model, else all."""


class TaskNoted(Fact, frozen=True, kw_only=True, tag="task.noted"):
    """An attempt's agent noted something for others, of any kind at most so much."""

    convoy: str
    task: int
    attempt: int
    notes: tuple[str, ...] = ()
    """For the tasks that build on this one, and its own next attempt; cleaned."""
    shared: tuple[str, ...] = ()
    """For every agent of the convoy: lines of its scratchpad; cleaned."""
    followups: tuple[Followup, ...] = ()


class TaskReported(Fact, frozen=True, kw_only=True, tag="task.reported"):
    """An attempt ended in a report that fits; beside it the task is merged."""

    convoy: str
    task: int
    attempt: int
    report: Report
    """What its agent found out, cleaned."""


class TaskBlocked(Fact, frozen=True, kw_only=True, tag="task.blocked"):
    """A person must act."""

    convoy: str
    task: int
    why: str
    cause: Cause | None = None
    """What its last attempt met; null: a person or a rule stopped it."""
    splits: bool = False
    """Whether it was too much for one agent: smaller tasks may do what it could not."""


class TaskMerged(Fact, frozen=True, kw_only=True, tag="task.merged"):
    """The task's work is on the convoy's branch (or there was nothing to do)."""

    convoy: str
    task: int
    commit: str | None = None
    usage: Usage = Usage()


class TaskDropped(Fact, frozen=True, kw_only=True, tag="task.dropped"):
    """The task will not be done."""

    convoy: str
    task: int
    why: str


class TaskAdded(Fact, frozen=True, kw_only=True, tag="task.added"):
    """A person adds a task to the plan."""

    convoy: str
    spec: TaskSpec
    """As if it had been planned."""
    by: str


class TaskSplit(Fact, frozen=True, kw_only=True, tag="task.split"):
    """A task becomes several; what waited for it waits for all of them."""

    convoy: str
    task: int
    """What is split; beside this it is dropped."""
    by: int
    """The task whose agent planned the parts."""
    parts: tuple[TaskSpec, ...]
    """The tasks that it becomes, in the order of their numbers."""


class TaskLinked(Fact, frozen=True, kw_only=True, tag="task.linked"):
    """The task waits until another one is merged, too."""

    convoy: str
    task: int
    on: int
    """The other task's number."""
    by: str
    """Empty: the bot, since their work overlaps."""
    why: str = ""
    """The reason, when the bot did it by itself."""


class TaskAssigned(Fact, frozen=True, kw_only=True, tag="task.assigned"):
    """Another engine takes the task's next attempts."""

    convoy: str
    task: int
    engine: str
    """A name in the convoy's engines."""
    by: str


class TaskTold(Fact, frozen=True, kw_only=True, tag="task.told"):
    """A person has something to say to who does the task: now, and from now on."""

    convoy: str
    task: int
    by: str
    text: str
    """What is said, cleaned."""


class TaskHeard(Fact, frozen=True, kw_only=True, tag="task.heard"):
    """The engine of the running attempt was given what people said meanwhile."""

    convoy: str
    task: int
    attempt: int
    messages: int
    """How many so far of those that were said while the attempt runs."""


class TaskApproved(Fact, frozen=True, kw_only=True, tag="task.approved"):
    """Somebody approves the task's work as it is at this commit."""

    convoy: str
    task: int
    commit: str
    by: str


class ApprovalVoided(Fact, frozen=True, kw_only=True, tag="approval.voided"):
    """An approval does not count any more, though the work is the same."""

    convoy: str
    task: int
    by: str
    """Whose approval it was."""
    why: str
