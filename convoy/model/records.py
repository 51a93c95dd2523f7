"""The records that events are made of, and the words that their fields may hold.

Also the kinds of task by name; `convoy.kinds` has a row for each.

A field with a `Key` is what a convoy takes from `.brat/config.toml`. It is the key's
only description: `convoy.config.keys` makes the tables of the file from such fields,
and the documents show the strings under them.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Struct
from msgspec.structs import FieldInfo, asdict, fields, replace

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
"""Why a task is in the queue."""


class CauseMeaning(Struct, frozen=True, kw_only=True):
    costs: bool = False
    """Whether the attempt that ended so counts against the task's limit."""
    gives_back: bool = False
    """Whether it is given back: conflicts and outages have limits of their own."""
    in_a_row: bool = False
    """Whether it counts among the failures in a row that pause all convoys."""
    at_landing: bool = False
    """Whether git or CI was against work that had been handed in."""
    goes_on: bool = False
    """Whether the next attempt continues the half-done work that this one continued:
    it says nothing about that work."""
    is_told: bool = True
    """Whether the next attempt is told why."""
    asked_for: bool = False
    """Whether people want the next attempt, knowing what was spent and tried."""


CAUSES: Final[dict[Cause, CauseMeaning]] = {
    "planned": CauseMeaning(),
    "lost": CauseMeaning(costs=True, in_a_row=True, goes_on=True),
    "failed": CauseMeaning(costs=True, in_a_row=True),
    "refused": CauseMeaning(costs=True, in_a_row=True),
    "conflict": CauseMeaning(gives_back=True, at_landing=True),
    "red": CauseMeaning(costs=True, at_landing=True),
    "changes": CauseMeaning(costs=True, asked_for=True),
    "outage": CauseMeaning(gives_back=True, goes_on=True, is_told=False),
    "setup": CauseMeaning(gives_back=True, goes_on=True, is_told=False),
    "spent": CauseMeaning(is_told=False),
    "retry": CauseMeaning(asked_for=True),
}

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


class Key(Struct, frozen=True):
    """How a field stands in `.brat/config.toml`."""

    table: str = ""
    """Its table there; empty: `Config` works the field out from other keys."""
    name: str = ""
    """Its name there; empty: the field's own."""
    form: str = ""
    """What it may be, in `convoy.config.keys.FORMS`; empty: what the field's type says.
    A log may hold more: what was allowed once."""
    least: int | None = None
    most: int | None = None
    no_default: bool = False
    """Whether the file has no default: what is not in it is worked out."""
    kept: bool = False
    """Whether a convoy keeps it as it was asked for: its form, and what was to be
    approved."""


def keyed(record: type[Struct]) -> Iterator[tuple[FieldInfo, Key]]:
    """Yield the fields of a record that come from the configuration, with names."""
    for field in fields(record):
        for key in getattr(field.type, "__metadata__", ()):
            yield field, replace(key, name=key.name or field.name)


class Price(Struct, frozen=True, kw_only=True):
    """What a model's tokens cost, in US dollars per million."""

    input: Annotated[float, Key("price", form="dollars")]
    """For tokens that the model reads."""
    output: Annotated[float, Key("price", form="dollars")]
    """For tokens that the model writes."""
    cached: Annotated[float | None, Key("price", form="dollars")] = None
    """For tokens read from its vendor's cache; default: as `input`."""


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

    type: Annotated[str, Key("engine", form="engine type")]
    """The program (required). `shell` runs `args` and does not need an account;
    `plugin:NAME` comes from an installed package."""
    model: Annotated[str | None, Key("engine", form="text")] = None
    """The model, as the engine calls it; default: the engine chooses."""
    args: Annotated[tuple[str, ...], Key("engine", form="arguments")] = ()
    """Arguments added to the engine's own; for `shell` the whole command."""
    timeout_s: Annotated[
        int, Key("engine", "timeout", form="seconds", no_default=True)
    ] = 1800
    """The time limit of one attempt; default: `witness.timeout`."""
    silence_s: Annotated[int, Key("engine", "silence", form="seconds")] = 900
    """How long the engine may print nothing before it counts as hung. Does not apply to
    `shell`, `continue` and plugins, which can be silent while they work."""
    secret: Annotated[str | None, Key("engine", form="variable")] = None
    """The variable in the job's environment that holds the model's key; default: the
    engine's usual one."""
    max_sessions: Annotated[int, Key("engine", least=1, most=1000)] = 8
    """How many sessions of this engine may run at once, across all convoys."""
    price: Annotated[Price | None, Key("engine", form="price")] = None
    """What the model's tokens cost, in US dollars per million, with `cached` for those
    from the vendor's cache; used when the engine does not report its cost."""
    tools: Annotated[tuple[str, ...], Key("engine", form="tools")] = ()
    """The only tools that the engine may use, as it calls them (docs/engines.md);
    default: all. {unlimited} cannot limit their tools."""
    allow: Annotated[tuple[str, ...], Key("engine", form="requests")] = ()
    """What the engine may send to its model's vendor beyond what the key proxy allows
    (docs/engines.md)."""
    good_at: Annotated[str, Key("engine", form="text", no_default=True)] = ""
    """What the engine is good at, in a few words for the planner, such as `"tests"`;
    default: what brat knows about its type."""
    url: Annotated[str, Key("engine", form="server", no_default=True)] = ""
    """The server that gets the engine's requests and key instead of its model's vendor
    (docs/engines.md)."""

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
    """What one attempt may use; null: no limit."""

    output_bytes: int = 10_000_000
    patch_files: Annotated[int, Key("gate", "max_files", least=1, most=100_000)] = 300
    """The maximum number of files in one patch."""
    patch_bytes: Annotated[int, Key("gate", "max_bytes", least=1, most=100_000_000)] = (
        2_000_000
    )
    """The maximum size of one patch, in bytes."""
    setup_s: Annotated[int, Key("witness", "setup", form="seconds")] = 600
    """How long `.brat/setup.sh` may take; it runs before each attempt if the repository
    has it."""
    acceptance_s: Annotated[int, Key("witness", "acceptance", form="seconds")] = 600
    """How long a task's acceptance command (`accept:`) may take; it runs after each
    attempt if the task has one."""
    checkpoint_s: Annotated[int, Key("witness", "checkpoint", least=0, most=21_600)] = (
        120
    )
    """How often, in seconds, an agent's work in progress is saved, so that the next
    attempt can continue it if the machine dies; 0: never. See docs/live-feed.md."""
    usd: Annotated[float | None, Key("budget", "attempt", form="dollars")] = None
    """For one attempt: once spent, the attempt is ended and its work kept. This needs
    the engine's `price`, and an engine that can use the key proxy."""
    model_calls: Annotated[int, Key("budget", "calls", least=1, most=100_000)] = 1_000
    """How many model calls one attempt may make, if the key proxy counts them."""
    tokens: Annotated[int, Key("budget", least=1, most=10_000_000_000)] = 50_000_000
    """How many tokens one attempt may use, including those from the vendor's cache."""


class Budget(Struct, frozen=True, kw_only=True):
    """What may be spent, in US dollars; null: no limit. Only known costs count."""

    task: Annotated[float | None, Key("budget", form="dollars")] = None
    """For one task: once spent, the task is not retried automatically."""
    convoy: Annotated[float | None, Key("budget", form="dollars")] = None
    """For a whole convoy: once spent, none of its tasks starts automatically."""
    day: Annotated[float | None, Key("budget", form="dollars")] = None
    """For all convoys in a day, counted when a session ends: once spent, nothing starts
    automatically until midnight UTC."""


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
        *("/CODEOWNERS", "/docs/CODEOWNERS"),
        *INSTRUCTIONS,
    )
    allowed: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    """Protected files that one task may change because a person allowed it."""
    secrets: Annotated[tuple[str, ...], Key("gate", form="patterns")] = ()
    """Files that may contain what looks like a secret, such as made-up keys and tokens
    in tests: patterns as in .gitignore. In any other file it is refused, and the work
    is not pushed."""


HOST: Final = r"\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?"
"""The form of a host that may be reached, with its port; `*`: all of them."""
MOST_TASKS: Final = 500
"""So many tasks one convoy may have, however they are divided."""


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration a convoy uses; later edits do not change `FROZEN` keys."""

    engines: dict[str, EngineSpec]
    limits: Limits = Limits()
    budget: Budget = Budget()
    gate: Annotated[Gate, Key(kept=True)] = Gate()
    staged: Annotated[bool, Key(kept=True)] = False
    """Whether the plan is only shown: nothing starts while this is set."""
    planner: Annotated[str, Key(kept=True)] = ""
    """The engine that plans; empty: the issue's own task list is the plan."""

    # --- how work lands -------------------------------------------------------------
    strategy: Annotated[Strategy, Key("refinery", kept=True)] = "rebase"
    """How a task's commits get onto the convoy's branch."""
    require_ci: Annotated[bool, Key("refinery")] = True
    """Whether CI must be green on a commit before it lands."""
    checks: Annotated[tuple[str, ...], Key("refinery", form="words")] = ()
    """Names of the checks, or contexts of commit statuses, that must be green; default:
    all checks that report. At least one must report."""
    reporters: Annotated[dict[str, str], Key("refinery", form="names")] = {}
    """The App or account that must report a check, by the check's name. Default: the
    App that a ruleset names, otherwise whoever reported the check when it was first
    green. For a workflow's job, the result of its run counts."""
    sync: Annotated[bool, Key("refinery")] = True
    """Whether the target branch is merged into a convoy's branch whenever it moves, so
    that conflicts are found early. Otherwise it is merged only after the last task, and
    before a task that needs a person's work on the target."""
    conflicts: Annotated[Literal["agent", "person"], Key("refinery")] = "agent"
    """Who resolves conflicts with what has landed: the task's agent, which is shown
    both sides (`agent`), or a `person`."""
    rounds: Annotated[int, Key("refinery", least=1, most=20)] = 3
    """How many times a task's work may conflict and be redone before a person is asked;
    this does not use up attempts."""
    approvals: Annotated[int, Key("refinery", least=0, most=6, kept=True)] = 0
    """How many people with write access must approve a task's work before it merges
    (`/brat approve <commit>`); whoever requested the convoy does not count."""
    max_parallel: Annotated[int, Key("refinery", least=1, most=64, no_default=True)] = 4
    """How many candidates of one convoy CI tests at once; how many agents run is
    `witness.max_sessions`. Default: {parallel}, and in local mode at least one more
    than `ci.slots`, so that the next one is ready when a slot is free."""
    task_pulls: Annotated[bool, Key("refinery", kept=True)] = True
    """Whether each task's work gets its own draft pull request. Otherwise, only
    the convoy and the tasks whose work a person must approve get one."""
    bypass: Annotated[bool, Key("refinery", kept=True)] = False
    """Whether the bot bypasses the default branch's rules and pushes, if the forge
    allows it. Otherwise it lands work as the rules require."""

    # --- how agents are run, and where ------------------------------------------------
    max_sessions: Annotated[int, Key("witness", least=1, most=1000)] = 32
    """How many sessions may run at once, across all engines and convoys."""
    attempts: Annotated[int, Key("witness", least=1, most=20)] = 3
    """How many attempts a task gets before it is blocked and waits for a person."""
    failures: Annotated[int, Key("witness", least=1, most=1000)] = 20
    """How many attempts in a row, across all convoys, may fail before all convoys pause
    until someone with write access resumes them."""
    egress: Annotated[tuple[str, ...] | None, Key("runner", form="hosts")] = None
    """The only hosts that agents may reach, on ports 80 and 443 or the given
    one; `"*"`: all. Default: only the model's vendor for an engine that uses the key
    proxy, and all hosts for other engines, such as `shell`. See docs/engines.md."""
    setup_hosts: Annotated[tuple[str, ...] | None, Key("runner", form="hosts")] = None
    """The only hosts that `.brat/setup.sh` may reach, as for `egress`. Default: those
    of `egress` and the public package registries, or all if agents may reach all."""
    box: Annotated[BoxSetting, Key("runner", kept=True)] = "on"
    """`on`: agents and their programs run in a sandbox; on a machine that does not
    allow one, no agent starts. `off`: agents run with the permissions of the job's
    user, and every comment of the convoy says so. See docs/engines.md."""

    # --- how issues become tasks, and what tasks hold ---------------------------------
    tasks: Annotated[int, Key("mayor", least=1, most=MOST_TASKS, kept=True)] = 20
    """How many tasks of a list are active at a time: a longer list, of up to 500 tasks,
    runs in waves. Also the maximum for a plan by an engine or a pattern."""
    follow: Annotated[bool, Key("mayor")] = False
    """Whether a plan made from an issue's sub-issues changes with them immediately;
    otherwise the change is shown and waits for `/brat follow`."""
    sub_issues: Annotated[bool, Key("mayor")] = False
    """Whether the tasks of a plan that was not made from sub-issues become sub-issues
    of the convoy's issue; each is closed when its work has landed."""
    approve: Annotated[Approve, Key("mayor", kept=True)] = "auto"
    """`auto`: a plan starts at once; `plan`: it waits for `/brat approve`."""
    locks: Annotated[Literal["off", "warn", "require"], Key("locks", "policy")] = (
        "require"
    )
    """`require`: a task waits until no one else holds what it declares; `warn`: the
    task starts, and its agent is told who holds it; `off`: nothing is checked."""


FROZEN: Final = tuple(field.name for field, key in keyed(Settings) if key.kept)
"""What later edits of the configuration do not change in a convoy."""
