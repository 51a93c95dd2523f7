"""Reads an agent's request by its dialect's schema, and writes it anew.

The vendor gets what was read here, not what was written, so that the two cannot
understand it differently.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import MsgspecError, Struct, ValidationError

from runner.proxy.gateway.allowances import Allowances
from runner.proxy.gateway.routes import Purpose, Route
from runner.proxy.gateway.schemas import (
    anthropic_schema,
    chat_schema,
    gemini_schema,
    responses_schema,
)
from runner.proxy.proxy_protocol import Dialect

_SCHEMAS: Final[Mapping[tuple[Dialect, Purpose], type[Struct]]] = {
    ("anthropic", "answer"): anthropic_schema.Messages,
    ("anthropic", "count"): anthropic_schema.CountTokens,
    ("chat", "answer"): chat_schema.ChatCompletions,
    ("responses", "answer"): responses_schema.Responses,
    ("gemini", "answer"): gemini_schema.GenerateContent,
    ("gemini", "count"): gemini_schema.CountTokens,
}
_SHOWN: Final = 200


class RequestRefused(Exception):
    """A request that no agent may make; its text is a sentence for people.

    Attributes:
        what: what of the request it is, as `allow` in the configuration would name it.
    """

    def __init__(self, what: str, why: str) -> None:
        super().__init__(why)
        self.what = what


def checked(
    dialect: Dialect,
    route: Route,
    body: bytes,
    models: Sequence[str],
    allowed: Allowances,
    *,
    stores: bool = False,
) -> bytes:
    """Return the body that the vendor gets.

    Args:
        dialect: the vendor's API.
        route: what is asked for.
        body: what was sent.
        models: the models that may be asked; names, which may have `*` in them.
        allowed: what the configuration opens.
        stores: whether the vendor keeps answers unless it is told not to.

    Raises:
        RequestRefused: no agent may ask that.
    """
    said = _decoded(body)
    name = route.model or said.get("model")
    if not isinstance(name, str) or not fits(name, models):
        raise _refused(f"model={name}")
    try:
        msgspec.convert(
            _typed(dialect, allowed.without(said)), _SCHEMAS[dialect, route.purpose]
        )
    except ValidationError as error:
        raise _refused(*_place(str(error))) from None
    if stores and said.get("store") is None:
        said["store"] = False
    return msgspec.json.encode(said)


def unreadable(what: str) -> RequestRefused:
    """Return the refusal of a body that is no request: `no JSON object`, say."""
    return RequestRefused(what, f"brat passes on no request that is {what}.")


def model_of(route: Route, body: bytes) -> str:
    """Return the model that is asked, or ""."""
    try:
        name = route.model or _decoded(body).get("model")
    except RequestRefused:
        return ""
    return name if isinstance(name, str) else ""


def fits(name: str, models: Sequence[str]) -> bool:
    """Return whether a model is listed, by its name or by one with `*` in it."""
    return any(
        re.fullmatch(".*".join(map(re.escape, each.split("*"))), name)
        for each in models
    )


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise unreadable(f"no JSON object ({error})") from None


def _typed(dialect: Dialect, said: Mapping[str, object]) -> Mapping[str, object]:
    """Return a body whose every message says that it is one, as the API lets it not."""
    items = said.get("input") if dialect == "responses" else None
    if not isinstance(items, list):
        return said
    named = [
        {"type": "message", **each}
        if isinstance(each, dict) and "role" in each
        else each
        for each in items
    ]
    return {**said, "input": named}


_AT: Final = r"(?: - at `\$\.?(?P<at>.*)`)?"
_UNKNOWN: Final = re.compile(rf"Object contains unknown field `(?P<name>.*?)`{_AT}")
_VALUE: Final = re.compile(rf"Invalid (?:enum )?value '?(?P<value>.*?)'?{_AT}")
_OTHER: Final = re.compile(rf"(?P<why>.*?){_AT}")
_OWN: Final = re.compile(r"[\w.]+=\w+")


def _place(error: str) -> tuple[str, str]:
    """Return where a body departs from its schema, and in what, if that helps."""
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
        return unreadable(f"no request of this API{because}")
    return RequestRefused(
        short,
        f"brat passes on no request with {short}{because}: allow = "
        f"[{msgspec.json.encode(short).decode()}] in the engine's table of "
        ".brat/config.toml would open it.",
    )
