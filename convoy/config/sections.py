"""The other tables of `.brat/config.toml`, with the meaning of each key.

The strings under the fields are what editors and docs/configuration.md show. Defaults
of what is frozen with a convoy come from `convoy.model.records`.
"""

from typing import Annotated, Final, Literal

from msgspec.structs import replace
from pydantic import (
    ConfigDict,
    Field,
)

from convoy.config.engine_section import Table
from convoy.config.values import (
    Command,
    Dollars,
    Host,
    Mergers,
    Pattern,
    PlannerName,
    Seconds,
    Sessions,
    Text,
    Words,
)
from convoy.model.records import (
    INSTRUCTIONS,
    Approve,
    BoxSetting,
    Budget,
    EngineSpec,
    Extent,
    Followups,
    Gate,
    Limits,
    Occasion,
    Settings,
    Strategy,
)
from convoy.text.forge_limits import TITLE_CHARS

_ENGINE = EngineSpec(type="claude-code")


_DEFAULT = Settings(engines={"default": _ENGINE})


_ALWAYS = ", ".join(
    f"`{pattern}`" for pattern in Gate().protected if pattern not in INSTRUCTIONS
)


_INSTRUCTING = ", ".join(f"`{pattern}`" for pattern in INSTRUCTIONS)


PARALLEL: Final = 8
"""How many candidates of a convoy stand before CI where nobody says."""


class RefineryTable(Table):
    """How work lands."""

    model_config = ConfigDict(title="refinery")

    strategy: Strategy = _DEFAULT.strategy
    """How a task's commits get onto the convoy's branch."""
    require_ci: bool = _DEFAULT.require_ci
    """Whether a commit must be judged green before it lands."""
    checks: Words = _DEFAULT.checks
    """Names of the checks, or contexts of commit statuses, that must be green; none:
    all of them, at least one."""
    reporters: dict[Text, Text] = Field(default_factory=dict)
    """Whose word counts for a check: the name of an App or of an account, by the
    check's name. What is not named: the App that a ruleset names, else whoever reported
    the check when it was first green. For a job of a workflow its run counts."""
    land: Extent = _DEFAULT.land
    """`whole`: a convoy lands once all its tasks are done; `parts`: what is finished
    lands while the others go on (docs/landing.md)."""
    sync: bool = _DEFAULT.sync
    """Whether the target branch is taken into a convoy's branch whenever it moves, so
    that what does not fit is found early; otherwise only after the last task."""
    merge: Mergers = _DEFAULT.merge
    """What merges, in order: each program only the files that those before it left in
    conflict. `git` comes first; `mergiraf` merges code by its structure and has to be
    installed where brat runs. CI judges what it makes, and the pull request tells."""
    conflicts: Literal["agent", "person"] = _DEFAULT.conflicts
    """Who makes work fit that conflicts with what has landed: the task's agent, who is
    told of both sides (`agent`), or a `person` at once."""
    rounds: Annotated[int, Field(ge=1, le=20)] = _DEFAULT.rounds
    """How often a task's work may conflict and be done again before a person must look;
    it costs no attempt."""
    approvals: Annotated[int, Field(ge=0, le=6)] = _DEFAULT.approvals
    """How many people with write access must approve a task's work before it merges
    (`/brat approve <commit>`); whoever asked for the convoy does not count."""
    max_parallel: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="How many candidates of one convoy CI judges at once. When not "
        f"given: {PARALLEL}, and in local mode at least one more than `ci.slots`: what "
        "waits for a slot is ready when one is free.",
    )
    bypass: bool = _DEFAULT.bypass
    """Whether the bot passes by the rules of the default branch where the forge lets
    it, and pushes. Otherwise it lands as the rules want it."""


class WitnessTable(Table):
    """How agents are run."""

    model_config = ConfigDict(title="witness")

    max_sessions: Sessions = _DEFAULT.max_sessions
    """How many sessions may run at once, over all engines and convoys."""
    attempts: Annotated[int, Field(ge=1, le=20)] = _DEFAULT.attempts
    """How many attempts a task gets before it is blocked and a person must look."""
    failures: Annotated[int, Field(ge=1, le=1000)] = _DEFAULT.failures
    """After this many failed attempts in a row, over all convoys, all of them pause
    until somebody with write access says `/brat resume all`."""
    timeout: Seconds = _ENGINE.timeout_s
    """How long one attempt may take."""
    setup: Seconds = _DEFAULT.limits.setup_s
    """How long `.brat/setup.sh` may take; it runs before each attempt if the repository
    has it."""
    acceptance: Seconds = _DEFAULT.limits.acceptance_s
    """How long a task's acceptance command (`accept:`) may take; it runs after each
    attempt if the task has one."""
    checkpoint: Annotated[int, Field(ge=0, le=21_600)] = _DEFAULT.limits.checkpoint_s
    """How often, in seconds, an agent's work in progress is saved, so that the next
    attempt can continue it if the machine dies; 0: never. See docs/live-feed.md."""


class RunnerTable(Table):
    """The box an agent works in."""

    model_config = ConfigDict(title="runner")

    egress: tuple[Host, ...] | None = Field(
        default=None,
        strict=False,
        description="The only hosts that agents may reach, on the ports 80 and 443 or "
        'the one that is given; `"*"`: all that the machine reaches. When not given, '
        "none but the model's vendor for an engine that uses the key proxy, and all "
        "for the others, such as `shell`. How it is held: docs/engines.md.",
    )
    setup_hosts: tuple[Host, ...] | None = Field(
        default=None,
        strict=False,
        description="The only hosts that `.brat/setup.sh` may reach, as for `egress`. "
        "When not given, those of `egress` and the public package registries, or all "
        "where agents may reach all.",
    )
    box: BoxSetting = _DEFAULT.box
    """`on`: every program of an agent runs in a box, and where the machine gives none,
    no agent starts; `off`: agents run as the job's user does, and every comment of the
    convoy says so. See docs/engines.md."""


class MayorTable(Table):
    """How issues become tasks."""

    model_config = ConfigDict(title="mayor")

    tasks: Annotated[int, Field(ge=1, le=500)] = _DEFAULT.tasks
    """How many tasks of a list are under way at a time: a longer list goes in waves, up
    to 500 tasks. The most tasks that a plan by an engine or a pattern may have."""
    engine: Annotated[str, Field(max_length=40)] = _DEFAULT.planner
    """The engine that plans an issue without a task list; empty: such an issue becomes
    one task."""
    planner: PlannerName = ""
    """The plugin that plans such an issue instead of an engine (docs/planning.md);
    empty: none."""
    ask: bool = False
    """Whether an issue that says too little is answered with two or three questions
    instead of a convoy; it begins when they are answered (docs/planning.md)."""
    split: bool = True
    """Whether the planning engine also splits a task that was too much for one agent:
    the agent reported it blocked, ran out of attempts, time or money, or its patch was
    too large. Otherwise such a task waits for a person."""
    max_size: Annotated[int, Field(ge=0, le=100_000)] = _DEFAULT.max_size
    """How large a task may be, in the points that its plan shows (docs/planning.md). A
    larger one is split by the planning engine before it is tried; where none splits,
    the plan says so. 0: any size."""
    pattern: Annotated[str, Field(max_length=40)] = ""
    """The pattern by which an issue without a task list is planned, such as `spec`
    (docs/workflows.md); empty: none. It takes precedence over `engine` and
    `planner`."""
    approve: Approve = _DEFAULT.approve
    """`auto`: a plan is carried out at once; `plan`: it waits for `/brat approve`."""
    followups: Followups = _DEFAULT.followups
    """What happens to further work that an agent sees while it does its own. `ask`: it
    is shown, with the command that adds it; `auto`: it is added after the agent's own
    task, up to `max_tasks`; `off`: agents are not asked for any."""


class TriggersTable(Table):
    """What starts a convoy, besides the label and `/brat start`."""

    model_config = ConfigDict(title="triggers")

    mention: bool = True
    """Whether mentioning the bot starts a convoy, in a new issue or in a comment on one
    that had no convoy yet."""
    assignee: bool = False
    """Whether assigning the bot to an issue that had no convoy yet starts one."""


class ScheduleTable(Table):
    """A convoy that starts on a schedule; the bot opens an issue for it."""

    model_config = ConfigDict(
        title="schedule.NAME",
        json_schema_extra={"x-allowed": "a table, such as [schedule.weekly]"},
    )

    hours: Annotated[int, Field(ge=1, le=8760)]
    """The interval in hours (required): 24 is daily, 168 weekly. The exact moment is
    fixed for each repository."""
    title: Annotated[Text, Field(max_length=TITLE_CHARS)]
    """The issue's title (required). No new one is opened until the last one has
    ended."""
    text: Annotated[Text, Field(max_length=60_000)]
    """The issue's text (required), with or without a task list."""


class BudgetTable(Table):
    """What may be spent, in US dollars, before nothing more starts.

    Only known costs count. A person who says `/brat retry` lets one more attempt of the
    task start.
    """

    model_config = ConfigDict(title="budget")

    task: Dollars | None = None
    """For one task: once spent, the task is not retried automatically."""
    convoy: Dollars | None = None
    """For a whole convoy: once spent, none of its tasks starts automatically."""
    day: Dollars | None = None
    """For all convoys in a day, counted when a session ends: once spent, nothing starts
    automatically until midnight, UTC."""
    attempt: Dollars | None = None
    """For one attempt: once spent, the attempt is ended and its work kept. This needs
    the engine's `price`, and an engine that can use the key proxy."""
    calls: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULT.limits.model_calls
    """How many calls to its model one attempt may make, where the key proxy counts."""
    tokens: Annotated[int, Field(ge=1, le=10_000_000_000)] = _DEFAULT.limits.tokens
    """How many tokens one attempt may use, including those from the vendor's cache."""

    def budget(self) -> Budget:
        """Return the budget as it is frozen with a convoy."""
        return Budget(task=self.task, convoy=self.convoy, day=self.day)

    def capped(self, limits: Limits) -> Limits:
        """Return the limits with what one attempt may use of its model."""
        return replace(
            limits, model_calls=self.calls, tokens=self.tokens, usd=self.attempt
        )


class LocksTable(Table):
    """How to treat what tasks declare (`paths:`, `needs:`) and people lock."""

    model_config = ConfigDict(title="locks")

    policy: Literal["off", "warn", "require"] = _DEFAULT.locks
    """`require`: a task waits until nobody else holds what it declares; `warn`: it
    starts and is told who does; `off`: nothing is checked."""


class CiTable(Table):
    """What judges a commit in local mode; on a forge, the forge's checks do."""

    model_config = ConfigDict(title="ci")

    command: Command = ()
    """The command to run on the exact commit; exit status 0 is green. A string is run
    by `sh -c`."""
    timeout: Seconds = 1800
    """How long it may take; after that it has no verdict, and is run again: three times
    at most, then a person is asked."""
    slots: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="How many commits are judged at once. When not given: as many as "
        "this machine has cores.",
    )
    egress: tuple[Host, ...] | None = Field(
        default=None,
        strict=False,
        description="The only hosts that the command may reach, as for "
        "`[runner] egress`. When not given, the public package registries. The command "
        "runs in a box like an agent's; `[runner] box` turns that off, too.",
    )


class NotifyTable(Table):
    """What people are told. The webhook's address is a secret, `BRAT_NOTIFY_URL`."""

    model_config = ConfigDict(title="notify")

    on: tuple[Occasion, ...] = Field(
        default=(),
        strict=False,
        description="`intervention`: something begins to wait for a person; "
        "`completion`: a convoy has landed. Empty: nothing is told.",
    )
    comments: Literal["needed", "all"] = Field(
        default="needed",
        description="`needed`: an answer to a request is a reaction and a line of the "
        "convoy's comment, and a comment of its own only where somebody has to hear "
        "it; `all`: each answer is a comment that mentions who asked.",
    )


class TrustTable(Table):
    """Whose text an agent may be given."""

    model_config = ConfigDict(title="trust")

    outsiders: bool = False
    """Whether, in a public repository, text by people without write access may enter a
    prompt once somebody with write access asks for it."""
    bots: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(),
        strict=False,
        description="Accounts of bots, by their number on the forge, whose labels "
        "count too; they need write access like everybody.",
    )


class GateTable(Table):
    """What an agent's patch may not do."""

    model_config = ConfigDict(title="gate")

    instructions: bool = Field(
        default=False,
        description="Whether patches may touch what tells the next agent what to do or "
        f"runs by itself: {_INSTRUCTING}.",
    )

    protected: tuple[Pattern, ...] = Field(
        default=(),
        strict=False,
        description=f"Files no patch may touch, beside {_ALWAYS}: patterns as in "
        ".gitignore.",
    )
    secrets: tuple[Pattern, ...] = Field(
        default=(),
        strict=False,
        description="Files that may hold what looks like a secret (a key, a token), "
        "such as made-up ones in tests: patterns as in .gitignore. Anywhere else it "
        "is refused, and such work is pushed nowhere.",
    )
    max_files: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULT.limits.patch_files
    """The most files one patch may touch."""
    max_bytes: Annotated[int, Field(ge=1, le=100_000_000)] = _DEFAULT.limits.patch_bytes
    """The most bytes one patch may have."""

    def limits(self) -> Limits:
        """Return the limits of one attempt, as frozen with a convoy."""
        return Limits(patch_files=self.max_files, patch_bytes=self.max_bytes)

    def gate(self) -> Gate:
        """Return the gate to freeze: the defaults first, each pattern once."""
        spared = INSTRUCTIONS if self.instructions else ()
        ours = (each for each in Gate().protected if each not in spared)
        return Gate(
            protected=tuple(dict.fromkeys((*ours, *self.protected))),
            secrets=self.secrets,
        )
