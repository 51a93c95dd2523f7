"""What events are made of: records, and the words that their fields may hold."""

from typing import Literal

from msgspec import Struct

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
