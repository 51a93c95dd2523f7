"""What is wrong with the body of a request, in GitHub's words."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct, json, structs

_AN: Final = {
    "array": "an array",
    "bool": "a boolean",
    "int": "a number",
    "object": "an object",
    "str": "a string",
}
_WRONG_TYPE: Final = re.compile(
    r"Expected `(?P<type>[^`]+)`, got `(?P<got>[^`]+)`(?: - at `\$\.?(?P<at>.*)`)?"
)


def words(body: bytes, kind: type, error: str) -> str:
    """Name all that is wrong with a body, a line each."""
    return "\n".join(_faults(json.decode(body), kind, error))


def _faults(shown: Any, kind: Any, error: str) -> Iterator[str]:  # noqa: ANN401  JSON
    """Name what is wrong with a body, as GitHub does."""
    wrong = _WRONG_TYPE.match(error)
    if wrong:
        *first, _ = wrong["type"].split(" | ")
        wanted = _AN.get(first[0] if first else wrong["type"], wrong["type"])
        at = re.sub(r"\.|\[(\.{3}|\d+)\]", "/", wrong["at"] or "").strip("/")
        where = f"For 'properties/{at}', {_at(shown, at)}" if at else _plain(shown)
        yield f"{where} is not {wanted}."
        return
    if isinstance(shown, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        fields = structs.fields(kind)
        missing = [
            one.encode_name
            for one in fields
            if one.required and one.encode_name not in shown
        ]
        known = {one.encode_name for one in fields}
        closed = kind.__struct_config__.forbid_unknown_fields
        unknown = [key for key in shown if closed and key not in known]
        if unknown:
            yield _listed(unknown, "is not a permitted key", "are not permitted keys")
        if missing:
            yield _listed(missing, "wasn't supplied", "weren't supplied")
        if unknown or missing:
            return
    yield error


def _listed(names: Sequence[str], one: str, many: str) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{quoted} {one if len(names) == 1 else many}."


def _at(shown: Any, path: str) -> str:  # noqa: ANN401  JSON
    """Write what a body has at a path."""
    for part in path.split("/"):
        if not isinstance(shown, dict) or part not in shown:
            break
        shown = shown[part]
    return _plain(shown)


def _plain(shown: Any) -> str:  # noqa: ANN401  JSON
    return "nil" if shown is None else json.encode(shown).decode()
