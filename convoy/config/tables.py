"""The tables of `.brat/config.toml`, each key with what it means.

The strings under the fields are what editors and docs/configuration.md show. Defaults
of what is frozen with a convoy come from `convoy.events`.
"""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from convoy.config.values import (
    PRICE,
    TOOLLESS,
    Command,
    Dollars,
    EngineType,
    Host,
    Pattern,
    PlannerName,
    Seconds,
    Sessions,
    Text,
    Variable,
    Words,
)
from convoy.events import (
    INSTRUCTIONS,
    Approve,
    Budget,
    EngineSpec,
    Followups,
    Gate,
    Limits,
    Occasion,
    Price,
    Settings,
    Strategy,
)

_ENGINE = EngineSpec(type="claude-code")
_DEFAULT = Settings(engines={"default": _ENGINE})
_ALWAYS = ", ".join(
    f"`{pattern}`" for pattern in Gate().protected if pattern not in INSTRUCTIONS
)
_INSTRUCTING = ", ".join(f"`{pattern}`" for pattern in INSTRUCTIONS)


def _commanding(args: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if info.data.get("type") == "shell" and not args:
        raise PydanticCustomError(
            "told", 'missing; a shell engine needs its command: args = ["make"]'
        )
    return args


def _offered(tools: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    kind = info.data.get("type")
    if tools and kind in TOOLLESS:
        raise PydanticCustomError(
            "told", f"not allowed; {kind} cannot be told which tools it may use"
        )
    return tools


_Tools = Annotated[Words, AfterValidator(_offered)]
_Args = Annotated[Words, AfterValidator(_commanding), Field(validate_default=True)]


class Table(BaseModel):
    """What all tables share: nothing unknown, nothing converted, nothing changed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class PriceTable(Table):
    """What a model's tokens cost, in US dollars per million."""

    model_config = ConfigDict(title="price", json_schema_extra={"x-allowed": PRICE})

    input: Dollars
    """Of what the model reads."""
    output: Dollars
    """Of what the model writes."""
    cached: Dollars | None = None
    """Of what it reads from its vendor's cache; when not given, as `input`."""

    def price(self) -> Price:
        """Freeze it."""
        return Price(input=self.input, output=self.output, cached=self.cached)


class EngineTable(Table):
    """One kind of agent; `default` takes the tasks that name no engine."""

    model_config = ConfigDict(
        title="engine.NAME",
        json_schema_extra={"x-allowed": "a table, such as [engine.default]"},
    )

    type: EngineType
    """Which program it is (must be given). `shell` runs `args` and needs no account;
    `plugin:NAME` is one that a package installed beside brat adds."""
    model: Text | None = None
    """The model, in the engine's own words; when not given, the engine chooses."""
    args: _Args = _ENGINE.args
    """Arguments added to the engine's own; for `shell` the whole command."""
    timeout: Seconds | None = None
    """How long one attempt may take; when not given, `witness.timeout`."""
    silence: Seconds = _ENGINE.silence_s
    """How long it may say nothing before it counts as hung; not for `shell`, `continue`
    and plugins, which may be silent while they work."""
    secret: Variable | None = None
    """The variable in the job's environment that holds the model's key; when not given,
    the one that is usual for the engine."""
    max_sessions: Sessions = _ENGINE.max_sessions
    """How many sessions of this engine may run at once, over all convoys."""
    price: PriceTable | None = None
    """What its tokens cost, in US dollars per million, with `cached` for those from the
    vendor's cache; reckoned with where the engine does not say what it cost."""
    tools: _Tools = _ENGINE.tools
    """The only tools it may use, in the engine's own words (docs/engines.md); none: all
    it has. aider, codex and shell cannot be told."""

    good_at: Text | None = None
    """What to give it, in a few words that the planner is told, such as `"tests"`; when
    not given, what is known of its type."""

    def spec(self, timeout_s: int) -> EngineSpec:
        """Freeze it; `timeout_s` holds when it has no time of its own."""
        return EngineSpec(
            type=self.type,
            model=self.model,
            args=self.args,
            timeout_s=self.timeout or timeout_s,
            silence_s=self.silence,
            secret=self.secret,
            max_sessions=self.max_sessions,
            price=self.price.price() if self.price else None,
            tools=self.tools,
            good_at=self.good_at or "",
        )


class RefineryTable(Table):
    """How work lands."""

    model_config = ConfigDict(title="refinery")

    strategy: Strategy = _DEFAULT.strategy
    """How a task's commits come onto the convoy's branch."""
    require_ci: bool = _DEFAULT.require_ci
    """Whether a commit must be judged green before it lands."""
    checks: Words = _DEFAULT.checks
    """Names of the checks that must be green; none: all there are, at least one."""
    approvals: Annotated[int, Field(ge=0, le=6)] = _DEFAULT.approvals
    """How many people who may write must approve a task's work before it merges
    (`/brat approve <commit>`); who asked for the convoy is not one of them."""


class WitnessTable(Table):
    """How agents are run."""

    model_config = ConfigDict(title="witness")

    max_sessions: Sessions = _DEFAULT.max_sessions
    """How many sessions may run at once, over all engines and convoys."""
    attempts: Annotated[int, Field(ge=1, le=20)] = _DEFAULT.attempts
    """How often a task is tried before it is blocked and a person must look."""
    failures: Annotated[int, Field(ge=1, le=1000)] = _DEFAULT.failures
    """After so many failed attempts in a row, over all convoys, all of them pause until
    somebody who may write says `/brat resume all`."""
    timeout: Seconds = _ENGINE.timeout_s
    """How long one attempt may take."""
    setup: Seconds = _DEFAULT.limits.setup_s
    """How long `.brat/setup.sh` may take, which runs before each attempt where the
    repository has it."""
    acceptance: Seconds = _DEFAULT.limits.acceptance_s
    """How long a task's acceptance command may take (`accept:`), which runs after each
    attempt where the task has one."""
    checkpoint: Annotated[int, Field(ge=0, le=21_600)] = _DEFAULT.limits.checkpoint_s
    """How often, in seconds, what an agent has done so far is kept, for the next
    attempt to go on from if its machine dies; 0: never. See docs/live-feed.md."""


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


class MayorTable(Table):
    """How issues become tasks."""

    model_config = ConfigDict(title="mayor")

    tasks: Annotated[int, Field(ge=1, le=500)] = _DEFAULT.tasks
    """The most tasks that one convoy may have."""
    engine: Annotated[str, Field(max_length=40)] = _DEFAULT.planner
    """The name of the engine that plans an issue without a task list; empty: such an
    issue is one task."""
    planner: PlannerName = ""
    """The plugin that plans such an issue instead of an engine (docs/planning.md);
    empty: none."""
    split: bool = True
    """Whether the engine that plans also splits a task that was too much for one agent:
    it called it blocked, or had no attempts, time or money left, or its patch was too
    large. Otherwise such a task waits for a person."""
    pattern: Annotated[str, Field(max_length=40)] = ""
    """The pattern by which an issue without a task list is planned, such as `spec`
    (docs/workflows.md); empty: none. It goes before `engine` and `planner`."""
    approve: Approve = _DEFAULT.approve
    """`auto`: a plan is carried out at once; `plan`: it waits for `/brat approve`."""
    followups: Followups = _DEFAULT.followups
    """What becomes of further work that an agent sees while it does its own. `ask`: it
    is shown, with the command that adds it; `auto`: it is added behind the agent's own
    task, while the convoy may have more; `off`: agents are not asked for any."""


class TriggersTable(Table):
    """What asks for a convoy, beside the label and `/brat start`."""

    model_config = ConfigDict(title="triggers")

    mention: bool = True
    """Whether naming the bot, in a new issue or a comment on one that had no convoy
    yet, asks for one."""
    assignee: bool = False
    """Whether assigning the bot to an issue that had no convoy yet asks for one."""


class ScheduleTable(Table):
    """A convoy that is asked for by the clock; the bot opens an issue for it."""

    model_config = ConfigDict(
        title="schedule.NAME",
        json_schema_extra={"x-allowed": "a table, such as [schedule.weekly]"},
    )

    hours: Annotated[int, Field(ge=1, le=8760)]
    """Every so many hours (must be given): 24 is daily, 168 weekly. The moment within
    is the repository's own and always the same."""
    title: Text
    """Of the issue (must be given). While the last one has not ended, none starts."""
    text: Text
    """Of the issue (must be given), with a task list or without."""


class BudgetTable(Table):
    """What may be spent, in US dollars, before nothing more starts.

    Only money that is known counts. A person who says `/brat retry` lets one more
    attempt of the task start.
    """

    model_config = ConfigDict(title="budget")

    task: Dollars | None = None
    """By one task: once that is spent, it is not tried again by itself."""
    convoy: Dollars | None = None
    """By a whole convoy: once that is spent, none of its tasks starts by itself."""
    day: Dollars | None = None
    """By all convoys in a day, counted when a session ends: once that is spent, nothing
    starts by itself until midnight, UTC."""
    attempt: Dollars | None = None
    """By one attempt: once that is spent, it is ended and its work kept. It needs the
    engine's `price`, and an engine that can use the key proxy."""
    calls: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULT.limits.model_calls
    """How often one attempt may call its model, where the key proxy counts."""
    tokens: Annotated[int, Field(ge=1, le=10_000_000_000)] = _DEFAULT.limits.tokens
    """How many tokens one attempt may use, those from the vendor's cache included."""

    def budget(self) -> Budget:
        """Freeze it."""
        return Budget(task=self.task, convoy=self.convoy, day=self.day)

    def capped(self, limits: Limits) -> Limits:
        """Freeze what one attempt may use of its model."""
        return replace(
            limits, model_calls=self.calls, tokens=self.tokens, usd=self.attempt
        )


class LocksTable(Table):
    """What tasks declare (`paths:`, `needs:`) and people lock."""

    model_config = ConfigDict(title="locks")

    policy: Literal["off", "warn", "require"] = _DEFAULT.locks
    """`require`: a task waits until nobody else holds what it declares; `warn`: it
    starts and is told who does; `off`: nobody looks."""


class CiTable(Table):
    """What judges a commit in local mode; on a forge its own checks do."""

    model_config = ConfigDict(title="ci")

    command: Command = ()
    """Runs on the exact commit; status 0 is green. A string is run by `sh -c`."""
    timeout: Seconds = 1800
    """How long it may take; after that the commit is red."""


class NotifyTable(Table):
    """What a webhook is told. Its address is the bot's secret, `BRAT_NOTIFY_URL`."""

    model_config = ConfigDict(title="notify")

    on: tuple[Occasion, ...] = Field(
        default=(),
        strict=False,
        description="`intervention`: something begins to wait for a person; "
        "`completion`: a convoy has landed. Empty: nothing is told.",
    )


class TrustTable(Table):
    """Whose words an agent may be given."""

    model_config = ConfigDict(title="trust")

    outsiders: bool = False
    """Whether, in a public repository, text of people without write access may enter a
    prompt, once somebody with write access asks for it."""
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
        """Freeze what one attempt may use."""
        return Limits(patch_files=self.max_files, patch_bytes=self.max_bytes)

    def gate(self) -> Gate:
        """Freeze what a patch may not touch: the defaults first, each pattern once."""
        spared = INSTRUCTIONS if self.instructions else ()
        ours = (each for each in Gate().protected if each not in spared)
        return Gate(
            protected=tuple(dict.fromkeys((*ours, *self.protected))),
            secrets=self.secrets,
        )
