"""What the shell asks the rules: imperatives, with all outside facts on them."""

from msgspec import Struct

from convoy.events import (
    Cause,
    Opinion,
    Overlap,
    Reaction,
    Report,
    Settings,
    TaskSpec,
    Usage,
)
from convoy.notes import Left


class StartBot(Struct, frozen=True, kw_only=True):
    """Let this actor speak for a bot."""

    actor: str
    version: str


class RequestConvoy(Struct, frozen=True, kw_only=True):
    """Accept an issue; the asker's right was checked by the shell."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    base: str
    settings: Settings
    pattern: str = ""
    """The template that is its plan; the shell has compiled it once."""
    inputs: dict[str, str] = {}


class PlanConvoy(Struct, frozen=True, kw_only=True):
    """Take a checked plan."""

    convoy: str
    planner: str
    tasks: tuple[TaskSpec, ...]
    attempt: int = 0
    """The planning session's that answered with it; 0: none did."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    """What who reads the plan should know."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of the tasks may collide."""


class FailConvoy(Struct, frozen=True, kw_only=True):
    """Give the convoy up; what is not merged is dropped."""

    convoy: str
    why: str
    by: str = ""
    """The person who wants it so; empty: nobody does."""


class ApprovePlan(Struct, frozen=True, kw_only=True):
    """A person wants the plan carried out."""

    convoy: str
    by: str
    staged: bool = False
    """Whether the repository's configuration says now that nothing may start."""


class ApproveWork(Struct, frozen=True, kw_only=True):
    """A person approves a task's work, at this commit or one that begins like it."""

    convoy: str
    task: int
    commit: str
    by: str


class VoidApproval(Struct, frozen=True, kw_only=True):
    """Who approved may not approve any more."""

    convoy: str
    task: int
    by: str
    why: str


class RankConvoy(Struct, frozen=True, kw_only=True):
    """A person wants the convoy before or behind others."""

    convoy: str
    priority: int
    by: str


class PauseAll(Struct, frozen=True, kw_only=True):
    """A person wants nothing new to start or to be accepted."""

    by: str


class ResumeAll(Struct, frozen=True, kw_only=True):
    """A person lets everything go on."""

    by: str


class PauseConvoy(Struct, frozen=True, kw_only=True):
    """Start nothing new."""

    convoy: str
    by: str
    why: str = ""


class ResumeConvoy(Struct, frozen=True, kw_only=True):
    """Go on."""

    convoy: str
    by: str


class StartTask(Struct, frozen=True, kw_only=True):
    """Begin the next attempt; `session` and `nonce` are fresh random hex."""

    convoy: str
    task: int
    base: str
    session: str
    nonce: str
    now: int
    brief: str = ""
    """What a session that looks at work is told of it."""


class StartPlanning(Struct, frozen=True, kw_only=True):
    """Begin the next attempt of task 0; `session` and `nonce` are fresh random hex."""

    convoy: str
    brief: str
    session: str
    nonce: str
    now: int


class RetryTask(Struct, frozen=True, kw_only=True):
    """A person wants a blocked task tried again, with all its attempts."""

    convoy: str
    task: int
    by: str


class ReviseTask(Struct, frozen=True, kw_only=True):
    """A person wants a task's work changed, as the text says."""

    convoy: str
    task: int
    by: str
    text: str


class NoteHeard(Struct, frozen=True, kw_only=True):
    """The running attempt's engine was given so many of the messages for it."""

    convoy: str
    task: int
    attempt: int
    messages: int


class TellTask(Struct, frozen=True, kw_only=True):
    """A person has something to say to the next attempt."""

    convoy: str
    task: int
    by: str
    text: str


class AddTask(Struct, frozen=True, kw_only=True):
    """A person wants one more task; its number is the next one."""

    convoy: str
    spec: TaskSpec
    by: str


class LinkTask(Struct, frozen=True, kw_only=True):
    """A task is to wait for another one."""

    convoy: str
    task: int
    on: int
    by: str = ""
    """The person who wants it so; empty: their work overlaps."""
    why: str = ""


class AssignTask(Struct, frozen=True, kw_only=True):
    """A person wants another engine for a task; None: for all not started yet."""

    convoy: str
    task: int | None
    engine: str
    by: str


class WithdrawMerge(Struct, frozen=True, kw_only=True):
    """A person wants it out of the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class RequestMerge(Struct, frozen=True, kw_only=True):
    """A person wants it in the merge queue again; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class RebaseWork(Struct, frozen=True, kw_only=True):
    """The work `old` was put on another base for a person."""

    convoy: str
    task: int
    old: str
    commit: str
    base: str
    by: str


class HoldWork(Struct, frozen=True, kw_only=True):
    """A label says that nothing of this starts or merges; task 0: the convoy."""

    convoy: str
    task: int
    label: str


class ReleaseWork(Struct, frozen=True, kw_only=True):
    """The label is gone; task 0: the convoy's."""

    convoy: str
    task: int


class BlockTask(Struct, frozen=True, kw_only=True):
    """Only a person can help."""

    convoy: str
    task: int
    why: str
    by: str = ""
    """The person who stopped it; empty: nobody did."""
    splits: bool = False
    """Whether it is too much for one agent."""


class BeginSplit(Struct, frozen=True, kw_only=True):
    """The mayor is to split what was too much for one agent."""

    convoy: str
    task: int


class SplitTask(Struct, frozen=True, kw_only=True):
    """An attempt at a split ended in parts that fit; the shell has checked them."""

    convoy: str
    task: int
    """The split's own number."""
    attempt: int
    parts: tuple[TaskSpec, ...]
    usage: Usage = Usage()


class CallPeople(Struct, frozen=True, kw_only=True):
    """Something waits for a person: say so."""

    convoy: str
    text: str
    now: int
    """Unix ms."""
    notice: str = ""
    """The same for a webhook, in plain text."""


class DeferTask(Struct, frozen=True, kw_only=True):
    """The day's money is spent: the task waits until then (unix ms)."""

    convoy: str
    task: int
    until: int
    why: str


class DropTask(Struct, frozen=True, kw_only=True):
    """A person does not want the task any more."""

    convoy: str
    task: int
    why: str


class NoteTask(Struct, frozen=True, kw_only=True):
    """An attempt's agent noted something for others; the shell has cleaned it."""

    convoy: str
    task: int
    attempt: int
    left: Left


class AcceptWork(Struct, frozen=True, kw_only=True):
    """The gate let the attempt's commits through."""

    convoy: str
    task: int
    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    usage: Usage = Usage()


class AcceptNothing(Struct, frozen=True, kw_only=True):
    """There was nothing to do, and the acceptance command agrees."""

    convoy: str
    task: int
    attempt: int
    usage: Usage = Usage()


class AcceptReport(Struct, frozen=True, kw_only=True):
    """The attempt ended in a report that fits; the shell has judged and cleaned it."""

    convoy: str
    task: int
    attempt: int
    report: Report
    usage: Usage = Usage()


class AcceptReview(Struct, frozen=True, kw_only=True):
    """The attempt ended in a verdict on another task's work."""

    convoy: str
    task: int
    attempt: int
    verdict: Opinion
    text: str = ""
    usage: Usage = Usage()


class ProveTests(Struct, frozen=True, kw_only=True):
    """CI found the tests red, and there is no code for them yet."""

    convoy: str
    task: int
    commit: str
    judged: tuple[str, ...]


class ProveRival(Struct, frozen=True, kw_only=True):
    """CI found a rival's work green as it is."""

    convoy: str
    task: int
    commit: str
    judged: tuple[str, ...]
    lines: int


class MakeChoice(Struct, frozen=True, kw_only=True):
    """A rival is to land: an attempt judged so, or it is the only one left."""

    convoy: str
    task: int
    """The choice's own number."""
    attempt: int = 0
    """0: nobody judged."""
    on: int = 0
    """The rival; 0: the only one left."""
    text: str = ""
    usage: Usage = Usage()


class RefuseWork(Struct, frozen=True, kw_only=True):
    """The attempt ended without work that may land."""

    convoy: str
    task: int
    attempt: int
    cause: Cause
    why: str
    now: int = 0
    """Of an outage."""
    asked_s: float = 0.0
    """Of an outage: how long the model's vendor wants to be left alone."""
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""
    splits: bool = False
    """Whether it was too much for one agent."""


class LoseSession(Struct, frozen=True, kw_only=True):
    """The session ended and left no result."""

    convoy: str
    task: int
    attempt: int
    cause: Cause
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""


class AttemptMerge(Struct, frozen=True, kw_only=True):
    """A candidate was built; task 0 is the convoy itself."""

    convoy: str
    task: int
    candidate: str
    base: str
    work: str


class FailMerge(Struct, frozen=True, kw_only=True):
    """The work conflicts with what is landed, or CI found the candidate red."""

    convoy: str
    task: int
    candidate: str | None
    cause: Cause
    why: str


class LandMerge(Struct, frozen=True, kw_only=True):
    """CI judged the candidate green; the same push moves the branch to it."""

    convoy: str
    task: int
    candidate: str
    judged: tuple[str, ...]


class TakeLease(Struct, frozen=True, kw_only=True):
    """A person wants a resource for themselves; the shell has checked its form."""

    resource: str
    holder: str
    nonce: str
    now: int
    ttl_s: int


class RenewLease(Struct, frozen=True, kw_only=True):
    """The holder wants to keep it for `ttl_s` from `now`."""

    resource: str
    holder: str
    nonce: str
    now: int
    ttl_s: int


class FreeLease(Struct, frozen=True, kw_only=True):
    """The holder gives it up."""

    resource: str
    holder: str
    nonce: str


class ExpireLease(Struct, frozen=True, kw_only=True):
    """It has run out."""

    resource: str
    nonce: str
    now: int


class Answer(Struct, frozen=True, kw_only=True):
    """What a comment asked for has been decided; tell its author."""

    issue: int
    comment: int = 0
    """0: it was no comment, but what `sign` names."""
    sign: str = ""
    """A review or a tick: see `ids.sign_key`."""
    reaction: Reaction = ""
    text: str


class NoteDone(Struct, frozen=True, kw_only=True):
    """An announced action was done (or found done) on the forge."""

    key: str
    number: int


Command = (
    StartBot
    | RequestConvoy
    | PlanConvoy
    | ApprovePlan
    | ApproveWork
    | VoidApproval
    | RankConvoy
    | FailConvoy
    | PauseAll
    | ResumeAll
    | PauseConvoy
    | ResumeConvoy
    | StartTask
    | StartPlanning
    | BlockTask
    | BeginSplit
    | SplitTask
    | DeferTask
    | CallPeople
    | RetryTask
    | ReviseTask
    | TellTask
    | NoteHeard
    | AddTask
    | LinkTask
    | AssignTask
    | DropTask
    | NoteTask
    | AcceptWork
    | AcceptNothing
    | AcceptReport
    | AcceptReview
    | ProveTests
    | ProveRival
    | MakeChoice
    | RefuseWork
    | LoseSession
    | AttemptMerge
    | FailMerge
    | LandMerge
    | WithdrawMerge
    | RequestMerge
    | RebaseWork
    | HoldWork
    | ReleaseWork
    | Answer
    | NoteDone
    | TakeLease
    | RenewLease
    | FreeLease
    | ExpireLease
)
