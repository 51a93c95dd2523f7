"""Reads lines of JSON leniently: a line that is not JSON of the right form is text."""

from typing import TypeVar

import msgspec

from runner.engines.engine_events import Said, Text, ToolUse

SHOWN_CHARS = 200

Form = TypeVar("Form", bound=msgspec.Struct)


def decoded(line: str, form: type[Form]) -> Form | None:
    """Return the line as `form`, or None if it is not such JSON. Never raises."""
    try:
        return msgspec.json.decode(line, type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def program(line: str) -> tuple[Said, ...]:
    """Return a line that is not the model's as text; nothing for an empty line."""
    return (Text(text=line, by="program"),) if line.strip() else ()


def agent(text: str | None) -> tuple[Said, ...]:
    """Return the model's words as text; nothing if they are empty."""
    return (Text(text=text),) if text and text.strip() else ()


def tool(name: str, given: object = None, *, refused: bool = False) -> ToolUse:
    """Return the use of a tool, with the first text among its arguments."""
    values = list(given.values()) if isinstance(given, dict) else [given]
    words = (each for each in values if isinstance(each, str) and each.strip())
    about = " ".join(next(words, "").split())
    return ToolUse(name=name, about=about[:SHOWN_CHARS], refused=refused)
