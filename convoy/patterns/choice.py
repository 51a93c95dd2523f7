"""Choices: what a session that compares rivals is told, and what it answers. Pure.

The rivals' work and their answer were all written by others, and are data.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.planner import REPLY
from convoy.state import Task
from convoy.text.fence import fenced
from convoy.text.json_block import json_in
from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted
from grite.errors import BratError

DIFFS_CHARS: Final = 60_000
"""Of all rivals; each has as much as any other."""
TEXT_CHARS: Final = 2_000

_BRIEF: Final = """\
Several agents did the same task, each without seeing the others' work, and CI found
all of these green: tasks {numbers}. This folder is a checkout as it was before. Compare
what they changed, and choose the one that lands; the others are thrown away. Look for
the one that does what was asked, all of it and nothing else, is right where tests do
not look, and fits the code around it. Change nothing in this folder.

Write your choice into the file `{file}` at the top of this folder: one JSON object that
fits this schema, and nothing else. If you cannot write files, end your last message
with it, in a block of ```json.

{schema}

`winner` is the number of one of these tasks, `text` says in a few sentences why it is
the best, and what the others lack.

## What was asked for

{asked}
"""


class Unfit(BratError):
    """The answer is no choice; its text says why."""


class Answer(BaseModel):
    """A choice, as an agent writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    winner: int
    text: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS)]


def room(rivals: Sequence[Task]) -> int:
    """Return how many characters of its change each rival is shown with."""
    return DIFFS_CHARS // max(1, len(rivals))


def brief(rivals: Sequence[tuple[Task, str]], fence: str) -> str:
    """Return what a judge is told beside its own task, in Markdown.

    Args:
        rivals: those that can be chosen, each with its work as a patch.
        fence: the session's own.
    """
    first = rivals[0][0].spec
    parts = [
        _BRIEF.format(
            numbers=", ".join(str(task.number) for task, _ in rivals),
            file=REPLY,
            schema=json.dumps(Answer.model_json_schema(), separators=(",", ":")),
            asked=fenced(clean(f"{first.title}\n\n{first.instructions}"), fence),
        )
    ]
    most = room([task for task, _ in rivals])
    for task, diff in rivals:
        is_cut = " (the beginning of it)" if len(diff) > most else ""
        parts.append(f"## What task {task.number} changed{is_cut}\n")
        parts.append(fenced(clean(cut(diff, most)), fence) + "\n")
    return "\n".join(parts)


def read(text: str, rivals: Sequence[Task], green: Sequence[Task]) -> Answer:
    """Return the choice that an agent made, cleaned.

    Args:
        text: what it wrote, with the choice as the last JSON object.
        rivals: all that there are.
        green: those that can be chosen.

    Raises:
        Unfit: it is none, or names what cannot be chosen.
    """
    try:
        found = Answer.model_validate(json_in(text, "choice"))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "The choice"
        raise Unfit(f"{cut(clean(place), 80)}: {fault['msg'].rstrip('.')}.") from error
    except ValueError as error:
        raise Unfit(str(error)) from error
    numbers = [task.number for task in green]
    if found.winner not in numbers:
        known = any(task.number == found.winner for task in rivals)
        why = "is not green in CI" if known else "is none of the rivals"
        there = ", ".join(map(str, numbers))
        raise Unfit(f"Task {found.winner} {why}: choose one of {there}.")
    return Answer(winner=found.winner, text=redacted(clean(found.text)).strip())
