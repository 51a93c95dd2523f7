"""What an agent may ask its model's vendor for: pure rules, no input or output.

The same key also opens files, batches, fine-tuning and the account's administration,
whose use would not be counted. So each address is built anew: nothing of what was asked
reaches the vendor as it was written. Headers that are not listed are left out, for they
could move the cost to another project of the key, turn on what the schemas leave out,
or stand for another method. A body is read by its dialect's schema and written anew:
the vendor gets what was read here, so that the two cannot understand it differently.

`allow` of `[engine.NAME]` opens more. An entry is one of four: `GET /v1/models`, a
method and a path; `header:NAME` or `header:NAME=VALUE`; `model=NAME`; or a field such
as `speed`, `tools[].made_up`, or, for one value only, `tools[].type=web_search`, which
opens the whole object of that type. A NAME of a model may end in `*`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, MsgspecError, Struct, ValidationError, defstruct

from runner.proxy.proxy_protocol import Dialect

OPENS_HEADER: Final = "header:"
OPENS_MODEL: Final = "model="
_TYPE: Final = "type"
_GONE: Final = object()


class Allowances(Struct, frozen=True):
    fields: tuple[tuple[list[str], str | None], ...] = ()
    """Each by the steps that lead there, with the one value of it that is opened."""
    headers: frozenset[str] = frozenset()
    """Names, or names and values with `=` between them, in small letters."""
    models: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()

    def without(self, body: Mapping[str, object]) -> Mapping[str, object]:
        """Return a body less what is opened; what is left must fit its schema."""
        left: object = body
        for steps, value in self.fields:
            left = _without(left, steps, value)
        return left if isinstance(left, dict) else {}


def read_allowances(listed: Iterable[str]) -> Allowances:
    fields, headers, models, paths = [], set(), [], set()
    for each in listed:
        if each.startswith(OPENS_HEADER):
            headers.add(each.removeprefix(OPENS_HEADER).lower())
        elif each.startswith(OPENS_MODEL):
            models.append(each.removeprefix(OPENS_MODEL))
        elif " /" in each:
            paths.add(each)
        else:
            path, is_value, value = each.partition("=")
            fields.append((path.split("."), value if is_value else None))
    return Allowances(
        tuple(fields), frozenset(headers), tuple(models), frozenset(paths)
    )


def _without(node: object, steps: Sequence[str], value: str | None) -> object:
    """Return a copy of a part of a body less one field; _GONE: less all of it."""
    if not steps:
        said = node if isinstance(node, str) else msgspec.json.encode(node).decode()
        return _GONE if value in (None, said) else node
    name, rest = steps[0].removesuffix("[]"), steps[1:]
    if not isinstance(node, dict) or name not in node:
        return node
    within, others = node[name], {k: v for k, v in node.items() if k != name}
    if isinstance(within, list) and steps[0].endswith("[]"):
        parts = [_without(each, rest, value) for each in within]
        return others | {name: [each for each in parts if each is not _GONE]}
    left = _without(within, rest, value)
    if left is not _GONE:
        return others | {name: left}
    return _GONE if name == _TYPE and not rest else others


KEY_IN_QUERY: Final = "key"
"""The parameter in which Gemini's API takes its key, too."""


class Route(Struct, frozen=True):
    purpose: str
    """`answer`, a model's; `count`, of a request's tokens; `account`, what the key's
    account may use; `opened`, what the configuration opened, is not looked into."""
    path: str
    """The path, in characters that need no escape."""
    query: str = ""
    model: str = ""
    """The model, where the path names it."""
    schema: str = ""
    """What its body must be: a vendor's API and an object of it."""


_TARGET: Final = re.compile(r"(?P<path>(?:/[\w:@-][\w.:@-]*)+)(?:\?(?P<query>.*))?")
"""A path in plain ASCII, none of whose parts is empty or begins with a dot."""


def route_of(
    dialect: Dialect, method: str, target: str, opened: frozenset[str] = frozenset()
) -> Route | None:
    """Return what a request is for; None: no agent may ask for it."""
    found = _TARGET.fullmatch(target) if target.isascii() else None
    if found is None:
        return None
    given = [each for each in (found["query"] or "").split("&") if each]
    query = [each for each in given if not each.startswith(f"{KEY_IN_QUERY}=")]
    for line in _section("routes").splitlines():
        speaks, purpose, schema, verb, path, *parameters = line.split()
        fits = re.fullmatch(path, found["path"])
        if (speaks, verb) == (dialect, method) and fits and {*parameters} >= {*query}:
            named = {"path": found["path"], "schema": schema, **fits.groupdict()}
            return Route(purpose, query="&".join(query), **named)
    is_opened = f"{method} {found['path']}" in opened and not query
    return Route("opened", found["path"]) if is_opened else None


_BETA: Final = "anthropic-beta"
_DATE: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z")


def _is_listed(where: str, name: str) -> bool:
    """Whether a name is in a section of `schemas.txt`, perhaps by its beginning."""
    return fits(name, _section(where).split())


def request_headers(
    headers: Iterable[tuple[str, str]], allowed: Allowances
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the headers that the vendor gets, and what of its trials it does not."""
    passed, refused = [], []
    for name, value in headers:
        small = name.lower()
        is_opened = {small, f"{small}={value.lower()}"} & allowed.headers
        if is_opened or _is_listed("headers asked", small):
            passed.append((name, value))
        elif small == _BETA:
            trials = [each.strip() for each in value.split(",") if each.strip()]
            kept = [each for each in trials if _may_try(each, allowed)]
            refused += [each for each in trials if each not in kept]
            if kept:
                passed.append((name, ",".join(kept)))
    return passed, refused


def answer_headers(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the headers of an answer that the agent gets."""
    for name, value in headers:
        if _is_listed("headers answered", name.lower()):
            yield name, value


def _may_try(name: str, allowed: Allowances) -> bool:
    opened = {_BETA, f"{_BETA}={name.lower()}"} & allowed.headers
    return bool(opened) or _is_listed("trials", _DATE.sub("", name))


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
_ALTERNATIVE: Final = re.compile(r"\[.*?\]|[^|]+")
_FIELD: Final = re.compile(r"(\w+)([?*]?):(\S+)")


@cache
def _section(name: str) -> str:
    """Return what `schemas.txt` has below a name, a line each."""
    text = Path(__file__).with_name("schemas.txt").read_text(encoding="utf-8")
    section = text.partition(f"[{name}]\n")[2].partition("\n\n")[0]
    return re.sub(r"#.*\n|\n(?= )", "", section)


@cache
def schemas_of(api: str) -> dict[str, Any]:
    """Return the objects of a vendor's API by their names, from `schemas.txt`.

    A line there is an object that holds the fields listed and no others. `Name(tag)` is
    one of several that their `type` tells apart, `Name<Base` has all of another's
    fields, too; `Name = A | B` is one of these. A line that begins with a space goes on
    with the last. `field?:T` may be left out or null, `field*:[T]` may be left out. A T
    is a name, a word of `_PLAIN`, `[T]` for a list, `{a,b}` for one of these words, or
    several with `|`.
    """
    known = dict(_PLAIN)
    for line in _section(api).splitlines():
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
    parts = _ALTERNATIVE.findall(text)
    return reduce(or_, [_one(each, known) for each in parts])


def _one(text: str, known: dict[str, Any]) -> Any:  # noqa: ANN401  likewise
    if text.startswith("{"):
        return Literal[tuple(text[1:-1].split(","))]
    if text.startswith("["):
        return GenericAlias(list, _type(text[1:-1], known))
    return known[text]


_HOSTED: Final = ("bedrock", "vertex")
"""They take Anthropic's messages without the model and with some of its headers."""
_TRIALS: Final = "anthropic_beta"
_SHOWN: Final = 200


class RequestRefused(Exception):
    """A request that no agent may make; its text is a sentence for people."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(why)
        self.what = what
        """What of the request it is, as `allow` in the configuration would name it."""


def check(
    dialect: Dialect,
    route: Route,
    said: dict[str, Any],
    models: Sequence[str],
    allowed: Allowances,
) -> None:
    """Leave in a body what the vendor gets, or raise `RequestRefused`."""
    name = route.model or said.get("model")
    named = isinstance(name, str) and fits(name, models)
    if route.purpose != "account" and not named:
        raise _refused(f"model={name}")
    if dialect in _HOSTED and route.model and "model" in said:
        raise _refused(f"model={said['model']}")
    try:
        api, _, schema = route.schema.partition(".")
        left = allowed.without(said)
        whole = {"model": name, **left} if dialect in _HOSTED else {**left}
        if dialect == "responses" and isinstance(items := whole.get("input"), list):
            # Each message says that it is one, as the API lets it not.
            message = {"type": "message"}
            whole["input"] = [
                message | each if isinstance(each, dict) and "role" in each else each
                for each in items
            ]
        msgspec.convert(whole, schemas_of(api)[schema])
    except ValidationError as error:
        raise _refused(*_place(str(error))) from None
    if isinstance(tried := said.get(_TRIALS), list):
        said[_TRIALS] = [each for each in tried if _may_try(each, allowed)]


def unreadable(what: str) -> RequestRefused:
    """Return the refusal of a body that is no request: `no JSON object`, say."""
    return RequestRefused(what, f"brat does not forward a request that is {what}.")


def fits(name: str, models: Sequence[str]) -> bool:
    """Return whether a model is listed, by its name or by one with `*` in it."""
    return len(name) <= _SHOWN and any(
        re.fullmatch(".*".join(map(re.escape, each.split("*"))), name)
        for each in models
    )


_VALUES: Final = 2_000_000
"""A model reads fewer; an empty list of two bytes takes sixty in memory."""


def decoded(body: bytes) -> dict[str, Any]:
    if sum(map(body.count, (b"[", b"{", b","))) > _VALUES:
        raise unreadable("of too many parts")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise unreadable(f"not a JSON object ({error})") from None


_AT: Final = r"(?: - at `\$\.?(?P<at>.*)`)?"
_UNKNOWN: Final = re.compile(rf"Object contains unknown field `(?P<name>.*?)`{_AT}")
_VALUE: Final = re.compile(rf"Invalid (?:enum )?value '?(?P<value>.*?)'?{_AT}")
_OTHER: Final = re.compile(rf"(?P<why>.*?){_AT}")
_OWN: Final = re.compile(r"[\w.]+=\w+")
_LONGEST: Final = 2_000
"""A longer error quotes what was made to be slow; it is told as it is."""


def _place(error: str) -> tuple[str, str]:
    """Return where a body departs from its schema, and in what, if that helps."""
    if len(error) > _LONGEST:
        return "", error
    if found := _UNKNOWN.fullmatch(error):
        where = [each for each in (_at(found), found["name"]) if each]
        return ".".join(where), ""
    if found := _VALUE.fullmatch(error):
        return f"{_at(found)}={found['value']}", ""
    if _OWN.fullmatch(error):
        return error, ""
    found = _OTHER.fullmatch(error)
    return (_at(found), found["why"]) if found else ("", error)


def _at(found: re.Match[str]) -> str:
    return re.sub(r"\[[^\]]*\]", "[]", found["at"] or "")


def _refused(what: str, why: str = "") -> RequestRefused:
    short = what[:_SHOWN]
    because = f" ({why[:_SHOWN]})" if why else ""
    if not short:
        return unreadable(f"not valid in this API{because}")
    return RequestRefused(
        short,
        f"brat does not forward a request with {short}{because}. To allow it, set "
        f"allow = [{msgspec.json.encode(short).decode()}] in the engine's table of "
        ".brat/config.toml.",
    )
