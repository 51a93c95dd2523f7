"""The tables `[engine.NAME]` of `.brat/config.toml`, each key with what it means."""

from typing import Annotated

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
    Dollars,
    EngineType,
    Opened,
    Seconds,
    Sessions,
    Text,
    Variable,
    Words,
)
from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import (
    EngineSpec,
    Price,
)


class Table(BaseModel):
    """What all tables share: nothing unknown, nothing converted, nothing changed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


_ENGINE = EngineSpec(type="claude-code")


_UNLIMITED = " and ".join(
    name for name, each in ENGINE_TYPES.items() if not each.can_be_limited
).replace(" and ", ", ", 1)


def _commanding(args: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if info.data.get("type") == "shell" and not args:
        raise PydanticCustomError(
            "told", 'missing; a shell engine needs its command: args = ["make"]'
        )
    return args


def _offered(tools: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    kind = info.data.get("type")
    known = ENGINE_TYPES.get(kind or "")
    if tools and known and not known.can_be_limited:
        raise PydanticCustomError(
            "told", f"not allowed; {kind} cannot be told which tools it may use"
        )
    return tools


_Tools = Annotated[Words, AfterValidator(_offered)]


_Args = Annotated[Words, AfterValidator(_commanding), Field(validate_default=True)]


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
    tools: _Tools = Field(
        default=_ENGINE.tools,
        description="The only tools it may use, in the engine's own words "
        f"(docs/engines.md); none: all it has. {_UNLIMITED} cannot be told.",
    )

    allow: Annotated[tuple[Opened, ...], Field(strict=False)] = _ENGINE.allow
    """What it may ask of its model's vendor beyond what the key proxy lets through
    (docs/engines.md)."""
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
            allow=self.allow,
            good_at=self.good_at or "",
        )
