"""The tables of `.brat/config.toml`: what each key means, and what it may be.

A key that a convoy freezes is a field of its record in `convoy.model.records`; all
others are fields here. The strings under the fields are what editors and
docs/configuration.md show. `x-allowed` in a schema says for people what a value may be;
where it is missing, `convoy.config.allowed_words` finds words from the schema itself.
"""

import ast
import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import NoneType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Self,
    TypeVar,
    get_args,
)

from msgspec import NODEFAULT, Struct, convert
from msgspec.structs import FieldInfo
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
from pydantic.fields import FieldInfo as PydanticField
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
    "mayor.planner": "delete it; name an engine in `engine`, which may be a plugin",
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
        kind: type[Table] = schema["cls"]
        texts: dict[str, str] = {}
        for each in reversed(kind.__mro__):
            texts |= words(each) if issubclass(each, Table) else {}
        for record, field, key in _rows(kind):
            texts[key.name] = words(record)[field.name]
        for name, text in texts.items():
            made["properties"][name]["description"] = text
        return made


def words(kind: type) -> dict[str, str]:
    """Return the strings under a class's fields, by their names."""
    (found,) = ast.parse(inspect.getsource(kind)).body
    return {
        ast.unparse(field.target): inspect.cleandoc(
            ast.literal_eval(below.value)
        ).format(**_WORDS)
        for field, below in pairwise(getattr(found, "body", ()))
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }


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
Hosts = Annotated[tuple[Host, ...], Field(strict=False)]
Request = Annotated[
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


FORMS: Final[dict[str, Any]] = {
    "text": Text,
    "words": WordList,
    "names": dict[Text, Text],
    "seconds": Seconds,
    "dollars": Dollars,
    "hosts": Hosts,
    "patterns": Patterns,
    "engine type": Annotated[
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
    ],
    "arguments": Annotated[
        WordList, AfterValidator(_commanding), Field(validate_default=True)
    ],
    "variable": Annotated[
        str,
        _fitting(re.compile(_VARIABLE).fullmatch),
        _told(
            'a name such as "TEAM_KEY" that does not begin with GITHUB_, ACTIONS_, '
            "RUNNER_, BRAT_ or GIT_",
            type="string",
            pattern=f"^{_VARIABLE}$",
        ),
    ],
    "tools": Annotated[WordList, AfterValidator(_offered)],
    "requests": Annotated[tuple[Request, ...], Field(strict=False)],
    "server": Annotated[
        str,
        _form(
            r"^https://(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{1,62}"
            rf"(?::{_PORT})?"
            r"(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$",
            'an https URL such as "https://models.example.com/v1", without an IP '
            "address, query or trailing slash",
        ),
    ],
}
"""What a frozen key may be, by the form that its row names."""
RECORDS: Final = (
    *(records.Price, records.EngineSpec),
    *(records.Settings, records.Budget, records.Gate, records.Limits),
)
"""The records with rows, in the order in which their keys stand in a table."""


def _name(table: type) -> str:
    return table.__name__.removesuffix("Table").lower()


def _rows(table: type) -> Iterator[tuple[type[Struct], FieldInfo, records.Key]]:
    for record in RECORDS:
        for field, key in records.keyed(record):
            if key.table == _name(table):
                yield record, field, key


def _declared(field: FieldInfo, key: records.Key) -> tuple[Any, Any]:
    """Return what a frozen key may be, and its default in the file."""
    kind, *_ = get_args(field.type)
    allowed = FORMS[key.form] if key.form else kind
    if key.least is not None:
        allowed = Annotated[kind, Field(ge=key.least, le=key.most)]
    default = None if key.no_default else field.default
    if default is NODEFAULT:
        default = ... if field.required else {}
    is_optional = default is None or NoneType in get_args(kind)
    return (allowed | None if is_optional else allowed), default


class Table(BaseModel):
    """What all tables share: nothing unknown, nothing converted, nothing changed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        defer_build=True,  # most commands read no file
        model_title_generator=_name,
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **_config: object) -> None:
        """Add the keys that a convoy freezes, before the checks are built."""
        for _, field, key in _rows(cls):
            declared = PydanticField.from_annotated_attribute(*_declared(field, key))
            cls.__pydantic_fields__[key.name] = declared


R = TypeVar("R", bound=Struct)


def frozen(record: type[R], tables: Mapping[str, Any], **otherwise: object) -> R:
    """Freeze the keys of a record.

    `otherwise` is what holds for fields that are no keys, and for keys that the file
    leaves out and that have no default there.
    """
    told = {
        field.name: value
        for field, key in records.keyed(record)
        if key.table and (value := getattr(tables[key.table], key.name)) is not None
    }
    return convert({**otherwise, **told}, record, from_attributes=True)


class PriceTable(
    Table,
    json_schema_extra={"x-allowed": "a table such as { input = 3.0, output = 15.0 }"},
):
    """What a model's tokens cost, in US dollars per million."""


FORMS["price"] = PriceTable


class EngineTable(
    Table,
    title="engine.NAME",
    json_schema_extra={"x-allowed": "a table, such as [engine.default]"},
):
    """One kind of agent; `default` takes the tasks that name no engine."""

    @model_validator(mode="after")
    def _names_its_server(self) -> Self:
        spec = self.spec(0)
        provider, model = spec.provider, spec.model or ""
        if provider and model.endswith("/"):
            raise fault("model: incomplete name; put the model's name after the /")
        if provider and provider.form and not spec.url:
            word = model.partition("/")[0]
            needs = (
                f"a model that begins with {word} needs url, such as {provider.form}"
            )
            raise fault(f"missing; {needs}")
        return self

    def spec(self, timeout_s: int) -> records.EngineSpec:
        """Freeze it; `timeout_s` holds when it has no time of its own."""
        return frozen(records.EngineSpec, {"engine": self}, timeout_s=timeout_s)


class RefineryTable(Table):
    """How work lands."""


class WitnessTable(Table):
    """How agents are run."""

    timeout: Seconds = 1800
    """The time limit of one attempt."""


class RunnerTable(Table):
    """The agent's sandbox."""


class MayorTable(Table):
    """How issues become tasks."""

    engine: Annotated[str, Field(max_length=40)] = ""
    """The engine that plans an issue without a task list; empty: such an issue becomes
    one task."""
    ask: bool = False
    """Whether brat first asks two or three questions about an issue that says too
    little; the convoy starts when they are answered (docs/planning.md)."""
    pattern: Annotated[str, Field(max_length=40)] = ""
    """The pattern that plans an issue without a task list, such as `spec`
    (docs/workflows.md); empty: none. It takes precedence over `engine`."""


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


class LocksTable(Table):
    """How to treat what tasks declare (`paths:`, `needs:`) and people lock."""


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
    egress: Hosts | None = None
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

    def gate(self) -> records.Gate:
        """Return the gate to freeze: the defaults first, each pattern once."""
        spared = records.INSTRUCTIONS if self.instructions else ()
        ours = (each for each in records.Gate().protected if each not in spared)
        protected = tuple(dict.fromkeys((*ours, *self.protected)))
        return frozen(records.Gate, {"gate": self}, protected=protected)


def _tables(words: str) -> Any:  # noqa: ANN401  what pydantic returns
    words = f"tables {words}"
    return Field(json_schema_extra={"x-allowed": words, "additionalProperties": False})


class Tables(Table):
    """The whole file; every table may be left out."""

    # A table made in another way would build its checks in each process.

    staged: bool = False
    """Whether convoys are only planned: nothing starts, and brat writes nothing to the
    forge except a convoy's comment and answers to people."""
    engine: Annotated[
        Mapping[EngineName, EngineTable],
        _tables("[engine.NAME], where NAME has at most 40 letters, digits, - and _"),
    ] = {}
    refinery: RefineryTable = RefineryTable.model_construct()
    witness: WitnessTable = WitnessTable.model_construct()
    runner: RunnerTable = RunnerTable.model_construct()
    mayor: MayorTable = MayorTable.model_construct()
    ci: CiTable = CiTable.model_construct()
    triggers: TriggersTable = TriggersTable.model_construct()
    schedule: Annotated[
        Mapping[ScheduleName, ScheduleTable],
        _tables("[schedule.NAME], where NAME has only lowercase letters, digits and -"),
    ] = {}
    budget: BudgetTable = BudgetTable.model_construct()
    notify: NotifyTable = NotifyTable.model_construct()
    fix: FixTable = FixTable.model_construct()
    actions: ActionsTable = ActionsTable.model_construct()
    review: ReviewTable = ReviewTable.model_construct()
    locks: LocksTable = LocksTable.model_construct()
    gate: GateTable = GateTable.model_construct()
    trust: TrustTable = TrustTable.model_construct()
