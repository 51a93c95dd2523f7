"""What a request to each vendor may hold, built from `schemas.txt` beside this module.

A line there is an object that holds the fields listed and no others. `Name(tag)` is one
of several that their `type` tells apart, `Name<Base` has all of another's fields, too;
`Name = A | B` is one of these. A line that begins with a space goes on with the last.
`field?:T` may be left out or null, `field*:[T]` may be left out. A T is a name, a word
of `_PLAIN`, `[T]` for a list, `{a,b}` for one of these words, or several with `|`.
"""

import re
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, defstruct

from runner.proxy.proxy_protocol import Dialect

_PLAIN: Final[dict[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "None": NoneType,
    # What the vendor only hands back or reads as text, such as a tool's arguments.
    "Json": Any,
    # The content itself, in place of an address from which the vendor would fetch it.
    "DataUrl": Annotated[str, Meta(pattern=r"\Adata:")],
    "One": Annotated[int, Meta(ge=1, le=1)],
    "Off": bool,
    "Strings": dict[str, str],
}
_HEAD: Final = re.compile(r"(?P<name>\w+)(\((?P<tag>\w+)\))?(<(?P<base>\w+))?")
_FIELD: Final = re.compile(r"(\w+)([?*]?):(\S+)")


@cache
def schemas_of(dialect: Dialect) -> dict[str, Any]:
    """Return the objects of a vendor's API by their names."""
    text = Path(__file__).with_name("schemas.txt").read_text(encoding="utf-8")
    section = text.partition(f"[{dialect}]\n")[2].partition("\n\n")[0]
    known = dict(_PLAIN)
    for line in re.sub(r"#.*\n|\n(?= )", "", section).splitlines():
        head, _, rest = line.partition(" =")
        if "|" in rest and ":" not in rest:
            known[head] = _type(re.sub(" ", "", rest), known)
        elif found := _HEAD.fullmatch(head):
            known[found["name"]] = _object(rest, known, **found.groupdict())
    return known


def _object(
    rest: str, known: dict[str, Any], name: str, tag: str | None, base: str | None
) -> type[Struct]:
    fields: list[Any] = []
    for field, how, text in _FIELD.findall(rest):
        kind = _type(text, known)
        if how == "?":
            fields.append((field, kind | None, None))
        else:
            fields.append((field, kind, ()) if how else (field, kind))
    off = [field for field, _, text in _FIELD.findall(rest) if text == "Off"]

    def refuse(said: object) -> None:
        """Refuse what has the right type and the wrong value."""
        for each in off:
            if getattr(said, each):
                raise ValueError(f"{each}=true")

    return defstruct(
        name,
        fields,
        bases=(known[base],) if base else None,
        namespace={"__post_init__": refuse} if off else None,
        tag=tag,
        tag_field="type" if tag else None,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _type(text: str, known: dict[str, Any]) -> Any:  # noqa: ANN401  types of all kinds
    """Return the type that a text names, less its spaces."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return reduce(or_, [_one(each, known) for each in parts])


def _one(text: str, known: dict[str, Any]) -> Any:  # noqa: ANN401  likewise
    if text.startswith("{"):
        return Literal[tuple(text[1:-1].split(","))]
    if text.startswith("["):
        return GenericAlias(list, _type(text[1:-1], known))
    return known[text]
