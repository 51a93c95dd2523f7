"""Says what is wrong with a configuration file, one line for each fault.

A line is `file: key: what is wrong; what is allowed; did you mean X?`. What is allowed
is read from the JSON Schema, so that messages, editors and documents never differ.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from convoy.text.nearest import did_you_mean

Node = Mapping[str, Any]
"""A place in a JSON Schema."""

Place = tuple[int | str, ...]

LONGEST_SHOWN = 60
_BIGGEST_SHOWN = 10**18
_PLACE = re.compile(r"(.*) \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)")
_TUPLE = re.compile(r"\(('.*?'),?\)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def encoding_fault(source: str, error: UnicodeDecodeError) -> str:
    """Return the line about bytes that are no UTF-8, as TOML always is.

    https://toml.io/en/v1.0.0#spec
    """
    line = error.object.count(b"\n", 0, error.start) + 1
    byte = error.object[error.start]
    return (
        f"{source}: line {line}: this is not UTF-8 text (byte 0x{byte:02x}); "
        "TOML is always UTF-8: save the file in that encoding"
    )


def syntax_fault(source: str, text: str, error: Exception) -> str:
    """Return the line about a text that is no TOML.

    Args:
        source: what to call the file.
        text: the file's text.
        error: what `tomllib.loads` raised. Before Python 3.14 the place stands only in
            its message: https://docs.python.org/3/library/tomllib.html
    """
    if isinstance(error, RecursionError):
        return f"{source}: this is no TOML: it is nested too deeply"
    found = _PLACE.fullmatch(" ".join(str(error).split()))
    if not found:  # int() on a number of thousands of digits
        return f"{source}: this is no TOML: a number in it is too long"
    what, line, column = found.groups()
    what = _TUPLE.sub(r"\1", what)
    lines = text.split("\n")
    line, column = line or len(lines), column or len(lines[-1]) + 1
    return f"{source}: line {line}, column {column}: this is no TOML: {what}"


def field_faults(source: str, error: ValidationError, schema: Node) -> Iterator[str]:
    """Yield the line of each fault that pydantic found, in the order of the tables."""
    for fault in error.errors(include_url=False):
        place = tuple(part for part in fault["loc"] if part != "[key]")
        node = node_at(schema, fault["loc"][: len(place)])
        where = f"{_dotted(place)}: " if place else ""  # of two tables: it says which
        yield f"{source}: {where}{_sentence(fault, place, node, schema)}"


def _sentence(fault: ErrorDetails, place: Place, node: Node, schema: Node) -> str:
    match fault["type"]:
        case "told":
            return fault["msg"]
        case "extra_forbidden":
            return _unknown(str(place[-1]), node_at(schema, place[:-1]), schema)
        case "missing":
            return f"missing; allowed: {allowed(node)}"
        case _ if "[key]" in fault["loc"]:
            above = node_at(schema, place[:-1])
            return f"this name is not allowed; allowed: {allowed(above)}"
        case _:
            names = node.get("x-names", node.get("enum", ()))
            meant = did_you_mean(str(fault["input"])[:99], names)
            return (
                f"{_shown(fault['input'])} is not allowed; "
                f"allowed: {allowed(node)}{meant}"
            )


def _unknown(key: str, table: Node, schema: Node) -> str:
    known = list(table.get("properties", ()))
    meant = did_you_mean(key, known)
    if not meant:
        same = [name for name, _ in keys(schema) if name.rpartition(".")[2] == key]
        meant = f"; did you mean {same[0]}?" if same else ""
    return f"unknown key; allowed: {', '.join(known)}{meant}"


def keys(schema: Node) -> Iterator[tuple[str, Node]]:
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


def node_at(schema: Node, place: Place) -> Node:
    """Return what the schema says of a place, or of the nearest one it describes."""
    node = _resolved(schema, schema)
    for part in place:
        below = _below(node, part)
        if below is None:
            return node
        node = _resolved(below, schema)
    return node


def _below(node: Node, part: int | str) -> Node | None:
    below: Node | None
    if isinstance(part, int):
        below = node.get("items")
    else:
        named = node.get("properties", {}).get(part)
        below = named or next(iter(node.get("patternProperties", {}).values()), None)
    return below


def _resolved(node: Node, schema: Node) -> Node:
    reference = node.get("$ref")
    if reference is None:
        return node
    resolved: Node = schema["$defs"][reference.rpartition("/")[2]]
    return resolved


def allowed(node: Node) -> str:
    """Say in a few words what a value may be."""
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
            return "a string that is not empty"


def _dotted(place: Place) -> str:
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
            return "a number of that size"
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
