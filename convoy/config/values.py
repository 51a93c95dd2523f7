"""The kinds of value in `.brat/config.toml`: their check, their schema, their words.

`x-allowed` in a schema says for people what a value may be; where it is missing,
`convoy.config.schema_faults.allowed` finds words from the schema itself.
"""

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import Merger
from convoy.text.duration import seconds

LONGEST_S = 5 * 24 * 3600
"""No job runs longer: https://docs.github.com/en/actions/reference/limits."""

SECONDS = 'seconds, or a string such as "90s", "30m" or "1h30m", up to 120h'
COMMAND = 'a command line such as "make test", or a list of its words'
PATTERN = "a pattern as in .gitignore that does not start with ! or #"
VARIABLE = (
    'a name such as "TEAM_KEY", none that begins with GITHUB_, ACTIONS_, RUNNER_, '
    "BRAT_ or GIT_"
)
ENGINES = "tables [engine.NAME], with at most 40 letters, digits, - and _ as the name"
DOLLARS = "a number of US dollars from 0 to 10000"
PRICE = "a table such as { input = 3.0, output = 15.0 }"
OPENED = (
    'a field such as "speed", a value of one such as "tools[].type=web_search", '
    '"model=NAME", "header:NAME" or a path such as "GET /v1/models"'
)
HOST = (
    'a host such as "pypi.org", "*.npmjs.org" or "registry.example.org:8443", or "*" '
    "for all"
)
MERGERS = 'a list such as ["git", "mergiraf"], each once and "git" first'
PLANNER = "a name of at most 31 letters, digits, - and _"
SCHEDULES = "tables [schedule.NAME], with small letters, digits and - as the name"


class TomlSchema(GenerateJsonSchema):
    """TOML has no null: what may be left out has no default that could be written."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Describe an optional value as if it were there."""
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


def _seconds(value: object) -> int:
    length_s = seconds(value) if isinstance(value, str) else value
    if type(length_s) is not int or not 1 <= length_s <= LONGEST_S:
        raise ValueError(value)
    return length_s


def _command(value: object) -> object:
    return ("sh", "-c", value) if isinstance(value, str) and value.strip() else value


def _startable(value: str) -> str:
    if "\0" in value:  # no program can be given one
        raise ValueError(value)
    return value


_PLUGIN = r"plugin:[A-Za-z0-9][A-Za-z0-9_-]*"
_VARIABLE = "(?!(?:GITHUB|ACTIONS|RUNNER|BRAT|GIT)_)[A-Z_][A-Z0-9_]{0,99}"
"""Not one of those that no agent may have."""


def _engine_type(value: str) -> str:
    if value not in ENGINE_TYPES and not re.fullmatch(_PLUGIN, value):
        raise ValueError(value)
    return value


def _variable(value: str) -> str:
    if not re.fullmatch(_VARIABLE, value):
        raise ValueError(value)
    return value


Text = Annotated[str, StringConstraints(min_length=1), AfterValidator(_startable)]

Words = Annotated[tuple[Text, ...], Field(strict=False)]


def _after_git(given: tuple[Merger, ...]) -> tuple[Merger, ...]:
    if given[:1] != ("git",) or len({*given}) < len(given):
        raise ValueError(MERGERS)
    return given


Mergers = Annotated[
    tuple[Merger, ...],
    Field(strict=False, json_schema_extra={"x-allowed": MERGERS}),
    AfterValidator(_after_git),
]
EngineName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")
]

PlannerName = Annotated[
    str,
    StringConstraints(pattern=r"^(?:[A-Za-z0-9][A-Za-z0-9_-]{0,30})?$"),
    Field(json_schema_extra={"x-allowed": PLANNER}),
]

ScheduleName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]

EngineType = Annotated[
    str,
    AfterValidator(_engine_type),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": [*ENGINE_TYPES]},
                {"type": "string", "pattern": f"^{_PLUGIN}$"},
            ],
            "x-allowed": f"{', '.join(ENGINE_TYPES)}, plugin:NAME",
            "x-names": [*ENGINE_TYPES],
        }
    ),
]

Variable = Annotated[
    str,
    AfterValidator(_variable),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^{_VARIABLE}$",
            "x-allowed": VARIABLE,
        }
    ),
]

Dollars = Annotated[
    float,
    Field(
        ge=0,
        le=10_000,
        allow_inf_nan=False,
        json_schema_extra={"x-allowed": DOLLARS},
    ),
]

Host = Annotated[
    str,
    StringConstraints(
        pattern=r"^(?:\*|(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?)$"
    ),
    Field(json_schema_extra={"x-allowed": HOST}),
]

Opened = Annotated[
    str,
    StringConstraints(
        pattern=r"^(?:(?:GET|POST) (?:/[\w:@-][\w.:@-]*)+|header:[\w-]+(?:=[\w.-]+)?"
        r"|\w+(?:\[\])?(?:\.\w+(?:\[\])?)*(?:=[\w.:/@*-]+)?)$"
    ),
    Field(json_schema_extra={"x-allowed": OPENED}),
]

Sessions = Annotated[int, Field(ge=1, le=1000)]

Pattern = Annotated[
    str,
    StringConstraints(pattern=r"^[^!#\s]"),
    Field(json_schema_extra={"x-allowed": PATTERN}),
]

Seconds = Annotated[
    int,
    PlainValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": LONGEST_S},
                {
                    "type": "string",
                    "minLength": 2,
                    "pattern": "^([0-9]+h)?([0-9]+m)?([0-9]+s)?$",
                },
            ],
            "x-allowed": SECONDS,
        }
    ),
]

Command = Annotated[
    tuple[Text, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(_command),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "\\S"},
                {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "minItems": 1,
                },
            ],
            "x-allowed": COMMAND,
        }
    ),
]
