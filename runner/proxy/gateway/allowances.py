"""What the configuration opens beyond the schemas: `allow` of `[engine.NAME]`.

An entry is one of four: `GET /v1/models`, a method and a path; `header:NAME` or
`header:NAME=VALUE`; `model=NAME`; or a field such as `speed`, `tools[].made_up`, or,
for one value only, `tools[].type=web_search`, which opens the whole object of that
type. A NAME of a model may end in `*`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

HEADER: Final = "header:"
MODEL: Final = "model="
_TYPE: Final = "type"
_GONE: Final = object()


class Field(Struct, frozen=True):
    """A field that is opened, or one value of it."""

    steps: tuple[str, ...]
    value: str | None


class Allowances(Struct, frozen=True):
    """What is opened."""

    fields: tuple[Field, ...] = ()
    headers: frozenset[str] = frozenset()
    """Names, or names and values with `=` between them, in small letters."""
    models: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()
    """Methods and paths."""

    def without(self, body: Mapping[str, object]) -> Mapping[str, object]:
        """Return a body less what is opened; what is left must fit its schema."""
        left: object = body
        for each in self.fields:
            left = _without(left, each.steps, each.value)
        return left if isinstance(left, dict) else {}


def read(listed: Iterable[str]) -> Allowances:
    """Understand the entries of a configuration."""
    fields, headers, models, paths = [], set(), [], set()
    for each in listed:
        if each.startswith(HEADER):
            headers.add(each.removeprefix(HEADER).lower())
        elif each.startswith(MODEL):
            models.append(each.removeprefix(MODEL))
        elif " /" in each:
            paths.add(each)
        else:
            path, is_value, value = each.partition("=")
            fields.append(Field(tuple(path.split(".")), value if is_value else None))
    return Allowances(
        tuple(fields), frozenset(headers), tuple(models), frozenset(paths)
    )


def _without(node: object, steps: Sequence[str], value: str | None) -> object:
    """Return a copy of a part of a body less one field; _GONE: less all of it."""
    name, rest = steps[0].removesuffix("[]"), steps[1:]
    if not isinstance(node, dict) or name not in node:
        return node
    within, others = node[name], {k: v for k, v in node.items() if k != name}
    if isinstance(within, list) and steps[0].endswith("[]"):
        parts = [_left(each, rest, value) for each in within]
        return others | {name: [each for each in parts if each is not _GONE]}
    left = _left(within, rest, value)
    if left is not _GONE:
        return others | {name: left}
    return _GONE if name == _TYPE and not rest else others


def _left(node: object, rest: Sequence[str], value: str | None) -> object:
    if rest:
        return _without(node, rest, value)
    return _GONE if value is None or _word(node) == value else node


def _word(node: object) -> str:
    return node if isinstance(node, str) else msgspec.json.encode(node).decode()
