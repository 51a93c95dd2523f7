"""The tables of docs/log-format.md: each event, its fields and what they mean.

What a field means is the string under it in convoy/events/, else the line of its name
here: `convoy` means the same in every event.
"""

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from convoy.config import keys
from convoy.log.record import CLAIMS, EVENTS
from tests.documents.tables import table

MEANINGS: Final = {
    "allowed": "Patterns; if there are any, a patch may change only files that match.",
    "argv0": "The program that was started.",
    "attempt": "The attempt's number, from 1.",
    "base": "The commit that the work is based on.",
    "branch": "The branch, without refs/heads/.",
    "by": "Who asked: their user name on the forge.",
    "budget": "How much can be spent before nothing more starts.",
    "candidate": "The candidate's commit.",
    "cause": "Why it was queued; `planned`, `conflict`, `outage`, `setup`, "
    "`spent` and `retry` do not use up an attempt.",
    "comment": "The comment's id on the forge.",
    "commit": "The commit's full id.",
    "convoy": "The convoy's name.",
    "engine": "The engine that works on the task.",
    "engines": "The engines by name; `default` always exists.",
    "exit_code": "The exit status; null: a signal ended it.",
    "expires": "When the lease expires (unix ms).",
    "faults": "What the gate would reject if an agent had made it, one sentence each.",
    "files": "The paths that were changed.",
    "gate": "What a patch may change.",
    "holder": "Who holds it: a session (`<convoy>/<task>/<attempt>`) or a person.",
    "instructions": "What the agent is told to do.",
    "issue": "The issue's number on the forge.",
    "key": "The key that identifies the action and says what it is.",
    "kind": "The kind of action.",
    "limits": "What one attempt may use.",
    "nonce": "Distinguishes the lease from earlier ones of the same holder.",
    "number": "The run's id, or the number of the pull request, issue or comment.",
    "output_bytes": "How many bytes it may print.",
    "paths": "The paths that were changed.",
    "planner": "What made the plan.",
    "protected": "Patterns that no patch may change.",
    "resource": "The resource, such as `path:src/` or `port:5432`.",
    "seconds": "How long it took, in seconds.",
    "settings": "A snapshot of the configuration.",
    "signal": "The number of the signal that ended it; null: none did.",
    "strategy": "How the work gets onto the branch.",
    "summary": "The agent's closing sentence.",
    "target": "The target branch's commit.",
    "task": "The task's number; 0 is the convoy itself.",
    "tasks": "The tasks, in the order of their numbers.",
    "text": "The issue's text at that time.",
    "title": "The title, in one line.",
    "usage": "What the session that ended used, according to its engine.",
    "verdict": "The witness's verdict on the session, never the agent's own.",
    "version": "The bot's version.",
    "why": "The reason, for people and for the next attempt.",
}

_OWN: Final = {
    ("AnswerShown", "text"): "The answer's text.",
    ("Finding", "detail"): "An explanation.",
    (
        "Landing",
        "way",
    ): "The bot pushes, the forge or its merge queue merges, or a person does.",
    ("Report", "findings"): "What it found, most important first.",
    ("Report", "recommendation"): "What the agent recommends.",
    ("Report", "summary"): "The answer, in a few sentences.",
    ("Scope", "task"): "The task's number.",
    ("MergeFailed", "candidate"): "The candidate's commit; null: none could be built.",
    ("SessionHandoff", "commit"): "The commit's full id; null: no work.",
    ("TaskAllowed", "paths"): "The protected paths that it may change.",
    ("TaskMerged", "commit"): "What landed; null: there was nothing to change.",
    ("TaskSpec", "kind"): "What the task is for; docs/workflows.md explains each kind.",
    ("WorkReviewed", "verdict"): "The reviewer's verdict.",
}

_SIMPLE: Final[dict[object, str]] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "true or false",
    NoneType: "null",
}


def _within(kinds: Iterable[type[Struct]]) -> Iterator[type[Struct]]:
    """Yield the structs of the kinds' fields, and of theirs, as they are met."""
    for kind in kinds:
        for hint in get_type_hints(kind).values():
            found = [each for each in _named(hint) if each not in kinds]
            yield from found
            yield from _within(found)


def _named(hint: Any) -> Iterator[type[Struct]]:  # noqa: ANN401
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for inner in get_args(hint):
        yield from _named(inner)


PARTS: Final = tuple(dict.fromkeys(_within((*EVENTS, *CLAIMS))))
"""What events are made of."""


def tables() -> str:
    groups = {"Events": EVENTS, "Claims": CLAIMS, "Parts": PARTS}
    return "\n".join(
        f"## {title}\n\n" + "\n".join(map(_section, kinds))
        for title, kinds in groups.items()
    )


def meaning(kind: type[Struct], field: str) -> str:
    """Return what a field means.

    Raises `KeyError`: nobody has said it yet; say it in convoy/events/.
    """
    known = _OWN | _documented()
    said = (known.get((each.__name__, field)) for each in kind.__mro__)
    return next(filter(None, said), None) or MEANINGS[field]


def _section(kind: type[Struct]) -> str:
    rows = (
        (f"`{field}`", _spoken(hint), meaning(kind, field))
        for field, hint in get_type_hints(kind).items()
        if field != "v"
    )
    name = kind.__struct_config__.tag or kind.__name__
    about = " ".join((inspect.getdoc(kind) or "").split())
    fields = table(("field", "type", "meaning"), rows)
    return f"### `{name}`\n\n{about}\n\n{fields}".replace("<", "&lt;")


def _spoken(hint: Any) -> str:  # noqa: ANN401  a type, or a special form of one
    """Return a type as JSON has it, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{word}`" for word in args)
    if origin in (Union, UnionType):
        return " or ".join(map(_spoken, args))
    if origin is tuple:
        return f"list of {_spoken(args[0])}"
    if origin is dict:
        return f"{_spoken(args[1])} by name"
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


@cache
def _documented() -> dict[tuple[str, str], str]:
    """Return the strings that stand under fields, by class and field."""
    return {
        (kind.__name__, field): " ".join(text.split())
        for kind in {
            base for kind in (*EVENTS, *CLAIMS, *PARTS) for base in kind.__mro__
        }
        if issubclass(kind, Struct) and kind is not Struct
        for field, text in keys.words(kind).items()
    }
