"""Records of GitHub's of which nothing is known yet: each property has a dull value.

GitHub's own description says which properties there are. What brat or a test looks at
is written over them: see `tests/world/github_forge/shapes.py`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msgspec import json

from brat.forge.resources.forge_records import EPOCH
from tests.contract.openapi import SPEC

_PLAIN: Final[Mapping[str, object]] = {
    "array": (),
    "boolean": False,
    "integer": 0,
    "number": 0,
}
_URL: Final = "https://example.com/"
_WORDS: Final = {"date-time": EPOCH, "uri": _URL}


@cache
def schemas() -> dict[str, Any]:
    """Return GitHub's descriptions, by the names of records."""
    described: dict[str, Any] = json.decode(SPEC.read_bytes())["components"]["schemas"]
    return described


@cache
def dull(name: str) -> Mapping[str, Any]:
    """Return a record with all that it must have; what may be null is."""
    return _record(schemas()[name])


def _record(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return {name: _value(properties[name], name) for name in required}


def _value(schema: Mapping[str, Any], name: str) -> object:
    if "$ref" in schema:
        return _value(schemas()[schema["$ref"].rpartition("/")[2]], name)
    if schema.get("nullable"):
        return None
    for how in ("allOf", "anyOf", "oneOf"):
        if how in schema:
            return _value(schema[how][0], name)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "string":
        return (
            _URL
            if name.endswith(("url", "href"))
            else _WORDS.get(schema.get("format", ""), "")
        )
    return _PLAIN[kind] if kind in _PLAIN else _record(schema)
