"""What a repository may say in `.brat/config.toml`, and what holds if it does not.

The models are the only description of the file: the messages for people, the JSON
Schema for editors and the table in docs/configuration.md are made from them. A fault is
a line, `file: key: what is wrong; what is allowed; did you mean X?`. What is allowed is
read from the JSON Schema, so that messages, editors and documents never differ.

Many repositories that want something daily must not ask for it in the same minute, so
each of their schedules begins at an offset that only its name decides.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

from pydantic import ValidationError, model_validator
from pydantic_core import ErrorDetails

from convoy.config import keys
from convoy.model.ids import HOUR_MS
from convoy.model.records import Budget, EngineSpec, Limits, Settings
from convoy.text import counted, did_you_mean
from convoy.text.strangers_data import TooMuch, toml_table
from grite.errors import BratError


class ConfigError(BratError):
    """The configuration cannot be used; its text has one line for each fault."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Lines of the form `file: key: what is wrong; what is allowed`."""
        return self.args

    def __str__(self) -> str:
        return "\n".join(self.faults)


class Config(keys.Tables):
    """How brat works in this repository; every table may be left out."""

    @model_validator(mode="after")
    def _knows_its_planner(self) -> Self:
        name, known = self.mayor.engine, {"default", *self.engine}
        if name and name not in known:
            wanted = f"[engine.{name}]{did_you_mean(name, known)}"
            raise keys.fault(f"mayor.engine: there is no table {wanted}")
        return self

    def settings(self, cores: int | None = None) -> Settings:
        """Return what is frozen with a convoy. `[ci]` is not in it: it is local only.

        Without `[engine.default]` the default engine is `claude-code`.

        Args:
            cores: how many the machine has on which CI runs; None: a forge runs it.
        """
        timeout_s = self.witness.timeout
        specs = {"default": EngineSpec(type="claude-code", timeout_s=timeout_s)}
        specs |= {name: each.spec(timeout_s) for name, each in self.engine.items()}
        slots = 0 if cores is None else self.ci.slots or cores
        tables = dict(self)
        return keys.frozen(
            Settings,
            tables,
            engines=specs,
            limits=keys.frozen(Limits, tables),
            budget=keys.frozen(Budget, tables),
            gate=self.gate.gate(),
            staged=self.staged,
            planner="" if self.staged else self.mayor.engine,
            max_parallel=max(keys.PARALLEL, slots + 1),
        )


def load(text: str | bytes, *, source: str) -> Config:
    """Read the text of a configuration file; an empty one gives all defaults.

    Args:
        text: TOML 1.0, which is UTF-8 where it is bytes.
        source: what the messages call the file, such as `.brat/config.toml`.

    Raises:
        ConfigError: it is no TOML, or has unknown keys or values that are not allowed.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:  # https://toml.io/en/v1.0.0#spec
            line = error.object.count(b"\n", 0, error.start) + 1
            byte = error.object[error.start]
            raise ConfigError(
                f"{source}: line {line}: this is not UTF-8 text (byte 0x{byte:02x}); "
                "save the file as UTF-8, which TOML requires"
            ) from error
    text = text.removeprefix("\ufeff")
    try:
        table = toml_table(text)
    except TooMuch as error:
        raise ConfigError(f"{source}: {error}") from error
    except RecursionError as error:
        what = "it is nested too deeply"
        raise ConfigError(f"{source}: this is not valid TOML: {what}") from error
    except ValueError as error:
        # Before Python 3.14 the place stands only in the error's message:
        # https://docs.python.org/3/library/tomllib.html
        found = _PLACE.fullmatch(" ".join(str(error).split()))
        where, what = "", "a number in it is too long"  # of thousands of digits
        if found:
            lines = text.split("\n")
            row, column = found[2] or len(lines), found[3] or len(lines[-1]) + 1
            where = f"line {row}, column {column}: "
            what = _TUPLE.sub(r"\1", found[1])
        raise ConfigError(f"{source}: {where}this is not valid TOML: {what}") from error
    try:
        return Config.model_validate(table)
    except ValidationError as error:
        raise ConfigError(
            *field_faults(source, error, _shape(keys.TomlSchema))
        ) from error


def schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_shape(keys.DescribedSchema),
        "title": "brat configuration",
    }


def _shape(generator: type[keys.TomlSchema]) -> dict[str, Any]:
    return Config.model_json_schema(schema_generator=generator)


WINDOW_MS: Final = HOUR_MS
"""What nobody started for so long is left to the next time."""


class Due(NamedTuple):
    name: str
    begun: int
    """When its time came, unix ms: the same for every look within the window."""


def due(
    hours: Mapping[str, int], repository: str, now: int, window: int = WINDOW_MS
) -> tuple[Due, ...]:
    """Return what is due at `now` (unix ms), in the order of the names.

    `hours` are those between two times, by the schedule's name; `window` is how late
    one may still be started, ms.
    """
    found = []
    for name, every in sorted(hours.items()):
        period = every * HOUR_MS
        seed = f"{repository.casefold()}:{name}".encode()
        digest = hashlib.blake2b(seed, digest_size=8).digest()
        offset = int.from_bytes(digest) % period
        begun = (now - offset) // period * period + offset
        if now - begun < window:
            found.append(Due(name, begun))
    return tuple(found)


Node = Mapping[str, Any]
"""A place in a JSON Schema."""

KeyPath = tuple[int | str, ...]

FAULTS_MOST: Final = 50
LONGEST_SHOWN = 60
_BIGGEST_SHOWN = 10**18
_PLACE = re.compile(r"(.*) \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)")
_TUPLE = re.compile(r"\(('.*?'),?\)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def field_faults(source: str, error: ValidationError, schema: Node) -> Iterator[str]:
    """Yield the line of each fault that pydantic found, in the order of the tables."""
    faults = error.errors(include_url=False)
    for fault in faults[:FAULTS_MOST]:
        place = tuple(part for part in fault["loc"] if part != "[key]")
        node = node_at(schema, fault["loc"][: len(place)])
        where = f"{_dotted(place)}: " if place else ""  # of two tables: it says which
        yield f"{source}: {where}{_sentence(fault, place, node, schema)}"
    if more := faults[FAULTS_MOST:]:
        yield f"{source}: {counted(len(more), 'more fault')}; fix those above first"


def _sentence(fault: ErrorDetails, place: KeyPath, node: Node, schema: Node) -> str:
    match fault["type"]:
        case "told":
            return fault["msg"]
        case "extra_forbidden":
            if advice := keys.FORMER_KEYS.get(_dotted(place)):
                return f"this key no longer exists: {advice}"
            key = str(place[-1])
            known = list(node_at(schema, place[:-1]).get("properties", ()))
            names = (name for name, _ in schema_keys(schema))
            same = [name for name in names if name.rpartition(".")[2] == key]
            elsewhere = f"; did you mean {same[0]}?" if same else ""
            meant = did_you_mean(key, known) or elsewhere
            return f"unknown key; allowed: {', '.join(known)}{meant}"
        case "missing":
            return f"missing; allowed: {allowed_words(node)}"
        case _ if "[key]" in fault["loc"]:
            above = node_at(schema, place[:-1])
            return f"this name is not allowed; allowed: {allowed_words(above)}"
        case _:
            names = node.get("x-names", node.get("enum", ()))
            meant = did_you_mean(str(fault["input"])[:99], names)
            return (
                f"{_shown(fault['input'])} is not allowed; "
                f"allowed: {allowed_words(node)}{meant}"
            )


def schema_keys(schema: Node) -> Iterator[tuple[str, Node]]:
    """Yield each key of the file, with `NAME` for an engine's name, and its schema."""
    for table, node in schema["properties"].items():
        for inner in node.get("patternProperties", {}).values():
            each = node_at({**inner, "$defs": schema["$defs"]}, ())
            for key, value in each["properties"].items():
                yield f"{table}.NAME.{key}", {**_resolved(value, schema), **value}
        each = node_at(schema, (table,))
        if "default" in node and node.get("type") == "boolean":
            yield table, node
        yield from ((f"{table}.{k}", v) for k, v in each.get("properties", {}).items())


def node_at(schema: Node, place: KeyPath) -> Node:
    """Return what the schema says of a place, or of the nearest one it describes."""
    node = _resolved(schema, schema)
    for part in place:
        below: Node | None = node.get("items")
        if not isinstance(part, int):
            named = node.get("properties", {}).get(part)
            others = iter(node.get("patternProperties", {}).values())
            below = named or next(others, None)
        if below is None:
            return node
        node = _resolved(below, schema)
    return node


def _resolved(node: Node, schema: Node) -> Node:
    reference = node.get("$ref")
    if reference is None:
        return node
    resolved: Node = schema["$defs"][reference.rpartition("/")[2]]
    return resolved


def allowed_words(node: Node) -> str:
    match node:
        case {"x-allowed": str(words)}:
            return words
        case {"enum": names}:
            return ", ".join(names)
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "integer", "minimum": low, "maximum": high}:
            return f"a whole number from {low} to {high}"
        case {"type": "array"}:
            return "a list of strings"
        case {"type": "object"}:
            return "a table"
        case {"minLength": int(), "maxLength": most}:
            return f"a string of 1 to {most} characters"
        case _:
            return "a non-empty string"


def _dotted(place: KeyPath) -> str:
    dotted = ""
    for part in place:
        if isinstance(part, int):
            dotted += f"[{part}]"
        else:
            dotted += f".{part}" if _BARE.fullmatch(part) else f".{_quoted(part)}"
    return dotted.removeprefix(".")


def _shown(value: object) -> str:
    match value:
        case str():
            return _quoted(value)
        case bool():
            return str(value).lower()
        case int() if abs(value) > _BIGGEST_SHOWN:
            return "a number this large"
        case list() | tuple():
            return "a list"
        case dict():
            return "a table"
        case _:
            return str(value)


def _quoted(text: str) -> str:
    if len(text) > LONGEST_SHOWN:
        text = f"{text[:LONGEST_SHOWN]}…"
    return json.dumps(text, ensure_ascii=not text.isprintable())
