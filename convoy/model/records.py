"""The records that events are made of, and the words that their fields may hold.

Also the kinds of task by name; `convoy.kinds` has a row for each.
"""

import math
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from convoy.model.engine_types import ENGINE_TYPES, PROVIDERS, Provider

Kind = Literal[
    "work", "report", "scout", "review", "tests", "rival", "choice", "split", "sync"
]
"""What a task is for; docs/workflows.md says what each kind does."""


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
"""Why a task is in the queue: what is not in `FREE` costs an attempt."""
FREE: Final[frozenset[Cause]] = frozenset(
    {"planned", "outage", "setup", "spent", "retry", "conflict"}
)
"""Causes of a return to the queue that cost no attempt; conflicts have their own
limit."""

Reaction = Literal["", "rocket", "confused", "-1"]
Approve = Literal["auto", "plan"]
BoxSetting = Literal["on", "off"]
Opinion = Literal["approve", "changes"]
"""A review's verdict."""
Verdict = Literal["success", "failure", "noop", "cancelled", "timed_out"]
"""The witness's report on a session; the agent's own is never taken for it."""


class Wait(Struct, frozen=True):
    """Why a task waits for another one, if its planner did not require it."""

    on: int
    """The other task's number."""
    why: str
    overlap: bool = False
    """Whether the wait ends if the other task is dropped, for example because both
    touch the same files."""


class TaskSpec(Struct, frozen=True, kw_only=True):
    """One task as planned."""

    number: int
    """The task's number, from 1; 0 is the plan itself."""
    title: str
    instructions: str
    after: tuple[int, ...] = ()
    """Numbers of the tasks that must be merged first."""
    paths: tuple[str, ...] = ()
    """The paths it expects to touch; a folder ends in a slash. Empty: not declared."""
    needs: tuple[str, ...] = ()
    """Resources such as `port:5432` or `service:mail`."""
    engine: str = "default"
    """The name of one of the convoy's engines."""
    why: str = ""
    """The planner's reason for this task and its engine."""
    waits: tuple[Wait, ...] = ()
    """Why it waits for tasks that are not in its own plan."""
    kind: Kind = "work"
    on: tuple[int, ...] = ()
    """The task whose work it reviews or continues; both are merged together. For a
    choice: the rivals; for a split in an old log: the task that was split."""
    rounds: int = 2
    """How often a review may ask for changes."""
    part_of: int = 0
    """The task that was split into this one and others; 0: none."""
    acceptance: str = ""
    """A shell command that exits with 0 when the task is done; empty: none."""
    takes: str = ""
    """For a sync: the branch that it merges in; empty: the convoy's target."""

    def overlaps(self, on: int) -> bool:
        """Whether it waits for another task only because both touch the same."""
        return any(wait.on == on and wait.overlap for wait in self.waits)

    def waiting(self, on: int, why: str, *, overlap: bool) -> "TaskSpec":
        """Return it as it waits for another task, too; `overlap`: see `Wait`."""
        after = tuple(sorted({*self.after, on}))
        return replace(self, after=after, waits=(*self.waits, Wait(on, why, overlap)))

    def because(self, on: int) -> str:
        """Return why it waits for a task that it is to wait for."""
        why = (wait.why for wait in self.waits if wait.on == on)
        return next(why, "the plan says so")


class NamedIssue(Struct, frozen=True):
    """An issue that became a task because a list names it or it is a sub-issue.

    It comes only from what the forge reports about an issue, never from text.
    """

    task: int
    """The number of its task."""
    issue: int


class SubIssue(Struct, frozen=True, kw_only=True):
    """An open sub-issue as it was on the forge when the plan took it in.

    It comes only from what the forge reports about it, never from text.
    """

    issue: int
    title: str
    text: str = ""
    """Its body, cleaned."""
    step_of: int = 0
    """The sub-issue that it is a step of; 0: it belongs to the issue directly."""
    after: tuple[int, ...] = ()
    """The open issues that block it, sorted."""
    away: str = ""
    """An open issue of another repository that blocks it, such as `octo/app#7`."""
    labels: tuple[str, ...] = ()
    """The names of its labels."""
    kept_by: str = ""
    """The person it is assigned to; empty: no one."""
    closed: Literal["", "completed", "not_planned"] = ""
    """How it has been closed since then; empty: it is open."""


class GivenPull(Struct, frozen=True, kw_only=True):
    """A pull request that someone else opened and handed to brat.

    It comes only from what the forge reports about it, never from text.
    """

    number: int
    """The pull request's number."""
    head: str
    """The commit that was handed over; a newer one must be handed over again."""
    branch: str
    """Its branch in this repository; empty: it is in a fork."""
    author: str
    """Who opened it."""
    lands: bool
    """Whether it should land; otherwise an agent works on its branch."""

    @property
    def verb(self) -> str:
        """The word by which somebody gave it."""
        return "land" if self.lands else "fix"


class Finding(Struct, frozen=True, kw_only=True):
    """One finding of a report."""

    title: str
    detail: str = ""
    paths: tuple[str, ...] = ()
    """The files or folders that show it."""


class Report(Struct, frozen=True, kw_only=True):
    """What a task that changes nothing found out, in its agent's words, cleaned."""

    summary: str
    findings: tuple[Finding, ...] = ()
    recommendation: str = ""
    open: tuple[str, ...] = ()
    """The questions it could not answer."""


class Price(Struct, frozen=True, kw_only=True):
    """What a model's tokens cost, in US dollars per million."""

    input: float
    output: float
    cached: float | None = None


TOKENS_MOST: Final = 10**12
USD_MOST: Final = 1_000_000.0
"""More than any session or convoy can use."""
_DIGITS: Final = 6
"""Decimals of a dollar: one token's cost at a dollar per million."""


class Usage(Struct, frozen=True, kw_only=True):
    """What sessions used, according to their engines; 0: nothing, or not reported."""

    input_tokens: int = 0
    """Tokens the model read, excluding those from its vendor's cache."""
    cached_tokens: int = 0
    """Tokens read from the vendor's cache."""
    output_tokens: int = 0
    """Tokens the model wrote."""
    unpriced_tokens: int = 0
    """How many of all these tokens have no known price and are not in `usd`."""
    usd: float = 0.0
    """The cost in US dollars: the engine's own figure, or computed from `price`."""

    def __add__(self, other: "Usage") -> "Usage":
        more = asdict(other)
        return Usage(**{k: n + more[k] for k, n in asdict(self).items()}).bounded

    @property
    def bounded(self) -> "Usage":
        """The figures, each kept in bounds; what is not a number counts as 0."""
        figures = asdict(self)
        usd = figures.pop("usd")
        usd = 0.0 if math.isnan(usd) else min(max(0.0, usd), USD_MOST)
        counts = {name: min(max(0, n), TOKENS_MOST) for name, n in figures.items()}
        return Usage(**counts, usd=round(usd, _DIGITS))

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cached_tokens + self.output_tokens


class Estimate(Struct, frozen=True, kw_only=True):
    """What a plan will probably use: the median of what earlier tasks used."""

    usd: float | None = None
    """The cost in US dollars; null: no price is known."""
    seconds: float | None = None
    """The total time of all sessions; null: unknown for one of the engines."""
    tasks: int = 0
    """How many earlier tasks it is based on; 0: the cost is a guess from prices."""


class Scope(Struct, frozen=True, kw_only=True):
    """A task's declared paths at the commit that the plan starts from."""

    task: int
    creates: tuple[str, ...] = ()
    """The paths that do not exist yet and that the task creates."""


class EngineSpec(Struct, frozen=True, kw_only=True):
    """How to start one kind of agent: the keys of its table, frozen for a convoy."""

    type: str
    model: str | None = None
    args: tuple[str, ...] = ()
    timeout_s: int = 1800
    silence_s: int = 900
    """How many seconds it may print nothing, if it usually prints while it works."""
    max_sessions: int = 8
    secret: str | None = None
    price: Price | None = None
    tools: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    good_at: str = ""
    url: str = ""

    @property
    def provider(self) -> Provider | None:
        """Who serves its model; null: the model's own vendor, or nobody known."""
        known, name = ENGINE_TYPES.get(self.type), (self.model or "").partition("/")[0]
        return PROVIDERS[name] if known and name in known.providers else None

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables of which one must hold its key; empty: none is known."""
        if self.secret or self.provider:
            return (self.secret or (self.provider and self.provider.key) or "",)
        known = ENGINE_TYPES.get(self.type)
        return known.keys if known else ()


class Limits(Struct, frozen=True, kw_only=True):
    """What one attempt may use."""

    output_bytes: int = 10_000_000
    patch_files: int = 300
    patch_bytes: int = 2_000_000
    setup_s: int = 600
    """How long `.brat/setup.sh` may take; the engine's own time starts after it."""
    acceptance_s: int = 600
    """How long the task's acceptance command may take, after the engine's own time."""
    checkpoint_s: int = 120
    """How often, in seconds, its work in progress is saved if changed; 0: never."""
    model_calls: int = 1_000
    """How many calls to its model it may make, if the key proxy counts them."""
    tokens: int = 50_000_000
    """How many tokens those calls may use, including the vendor's cache."""
    usd: float | None = None
    """What those calls may cost at the engine's price; null: no limit."""


class Budget(Struct, frozen=True, kw_only=True):
    """What may be spent, in US dollars; only known costs count."""

    task: float | None = None
    """For one task; null: no limit."""
    convoy: float | None = None
    """For the whole convoy; null: no limit."""
    day: float | None = None
    """For all convoys in one day, UTC; null: no limit."""


INSTRUCTIONS = (
    *("AGENTS.md", ".mcp.json", ".envrc", "**/.cursor/**", "**/.husky/**"),
    *("**/.githooks/**",),
    *(".npmrc", "bunfig.toml"),
    *(pattern for each in ENGINE_TYPES.values() for pattern in each.obeys),
)
"""Files that an agent CLI, a shell or a package manager obeys wherever it finds them:
one task could use them to control the next."""


class Gate(Struct, frozen=True, kw_only=True):
    """The files that a patch must not touch (`protected`) or is limited to (`allowed`).

    Patterns as in .gitignore, relative to the repository's top. An empty `allowed`
    allows all files.
    """

    protected: tuple[str, ...] = (
        *(".brat/**", ".github/**", ".git/**", ".gitmodules"),
        *INSTRUCTIONS,
    )
    allowed: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    """Protected files that one task may change because a person allowed it."""
    secrets: tuple[str, ...] = ()
    """Patterns of files that may contain text that looks like a secret."""


HOST: Final = r"\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?"
"""The form of a host that may be reached, with its port; `*`: all of them."""
PLANNER = "planner:"
"""The prefix of a planner plugin's name and type; no engine's name can have it."""


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration a convoy uses; later edits do not change `FROZEN` keys.

    `convoy.config.keys` explains the keys of the file.
    """

    engines: dict[str, EngineSpec]
    strategy: Strategy = "rebase"
    require_ci: bool = True
    checks: tuple[str, ...] = ()
    reporters: dict[str, str] = {}
    attempts: int = 3
    conflicts: Literal["agent", "person"] = "agent"
    rounds: int = 3
    tasks: int = 20
    max_sessions: int = 32
    locks: Literal["off", "warn", "require"] = "require"
    """Whether a task waits for leases on what it declares (`require`), is only told
    about them (`warn`), or ignores them (`off`)."""
    limits: Limits = Limits()
    gate: Gate = Gate()
    planner: str = ""
    """The engine that plans; empty: the issue's own task list is the plan."""
    approve: Approve = "auto"
    approvals: int = 0
    bypass: bool = False
    budget: Budget = Budget()
    egress: tuple[str, ...] | None = None
    setup_hosts: tuple[str, ...] | None = None
    box: BoxSetting = "on"
    failures: int = 20
    staged: bool = False
    """Whether the plan is only shown: nothing starts while this is set."""
    follow: bool = False
    sub_issues: bool = False
    sync: bool = True
    max_parallel: int = 4
    task_pulls: bool = True

    @property
    def workers(self) -> dict[str, EngineSpec]:
        """The engines that tasks may have; a planner plugin is not one."""
        return {n: e for n, e in self.engines.items() if not n.startswith(PLANNER)}
