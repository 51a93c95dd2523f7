"""Every brat event: what happened, in the past tense, with all that a fold needs.

An event is a frozen struct whose JSON form carries `v` and `type` (noun dot
participle). `Event` is the closed union of what a bot writes and what changes state;
`Claim` is what a session says of itself, imported beside the bot's own events and never
believed by the fold. docs/log-format.md lists all fields; a test keeps it complete.
"""

from typing import Literal

from msgspec import Struct

from convoy.outcome import Outcome

Strategy = Literal["rebase", "squash", "merge"]
Cause = Literal[
    "planned",
    "lost",
    "failed",
    "refused",
    "conflict",
    "red",
    "changes",
    "outage",
    "setup",
    "spent",
    "retry",
]
"""Why a task is in the queue: only `planned`, `outage`, `setup`, `spent` and `retry`
cost no attempt."""

Kind = Literal["work", "report", "scout", "review", "tests", "rival", "choice", "split"]
"""What a task is for; docs/workflows.md says what each kind does."""
Approve = Literal["auto", "plan"]
Followups = Literal["ask", "auto", "off"]
Opinion = Literal["approve", "changes"]
"""What a review comes to."""
Verdict = Literal["success", "failure", "noop", "cancelled", "timed_out"]
"""The witness's word on a session; the agent's own word is never taken for it."""


class Fact(Struct, frozen=True, kw_only=True, tag_field="type"):
    """What every brat event has: the version of its JSON form."""

    v: int = 1


# --- what the facts are made of -----------------------------------------------------


class Wait(Struct, frozen=True):
    """Why a task waits for another one, where it was not its planner who said so."""

    on: int
    """The other task's number."""
    why: str
    overlap: bool = False
    """Whether it could do without the other, as where both touch the same: the wait is
    gone when that is dropped."""


class TaskSpec(Struct, frozen=True, kw_only=True):
    """One task as planned."""

    number: int
    """From 1; 0 is the plan itself."""
    title: str
    instructions: str
    after: tuple[int, ...] = ()
    """Numbers of the tasks that must be merged first."""
    paths: tuple[str, ...] = ()
    """What it expects to touch; a folder ends in a slash. Empty: not declared."""
    needs: tuple[str, ...] = ()
    """Resources such as `port:5432` or `service:mail`."""
    engine: str = "default"
    """A name in the convoy's engines."""
    why: str = ""
    """Why it is a task of its own and has this engine; as its planner says."""
    waits: tuple[Wait, ...] = ()
    """Why it waits for those it did not name itself."""
    follows: int = 0
    """The task whose agent asked for it; 0: it was planned, or a person added it."""
    kind: Kind = "work"
    on: tuple[int, ...] = ()
    """The task whose work it looks at or goes on from; both are merged together. Of a
    choice: the rivals that it is between; of a split: the task that is to be split."""
    rounds: int = 2
    """How often a review may ask for changes."""
    part_of: int = 0
    """The task that was split, of one of its parts; 0: it was none."""
    acceptance: str = ""
    """A shell command that exits with 0 where the task is done; empty: none."""


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that a report says."""

    title: str
    detail: str = ""
    paths: tuple[str, ...] = ()
    """The files or folders that show it."""


class Report(Struct, frozen=True, kw_only=True):
    """What a task found out that changes nothing; an agent's words, cleaned."""

    summary: str
    findings: tuple[Finding, ...] = ()
    recommendation: str = ""
    open: tuple[str, ...] = ()
    """What it could not find out."""


class Overlap(Struct, frozen=True, kw_only=True):
    """Two tasks that may run at once, and how likely their work collides."""

    one: int
    other: int
    chance: float
    """From 0 to 1: a guess from their paths and from earlier history."""
    files: tuple[str, ...] = ()
    """Where they may meet, the likeliest first."""


class Followup(Struct, frozen=True, kw_only=True):
    """Further work that an agent saw and was not asked for."""

    title: str
    added: int = 0
    """The task that it became by itself; 0: none."""
    why: str = ""
    """Why it became none, where it was to."""


class Price(Struct, frozen=True, kw_only=True):
    """What a model's tokens cost, in US dollars per million."""

    input: float
    """Of what the model reads."""
    output: float
    """Of what the model writes."""
    cached: float | None = None
    """Of what it reads from its vendor's cache; null: as much as `input`."""


class Usage(Struct, frozen=True, kw_only=True):
    """What sessions used, as their engines say; 0: nothing, or nothing was said."""

    input_tokens: int = 0
    """Read by the model, without those from its vendor's cache."""
    cached_tokens: int = 0
    """Read from the vendor's cache."""
    output_tokens: int = 0
    """Written by the model."""
    unpriced_tokens: int = 0
    """Those of all these whose price is not known: `usd` says nothing of them."""
    usd: float = 0.0
    """Money, in US dollars: as the engine reckons it, else by its `price`."""


class Estimate(Struct, frozen=True, kw_only=True):
    """What tasks may cost, if each takes one attempt."""

    usd: float
    attempts: int = 0
    """Earlier ones of the same engines that it goes by; 0: it is a guess by price."""


class EngineSpec(Struct, frozen=True, kw_only=True):
    """How to start one kind of agent, frozen when the convoy was accepted."""

    type: str
    model: str | None = None
    args: tuple[str, ...] = ()
    """For `shell` the whole argument vector, else what is added to the engine's own."""
    timeout_s: int = 1800
    silence_s: int = 900
    """How long it may say nothing, if it is of a kind that talks while it works."""
    max_sessions: int = 8
    secret: str | None = None
    """The variable of the job's environment that holds the model's key; None: the one
    that is usual for the engine."""
    price: Price | None = None
    """What its tokens cost, where the engine does not say; null: not known."""
    tools: tuple[str, ...] = ()
    """The only tools it may use, in its own words; empty: all it has."""
    good_at: str = ""
    """What the planner is told of it; empty: what is known of its type."""


class Limits(Struct, frozen=True, kw_only=True):
    """What one attempt may use."""

    output_bytes: int = 10_000_000
    patch_files: int = 300
    patch_bytes: int = 2_000_000
    setup_s: int = 600
    """How long `.brat/setup.sh` may take, before the engine's own time begins."""
    acceptance_s: int = 600
    """How long the task's acceptance command may take, after the engine's own time."""
    checkpoint_s: int = 120
    """How often its work is kept while it works, where it changed; 0: never."""
    model_calls: int = 1_000
    """How often it may call its model, where a proxy counts."""
    tokens: int = 50_000_000
    """How many tokens these may take, with those from the vendor's cache."""
    usd: float | None = None
    """What they may cost, by the engine's price; null: as much as it takes."""


class Budget(Struct, frozen=True, kw_only=True):
    """What may be spent, in US dollars; what is known of it decides what starts."""

    task: float | None = None
    """By one task; null: as much as it takes."""
    convoy: float | None = None
    """By the whole convoy; null: as much as it takes."""
    day: float | None = None
    """By all convoys in a day, UTC; null: as much as they take."""


INSTRUCTIONS = (
    *("AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONVENTIONS.md", ".mcp.json", ".envrc"),
    *(".claude/**", ".codex/**", ".gemini/**", ".cursor/**", ".continue/**"),
    *(".opencode/**", "opencode.json", ".aider*", ".husky/**", ".githooks/**"),
    *(".npmrc", "bunfig.toml"),
)
"""Files that an agent CLI, a shell or a package manager obeys where it finds them: a
convoy's next task would start with what the one before had put there."""


class Gate(Struct, frozen=True, kw_only=True):
    """What a patch may not touch (`protected`), or only may (`allowed`; empty: all).

    Patterns as in .gitignore, relative to the repository's top.
    """

    protected: tuple[str, ...] = (
        *(".brat/**", ".github/**", ".git/**", ".gitmodules"),
        *INSTRUCTIONS,
    )
    allowed: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Patterns of files that may hold what looks like a secret."""


PLANNER = "planner:"
"""How name and type begin of what plans and is a plugin; no engine's name can."""

Occasion = Literal["intervention", "completion"]
"""What a webhook is told of: something waits for a person; a convoy has landed."""


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration a convoy was accepted with; later edits do not change it."""

    engines: dict[str, EngineSpec]
    strategy: Strategy = "rebase"
    require_ci: bool = True
    checks: tuple[str, ...] = ()
    """Names of the checks that must be green; empty: all there are, at least one."""
    attempts: int = 3
    tasks: int = 20
    max_sessions: int = 32
    locks: Literal["off", "warn", "require"] = "require"
    """Whether a task waits for leases on what it declares (`require`), is told of them
    (`warn`), or neither looks nor takes any (`off`)."""
    limits: Limits = Limits()
    gate: Gate = Gate()
    planner: str = ""
    """The engine that plans; empty: the issue's own task list is the plan."""
    approve: Approve = "auto"
    """Whether a person has to approve the plan before anything starts (`plan`)."""
    approvals: int = 0
    """How many people, other than who asked for it, must approve a task's work."""
    budget: Budget = Budget()
    egress: tuple[str, ...] | None = None
    """The only hosts that agents may reach; null: none for those whose model the key
    proxy reaches, all for others."""
    failures: int = 20
    """After so many attempts in a row that failed, of all convoys, it pauses."""
    staged: bool = False
    """Whether the plan is only shown: nothing starts until that is taken back."""
    followups: Followups = "ask"
    """What becomes of further work that agents see: it is shown (`ask`), becomes a task
    by itself (`auto`), or nobody asks for it (`off`)."""
    notify: tuple[Occasion, ...] = ()
    """When a webhook is told, if the bot has one."""
    splitter: str = ""
    """The engine that splits a task which was too much for one agent; empty: it waits
    for a person."""

    @property
    def workers(self) -> dict[str, EngineSpec]:
        """The engines that tasks may have: a plugin that plans does nothing else."""
        return {n: e for n, e in self.engines.items() if not n.startswith(PLANNER)}


# --- the repository -------------------------------------------------------------------


class BotStarted(Fact, frozen=True, kw_only=True, tag="bot.started"):
    """The event's actor speaks for a bot from here on."""

    version: str


class RepositoryPaused(Fact, frozen=True, kw_only=True, tag="repository.paused"):
    """A person stops everything: nothing new starts or is accepted."""

    by: str


class RepositoryResumed(Fact, frozen=True, kw_only=True, tag="repository.resumed"):
    """A person lets everything go on."""

    by: str


# --- convoys ------------------------------------------------------------------------


class ConvoyRequested(Fact, frozen=True, kw_only=True, tag="convoy.requested"):
    """An issue was accepted; its text is frozen here."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    """The branch it lands on, without refs/heads/."""
    base: str
    """The target's tip when it was accepted; convoy/<name>/base starts there."""
    settings: Settings
    pattern: str = ""
    """The template that is its plan, read from `base`; empty: none is."""
    inputs: dict[str, str] = {}
    """What was said to fill the template."""


class ConvoyPlanned(Fact, frozen=True, kw_only=True, tag="convoy.planned"):
    """The plan: it makes the convoy active."""

    convoy: str
    planner: str
    tasks: tuple[TaskSpec, ...]
    estimate: Estimate | None = None
    """What its tasks may cost; null: no price is known."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of its tasks may collide, the likeliest first."""
    warnings: tuple[str, ...] = ()
    """What who reads the plan should know, each a sentence without its full stop."""


class ConvoyApproved(Fact, frozen=True, kw_only=True, tag="convoy.approved"):
    """The plan may be carried out: the convoy, which waited for this, is active."""

    convoy: str
    by: str


class ConvoyPaused(Fact, frozen=True, kw_only=True, tag="convoy.paused"):
    """Nothing new starts until it is resumed."""

    convoy: str
    by: str
    why: str = ""
    """The reason, when the bot did it by itself."""


class ConvoyResumed(Fact, frozen=True, kw_only=True, tag="convoy.resumed"):
    """It goes on."""

    convoy: str
    by: str


class ConvoyRanked(Fact, frozen=True, kw_only=True, tag="convoy.ranked"):
    """It goes before or behind others."""

    convoy: str
    priority: int
    """From 0, which is first, to 2; a convoy begins with 1."""
    by: str


class ConvoyCompleted(Fact, frozen=True, kw_only=True, tag="convoy.completed"):
    """Its pull request has landed."""

    convoy: str
    commit: str


class ConvoyFailed(Fact, frozen=True, kw_only=True, tag="convoy.failed"):
    """It was cancelled, could not be planned, or nothing can move any more."""

    convoy: str
    why: str


class PeopleCalled(Fact, frozen=True, kw_only=True, tag="people.called"):
    """People know that this waits for them: a comment says so, or they did it."""

    convoy: str
    needs: tuple[str, ...]
    """Each with a key of its own, such as `blocked/3/2`."""


# --- tasks --------------------------------------------------------------------------


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


# --- work and sessions, as the bot sees them ------------------------------------------


class WorkAccepted(Fact, frozen=True, kw_only=True, tag="work.accepted"):
    """The gate let the attempt's commits through; the same push moves the branch."""

    convoy: str
    task: int
    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    usage: Usage = Usage()


class WorkRefused(Fact, frozen=True, kw_only=True, tag="work.refused"):
    """The attempt ended without work that may land."""

    convoy: str
    task: int
    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""


class WorkReviewed(Fact, frozen=True, kw_only=True, tag="work.reviewed"):
    """An attempt at a review gave its verdict on another task's work."""

    convoy: str
    task: int
    """The review's own number."""
    attempt: int
    on: int
    """The other task's."""
    commit: str
    """The work as it was looked at."""
    verdict: Opinion
    text: str = ""
    """What is to be changed, or what else the reviewer has to say; cleaned."""
    usage: Usage = Usage()


class TestsProven(Fact, frozen=True, kw_only=True, tag="tests.proven"):
    """CI found tests red before there is code, as they should be."""

    convoy: str
    task: int
    commit: str
    """The work that holds them."""
    judged: tuple[str, ...]
    """The checks that CI reported on it."""


class WorkProven(Fact, frozen=True, kw_only=True, tag="work.proven"):
    """CI found a rival's work green as it is: it can be chosen."""

    convoy: str
    task: int
    commit: str
    """The work."""
    judged: tuple[str, ...]
    """The checks that judged it; `("none",)` where CI is not required."""
    lines: int
    """How many lines it adds and takes away."""


class ChoiceMade(Fact, frozen=True, kw_only=True, tag="choice.made"):
    """One of several rivals is to land; beside it all others are dropped."""

    convoy: str
    task: int
    """The choice's own number."""
    attempt: int
    """The one that judged; 0: nobody had to."""
    on: int
    """The rival that is chosen."""
    commit: str
    """Its work."""
    text: str
    """Why this one; of a judge: cleaned."""
    usage: Usage = Usage()


class WorkRebased(Fact, frozen=True, kw_only=True, tag="work.rebased"):
    """A person had the work put on a newer base; the same push moves the branch."""

    convoy: str
    task: int
    commit: str
    base: str
    by: str


class WorkHeld(Fact, frozen=True, kw_only=True, tag="work.held"):
    """A label says that nothing of this starts or merges; task 0: the convoy."""

    convoy: str
    task: int
    label: str
    """The label, such as `brat:hold`."""


class WorkReleased(Fact, frozen=True, kw_only=True, tag="work.released"):
    """The label is gone; task 0: the convoy's."""

    convoy: str
    task: int


class SessionLost(Fact, frozen=True, kw_only=True, tag="session.lost"):
    """The session ended and left no result."""

    convoy: str
    task: int
    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""


# --- merging ------------------------------------------------------------------------


class MergeAttempted(Fact, frozen=True, kw_only=True, tag="merge.attempted"):
    """A candidate was built and pushed for CI to judge; task 0 is the convoy itself."""

    convoy: str
    task: int
    strategy: Strategy
    candidate: str
    base: str
    """The commit the candidate stands on: the branch's tip or the candidate ahead."""
    work: str
    """The commit whose work it carries."""


class MergeFailed(Fact, frozen=True, kw_only=True, tag="merge.failed"):
    """It conflicts, or CI found it red."""

    convoy: str
    task: int
    candidate: str | None
    why: str


class MergeLanded(Fact, frozen=True, kw_only=True, tag="merge.landed"):
    """The branch moved to the candidate, unchanged, in the push that carries this."""

    convoy: str
    task: int
    candidate: str
    branch: str
    judged: tuple[str, ...]
    """The checks that judged the candidate; `("none",)` where CI is not required."""


class MergeWithdrawn(Fact, frozen=True, kw_only=True, tag="merge.withdrawn"):
    """A person takes it out of the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


class MergeRequested(Fact, frozen=True, kw_only=True, tag="merge.requested"):
    """A person puts it back into the merge queue; task 0 is the convoy itself."""

    convoy: str
    task: int
    by: str


# --- leases and actions -------------------------------------------------------------


class LeaseTaken(Fact, frozen=True, kw_only=True, tag="lease.taken"):
    """A resource belongs to `holder` until `expires` (unix ms)."""

    resource: str
    holder: str
    nonce: str
    expires: int


class LeaseFreed(Fact, frozen=True, kw_only=True, tag="lease.freed"):
    """The resource is free again."""

    resource: str
    nonce: str


ActionKind = Literal["dispatch", "pull", "comment", "finish", "answer", "notify"]
Reaction = Literal["", "rocket", "confused", "-1"]


class ActionIntended(Fact, frozen=True, kw_only=True, tag="action.intended"):
    """Something the forge does not make idempotent is about to be done, under a key."""

    key: str
    kind: ActionKind
    convoy: str = ""
    """Empty for an answer that concerns none."""
    task: int = 0
    attempt: int = 0
    issue: int = 0
    """Of an answer: where it is said."""
    comment: int = 0
    """Of an answer: the comment it is about."""
    reaction: Reaction = ""
    """Of an answer: what is put under that comment."""
    text: str = ""
    """Of an answer or a notification: what is said; empty: nothing, or the usual."""


class ActionDone(Fact, frozen=True, kw_only=True, tag="action.done"):
    """It was done; `number` is the run's id, the pull request or the comment."""

    key: str
    number: int


class CommentSaid(Fact, frozen=True, kw_only=True, tag="comment.said"):
    """The convoy's comment stands on the issue and is edited from here on."""

    convoy: str
    issue: int
    comment: int


# --- what a session claims ----------------------------------------------------------


class SessionSpawned(Fact, frozen=True, kw_only=True, tag="session.spawned"):
    """The witness is up and has read its task."""

    convoy: str
    task: int
    attempt: int


class SessionReady(Fact, frozen=True, kw_only=True, tag="session.ready"):
    """The workspace stands at the base commit."""

    convoy: str
    task: int
    attempt: int


class SessionRunning(Fact, frozen=True, kw_only=True, tag="session.running"):
    """The engine's process was started."""

    convoy: str
    task: int
    attempt: int
    engine: str
    argv0: str


class FilesModified(Fact, frozen=True, kw_only=True, tag="files.modified"):
    """What the attempt changed against its base."""

    convoy: str
    task: int
    attempt: int
    paths: tuple[str, ...]


class SessionHandoff(Fact, frozen=True, kw_only=True, tag="session.handoff"):
    """The work is committed and bundled; None: there is none."""

    convoy: str
    task: int
    attempt: int
    commit: str | None


class SessionExited(Fact, frozen=True, kw_only=True, tag="session.exited"):
    """How the engine ended: an exit status, or the signal that ended it."""

    convoy: str
    task: int
    attempt: int
    exit_code: int | None
    signal: int | None
    verdict: Verdict
    outcome: Outcome = "exited"
    """How the session ended; docs/engines.md says what each means."""
    summary: str
    seconds: float


Claim = (
    SessionSpawned
    | SessionReady
    | SessionRunning
    | FilesModified
    | SessionHandoff
    | SessionExited
)

Event = (
    BotStarted
    | RepositoryPaused
    | RepositoryResumed
    | ConvoyRequested
    | ConvoyPlanned
    | ConvoyApproved
    | ConvoyRanked
    | ConvoyPaused
    | ConvoyResumed
    | ConvoyCompleted
    | ConvoyFailed
    | PeopleCalled
    | TaskQueued
    | TaskStarted
    | TaskNoted
    | TaskReported
    | TaskBlocked
    | TaskMerged
    | TaskDropped
    | TaskAdded
    | TaskSplit
    | TaskLinked
    | TaskAssigned
    | TaskTold
    | TaskHeard
    | TaskApproved
    | ApprovalVoided
    | WorkAccepted
    | WorkRefused
    | WorkReviewed
    | TestsProven
    | WorkProven
    | ChoiceMade
    | WorkRebased
    | WorkHeld
    | WorkReleased
    | SessionLost
    | MergeAttempted
    | MergeFailed
    | MergeLanded
    | MergeWithdrawn
    | MergeRequested
    | LeaseTaken
    | LeaseFreed
    | ActionIntended
    | ActionDone
    | CommentSaid
)
