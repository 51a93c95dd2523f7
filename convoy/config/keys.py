"""The tables of `.brat/config.toml`: what each key means, and what it may be.

The strings under the fields are what editors and docs/configuration.md show. Defaults
of what is frozen with a convoy come from `convoy.model.records`. `x-allowed` in a
schema says for people what a value may be; where it is missing,
`convoy.config.allowed_words` finds words from the schema itself.
"""

import ast
import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, Self

from msgspec import convert
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from convoy.model import records
from convoy.model.engine_types import ENGINE_TYPES
from convoy.text import TITLE_CHARS, seconds_in

LONGEST_S = 5 * 24 * 3600
"""No job runs longer: https://docs.github.com/en/actions/reference/limits."""

SECONDS = 'seconds, or a string such as "90s", "30m" or "1h30m", up to 120h'

FORMER_KEYS: Final[Mapping[str, str]] = {
    "mayor.followups": "delete it; agents cannot add tasks",
    "refinery.land": "delete it; a convoy lands as a whole, after all its tasks",
    "refinery.merge": "delete it; git merges as the branch's .gitattributes file says",
    "mayor.max_size": "delete it; to split a large task, use `/brat split`",
    "notify.on": "delete it; GitHub notifies people of brat's comments",
    "mayor.split": "delete it; to split a large task, use `/brat split`",
}
"""What to do about keys that the file could hold once, by table and key."""


class TomlSchema(GenerateJsonSchema):
    """TOML has no null: what may be left out has no default that could be written."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave out the defaults that say: none."""
        if schema.get("default") in (None, (), {}):
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def encode_default(self, dft: object) -> object:
        """Leave out of a table's default what may be left out of the table."""
        default = super().encode_default(dft)
        if isinstance(default, dict):
            return {key: value for key, value in default.items() if value is not None}
        return default


PARALLEL: Final = 8
"""How many candidates of a convoy stand before CI where nobody says."""
_WORDS: Final = {
    "unlimited": " and ".join(
        name for name, each in ENGINE_TYPES.items() if not each.can_be_limited
    ).replace(" and ", ", ", 1),
    "parallel": PARALLEL,
    "instructing": ", ".join(f"`{pattern}`" for pattern in records.INSTRUCTIONS),
    "always": ", ".join(
        f"`{pattern}`"
        for pattern in records.Gate().protected
        if pattern not in records.INSTRUCTIONS
    ),
}
"""What the strings under fields have in braces."""


class DescribedSchema(TomlSchema):
    """Reads the strings under fields, which pydantic would do in each process.

    Only for the documents: Python 3.11 may fail to parse where other threads do, too.
    https://github.com/python/cpython/issues/106905
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        (kind,) = ast.parse(inspect.getsource(schema["cls"])).body
        for field, below in pairwise(getattr(kind, "body", ())):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                text = inspect.cleandoc(ast.literal_eval(below.value)).format(**_WORDS)
                made["properties"][ast.unparse(field.target)]["description"] = text
        return made


def _seconds(value: object) -> int:
    length_s = seconds_in(value) if isinstance(value, str) else value
    if type(length_s) is not int or not 1 <= length_s <= LONGEST_S:
        raise ValueError(value)
    return length_s


def _command(value: object) -> object:
    return ("sh", "-c", value) if isinstance(value, str) and value.strip() else value


_PLUGIN = r"plugin:[A-Za-z0-9][A-Za-z0-9_-]*"
_LENGTH = "([0-9]+h)?([0-9]+m)?([0-9]+s)?"
_VARIABLE = "(?!(?:GITHUB|ACTIONS|RUNNER|BRAT|GIT)_)[A-Z_][A-Z0-9_]{0,99}"
"""Not one of those that no agent may have."""


def fault(words: str) -> PydanticCustomError:
    return PydanticCustomError("told", "{words}", {"words": words})


def _fitting(fits: Callable[[str], object]) -> AfterValidator:
    def fitting(value: str) -> str:
        if not fits(value):
            raise ValueError(value)
        return value

    return AfterValidator(fitting)


def _form(pattern: str, words: str) -> Any:  # noqa: ANN401  what pydantic returns
    """Return what a text must look like, as a pattern and for people."""
    return Field(pattern=pattern, json_schema_extra={"x-allowed": words})


def _told(words: str, **schema: object) -> WithJsonSchema:
    return WithJsonSchema({**schema, "x-allowed": words})


# No program can be given a null character.
Text = Annotated[str, Field(min_length=1), _fitting(lambda text: "\0" not in text)]
WordList = Annotated[tuple[Text, ...], Field(strict=False)]
EngineName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
ScheduleName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
PlannerName = Annotated[
    str,
    _form(
        r"^(?:[A-Za-z0-9][A-Za-z0-9_-]{0,30})?$",
        "a name of at most 31 letters, digits, - and _",
    ),
]
EngineType = Annotated[
    str,
    _fitting(lambda name: name in ENGINE_TYPES or re.fullmatch(_PLUGIN, name)),
    _told(
        f"{', '.join(ENGINE_TYPES)}, plugin:NAME",
        anyOf=[
            {"type": "string", "enum": [*ENGINE_TYPES]},
            {"type": "string", "pattern": f"^{_PLUGIN}$"},
        ],
        **{"x-names": [*ENGINE_TYPES]},
    ),
]
Variable = Annotated[
    str,
    _fitting(re.compile(_VARIABLE).fullmatch),
    _told(
        'a name such as "TEAM_KEY" that does not begin with GITHUB_, ACTIONS_, '
        "RUNNER_, BRAT_ or GIT_",
        type="string",
        pattern=f"^{_VARIABLE}$",
    ),
]
Dollars = Annotated[
    float,
    Field(ge=0, le=10_000, allow_inf_nan=False),
    Field(json_schema_extra={"x-allowed": "a number of US dollars from 0 to 10000"}),
]
Host = Annotated[
    str,
    _form(
        f"^(?:{records.HOST})$",
        'a host such as "pypi.org", "*.npmjs.org" or "registry.example.org:8443", or '
        '"*" for all',
    ),
]
Hosts = Annotated[tuple[Host, ...] | None, Field(strict=False)]
Opened = Annotated[
    str,
    _form(
        r"^(?:(?:GET|POST) (?:/[\w:@-][\w.:@-]*)+|header:[\w-]+(?:=[\w.-]+)?"
        r"|\w+(?:\[\])?(?:\.\w+(?:\[\])?)*(?:=[\w.:/@*-]+)?)$",
        'a field such as "speed" or "tools[].type=web_search", "model=NAME", '
        '"header:NAME", or a request such as "GET /v1/models"',
    ),
]
_PORT: Final = (
    r"(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}"
    r"|655[0-2][0-9]|6553[0-5])"
)
Server = Annotated[
    str,
    _form(
        r"^https://(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{1,62}"
        rf"(?::{_PORT})?"
        r"(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$",
        'an https URL such as "https://models.example.com/v1", without an IP address, '
        "query or trailing slash",
    ),
]
Sessions = Annotated[int, Field(ge=1, le=1000)]
Pattern = Annotated[
    str,
    _form(r"^[^!#\s]", "a .gitignore pattern that does not start with !, # or a space"),
]
Patterns = Annotated[tuple[Pattern, ...], Field(strict=False)]
Seconds = Annotated[
    int,
    PlainValidator(_seconds),
    _told(
        SECONDS,
        anyOf=[
            {"type": "integer", "minimum": 1, "maximum": LONGEST_S},
            {"type": "string", "minLength": 2, "pattern": f"^{_LENGTH}$"},
        ],
    ),
]
Command = Annotated[
    tuple[Text, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(_command),
    _told(
        'a command line such as "make test", or a list of its words',
        anyOf=[
            {"type": "string", "pattern": "\\S"},
            {
                "type": "array",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
            },
        ],
    ),
]


class Table(BaseModel):
    """What all tables share: nothing unknown, nothing converted, nothing changed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        defer_build=True,  # most commands read no file
        model_title_generator=lambda kind: kind.__name__.removesuffix("Table").lower(),
    )


_ENGINE = records.EngineSpec(type="claude-code")


def _commanding(args: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if info.data.get("type") == "shell" and not args:
        raise fault('missing; a shell engine needs a command, such as args = ["make"]')
    return args


def _offered(tools: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    kind = info.data.get("type")
    known = ENGINE_TYPES.get(kind or "")
    if tools and known and not known.can_be_limited:
        raise fault(f"not allowed; {kind} cannot limit its tools")
    return tools


class PriceTable(
    Table,
    json_schema_extra={"x-allowed": "a table such as { input = 3.0, output = 15.0 }"},
):
    """What a model's tokens cost, in US dollars per million."""

    input: Dollars
    """For tokens that the model reads."""
    output: Dollars
    """For tokens that the model writes."""
    cached: Dollars | None = None
    """For tokens read from its vendor's cache; default: as `input`."""


class EngineTable(
    Table,
    title="engine.NAME",
    json_schema_extra={"x-allowed": "a table, such as [engine.default]"},
):
    """One kind of agent; `default` takes the tasks that name no engine."""

    type: EngineType
    """The program (required). `shell` runs `args` and does not need an account;
    `plugin:NAME` comes from an installed package."""
    model: Text | None = None
    """The model, as the engine calls it; default: the engine chooses."""
    args: Annotated[
        WordList, AfterValidator(_commanding), Field(validate_default=True)
    ] = _ENGINE.args
    """Arguments added to the engine's own; for `shell` the whole command."""
    timeout: Seconds | None = None
    """The time limit of one attempt; default: `witness.timeout`."""
    silence: Seconds = _ENGINE.silence_s
    """How long the engine may print nothing before it counts as hung. Does not apply to
    `shell`, `continue` and plugins, which can be silent while they work."""
    secret: Variable | None = None
    """The variable in the job's environment that holds the model's key; default: the
    engine's usual one."""
    max_sessions: Sessions = _ENGINE.max_sessions
    """How many sessions of this engine may run at once, across all convoys."""
    price: PriceTable | None = None
    """What the model's tokens cost, in US dollars per million, with `cached` for those
    from the vendor's cache; used when the engine does not report its cost."""
    tools: Annotated[WordList, AfterValidator(_offered)] = _ENGINE.tools
    """The only tools that the engine may use, as it calls them (docs/engines.md);
    default: all. {unlimited} cannot limit their tools."""
    allow: Annotated[tuple[Opened, ...], Field(strict=False)] = _ENGINE.allow
    """What the engine may send to its model's vendor beyond what the key proxy allows
    (docs/engines.md)."""
    good_at: Text | None = None
    """What the engine is good at, in a few words for the planner, such as `"tests"`;
    default: what brat knows about its type."""
    url: Server | None = None
    """The server that gets the engine's requests and key instead of its model's vendor
    (docs/engines.md)."""

    @model_validator(mode="after")
    def _names_its_server(self) -> Self:
        provider = self.spec(0).provider
        if provider and (self.model or "").endswith("/"):
            raise fault("model: incomplete name; put the model's name after the /")
        if provider and provider.form and not self.url:
            word = (self.model or "").partition("/")[0]
            needs = (
                f"a model that begins with {word} needs url, such as {provider.form}"
            )
            raise fault(f"missing; {needs}")
        return self

    def spec(self, timeout_s: int) -> records.EngineSpec:
        """Freeze it; `timeout_s` holds when it has no time of its own."""
        told = {"timeout_s": self.timeout or timeout_s, "silence_s": self.silence}
        texts = {"good_at": self.good_at or "", "url": self.url or ""}
        return convert({**self.model_dump(), **told, **texts}, records.EngineSpec)


_DEFAULT = records.Settings(engines={"default": _ENGINE})


class RefineryTable(Table):
    """How work lands."""

    strategy: records.Strategy = _DEFAULT.strategy
    """How a task's commits get onto the convoy's branch."""
    require_ci: bool = _DEFAULT.require_ci
    """Whether CI must be green on a commit before it lands."""
    checks: WordList = _DEFAULT.checks
    """Names of the checks, or contexts of commit statuses, that must be green; default:
    all checks that report. At least one must report."""
    reporters: dict[Text, Text] = Field(default_factory=dict)
    """The App or account that must report a check, by the check's name. Default: the
    App that a ruleset names, otherwise whoever reported the check when it was first
    green. For a workflow's job, the result of its run counts."""
    sync: bool = _DEFAULT.sync
    """Whether the target branch is merged into a convoy's branch whenever it moves, so
    that conflicts are found early. Otherwise it is merged only after the last task, and
    before a task that needs a person's work on the target."""
    conflicts: Literal["agent", "person"] = _DEFAULT.conflicts
    """Who resolves conflicts with what has landed: the task's agent, which is shown
    both sides (`agent`), or a `person`."""
    rounds: Annotated[int, Field(ge=1, le=20)] = _DEFAULT.rounds
    """How many times a task's work may conflict and be redone before a person is asked;
    this does not use up attempts."""
    approvals: Annotated[int, Field(ge=0, le=6)] = _DEFAULT.approvals
    """How many people with write access must approve a task's work before it merges
    (`/brat approve <commit>`); whoever requested the convoy does not count."""
    max_parallel: Annotated[int, Field(ge=1, le=64)] | None = None
    """How many candidates of one convoy CI tests at once. Default: {parallel}, and in
    local mode at least one more than `ci.slots`, so that the next one is ready when a
    slot is free."""
    task_pulls: bool = _DEFAULT.task_pulls
    """Whether each task's work gets its own draft pull request. Otherwise, only
    the convoy and the tasks whose work a person must approve get one."""
    bypass: bool = _DEFAULT.bypass
    """Whether the bot bypasses the default branch's rules and pushes, if the forge
    allows it. Otherwise it lands work as the rules require."""


class WitnessTable(Table):
    """How agents are run."""

    max_sessions: Sessions = _DEFAULT.max_sessions
    """How many sessions may run at once, across all engines and convoys."""
    attempts: Annotated[int, Field(ge=1, le=20)] = _DEFAULT.attempts
    """How many attempts a task gets before it is blocked and waits for a person."""
    failures: Annotated[int, Field(ge=1, le=1000)] = _DEFAULT.failures
    """How many attempts in a row, across all convoys, may fail before all convoys pause
    until someone with write access resumes them."""
    timeout: Seconds = _ENGINE.timeout_s
    """The time limit of one attempt."""
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
    """The agent's sandbox."""

    egress: Hosts = None
    """The only hosts that agents may reach, on ports 80 and 443 or the given
    one; `"*"`: all. Default: only the model's vendor for an engine that uses the key
    proxy, and all hosts for other engines, such as `shell`. See docs/engines.md."""
    setup_hosts: Hosts = None
    """The only hosts that `.brat/setup.sh` may reach, as for `egress`. Default: those
    of `egress` and the public package registries, or all if agents may reach all."""
    box: records.BoxSetting = _DEFAULT.box
    """`on`: agents and their programs run in a sandbox; on a machine that does not
    allow one, no agent starts. `off`: agents run with the permissions of the job's
    user, and every comment of the convoy says so. See docs/engines.md."""


class MayorTable(Table):
    """How issues become tasks."""

    tasks: Annotated[int, Field(ge=1, le=500)] = _DEFAULT.tasks
    """How many tasks of a list are active at a time: a longer list, of up to 500 tasks,
    runs in waves. Also the maximum for a plan by an engine or a pattern."""
    engine: Annotated[str, Field(max_length=40)] = _DEFAULT.planner
    """The engine that plans an issue without a task list; empty: such an issue becomes
    one task."""
    planner: PlannerName = ""
    """The plugin that plans an issue without a task list instead of an engine
    (docs/planning.md); empty: none."""
    ask: bool = False
    """Whether brat first asks two or three questions about an issue that says too
    little; the convoy starts when they are answered (docs/planning.md)."""
    follow: bool = _DEFAULT.follow
    """Whether a plan made from an issue's sub-issues changes with them immediately;
    otherwise the change is shown and waits for `/brat follow`."""
    sub_issues: bool = _DEFAULT.sub_issues
    """Whether the tasks of a plan that was not made from sub-issues become sub-issues
    of the convoy's issue; each is closed when its work has landed."""
    pattern: Annotated[str, Field(max_length=40)] = ""
    """The pattern that plans an issue without a task list, such as `spec`
    (docs/workflows.md); empty: none. It takes precedence over `engine` and
    `planner`."""
    approve: records.Approve = _DEFAULT.approve
    """`auto`: a plan starts at once; `plan`: it waits for `/brat approve`."""


class TriggersTable(Table):
    """What starts a convoy, besides the label and `/brat start`."""

    mention: bool = True
    """Whether mentioning the bot starts a convoy, in a new issue or in a comment on one
    that has not had a convoy."""
    assignee: bool = False
    """Whether assigning the bot to an issue that has not had a convoy starts one."""


class ScheduleTable(
    Table,
    title="schedule.NAME",
    json_schema_extra={"x-allowed": "a table, such as [schedule.weekly]"},
):
    """A convoy that starts on a schedule; the bot opens an issue for it."""

    hours: Annotated[int, Field(ge=1, le=8760)]
    """The interval in hours (required): 24 is daily, 168 weekly. The exact moment is
    fixed for each repository."""
    title: Annotated[Text, Field(max_length=TITLE_CHARS)]
    """The issue's title (required). No new issue is opened until the previous one's
    convoy has ended."""
    text: Annotated[Text, Field(max_length=60_000)]
    """The issue's text (required), with or without a task list."""


class BudgetTable(Table):
    """How much may be spent, in US dollars. At the limit, nothing more starts.

    Only known costs count. `/brat retry` lets a task start one more attempt.
    """

    task: Dollars | None = None
    """For one task: once spent, the task is not retried automatically."""
    convoy: Dollars | None = None
    """For a whole convoy: once spent, none of its tasks starts automatically."""
    day: Dollars | None = None
    """For all convoys in a day, counted when a session ends: once spent, nothing starts
    automatically until midnight UTC."""
    attempt: Dollars | None = None
    """For one attempt: once spent, the attempt is ended and its work kept. This needs
    the engine's `price`, and an engine that can use the key proxy."""
    calls: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULT.limits.model_calls
    """How many model calls one attempt may make, if the key proxy counts them."""
    tokens: Annotated[int, Field(ge=1, le=10_000_000_000)] = _DEFAULT.limits.tokens
    """How many tokens one attempt may use, including those from the vendor's cache."""


class LocksTable(Table):
    """How to treat what tasks declare (`paths:`, `needs:`) and people lock."""

    policy: Literal["off", "warn", "require"] = _DEFAULT.locks
    """`require`: a task waits until no one else holds what it declares; `warn`: the
    task starts, and its agent is told who holds it; `off`: nothing is checked."""


class CiTable(Table):
    """CI in local mode; on a forge, the forge's checks count."""

    command: Command = ()
    """The command that tests a commit; exit status 0 means green. A string is run by
    `sh -c`."""

    @property
    def typed(self) -> str | None:
        """The command as a person would type it; None: none is configured."""
        match self.command:
            case ():
                return None
            case ("sh", "-c", text):
                return text
            case argv:
                return shlex.join(argv)

    timeout: Seconds = 1800
    """The command's time limit. A command that exceeds it gives no verdict and runs
    again, at most three times; then a person is asked."""
    slots: Annotated[int, Field(ge=1, le=64)] | None = None
    """How many commits are tested at once. Default: the number of this machine's
    cores."""
    egress: Hosts = None
    """The only hosts that the command may reach, as for `[runner] egress`. Default:
    the public package registries. The command runs in a sandbox like an agent's;
    `[runner] box` turns that off, too."""


class NotifyTable(Table):
    """Whom brat's comments notify."""

    comments: Literal["needed", "all"] = "needed"
    """`needed`: brat answers a request with a reaction and a line in the convoy's
    comment, and with a separate comment only if someone must be notified; `all`: each
    answer is a comment that mentions the person who asked."""


class ActionsTable(Table):
    """How brat works in GitHub Actions, without a server."""

    stay: bool = False
    """Whether the loop's job keeps running during sessions and CI and polls every few
    seconds, so that answers take about ten seconds. Its minutes are billed like those
    of any job. Otherwise the job ends, and the next event starts another one."""


class FixTable(Table):
    """What `/brat fix` may do on pull requests that brat did not open."""

    authors: WordList = ()
    """The accounts, such as `dependabot[bot]`, on whose branches agents work without
    asking; `*`: all accounts. Any other author is asked first."""


class ReviewTable(Table):
    """Whose reviews agents answer, besides those of people with write access."""

    bots: WordList = ()
    """The accounts of review bots, such as `coderabbitai[bot]`, whose comments on lines
    request work. They cannot approve or give commands."""
    resolve: bool = False
    """Whether brat also resolves a person's thread when the commit that answers it is
    on the task's branch; it always resolves a bot's."""


class TrustTable(Table):
    """Whose text may reach an agent."""

    outsiders: bool = False
    """Whether, in a public repository, text by people without write access may enter a
    prompt once someone with write access asks for it."""
    bots: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(strict=False)] = ()
    """The account IDs of bots whose labels also count; they also need write access."""


class GateTable(Table):
    """What an agent's patch may not do."""

    instructions: bool = False
    """Whether patches may change files that instruct the next agent or run
    automatically: {instructing}."""
    protected: Patterns = ()
    """Files that no patch may change, besides {always}: patterns as in .gitignore."""
    secrets: Patterns = ()
    """Files that may contain what looks like a secret, such as made-up keys and tokens
    in tests: patterns as in .gitignore. In any other file it is refused, and the work
    is not pushed."""
    max_files: Annotated[int, Field(ge=1, le=100_000)] = _DEFAULT.limits.patch_files
    """The maximum number of files in one patch."""
    max_bytes: Annotated[int, Field(ge=1, le=100_000_000)] = _DEFAULT.limits.patch_bytes
    """The maximum size of one patch, in bytes."""

    def gate(self) -> records.Gate:
        """Return the gate to freeze: the defaults first, each pattern once."""
        spared = records.INSTRUCTIONS if self.instructions else ()
        ours = (each for each in records.Gate().protected if each not in spared)
        return records.Gate(
            protected=tuple(dict.fromkeys((*ours, *self.protected))),
            secrets=self.secrets,
        )
