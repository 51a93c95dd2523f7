"""Reviews: what a session that looks at another task's work is told, and answers. Pure.

The work, what was asked for, and the verdict were all written by others, and are data.
"""

import json
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.events import Opinion
from convoy.planner import REPLY
from convoy.state import Task
from convoy.text.fence import fenced
from convoy.text.json_block import json_in
from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted
from grite.errors import BratError

DIFF_CHARS: Final = 40_000
TEXT_CHARS: Final = 8_000

_BRIEF: Final = """\
Another agent did task {number}, and you have not seen how. This folder is a checkout
with its work in it. Look at the work with fresh eyes: whether it does what was asked,
all of it and nothing else, and what goes wrong with it. Read the code around it, and
run what helps; nothing that you change here is used.

Write your verdict into the file `{file}` at the top of this folder: one JSON object
that fits this schema, and nothing else. If you cannot write files, end your last
message with it, in a block of ```json.

{schema}

`changes` sends the work back to its agent with your `text`: each point with its place
and what is to be different. Ask only for what must change; `approve` may have a `text`,
too.

## What was asked for

{asked}

## What it changed{cut}

{diff}
"""


class Unfit(BratError):
    """The answer is no verdict; its text says why."""


class Answer(BaseModel):
    """A verdict, as an agent writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdict: Opinion
    text: Annotated[str, Field(max_length=TEXT_CHARS)] = ""


def brief(subject: Task, diff: str, fence: str) -> str:
    """Return what a reviewer is told beside its own task, in Markdown.

    Args:
        subject: the task whose work it is.
        diff: the work, as a patch.
        fence: the session's own.
    """
    spec = subject.spec
    is_cut = len(diff) > DIFF_CHARS
    return _BRIEF.format(
        number=subject.number,
        file=REPLY,
        schema=json.dumps(Answer.model_json_schema(), separators=(",", ":")),
        asked=fenced(clean(f"{spec.title}\n\n{spec.instructions}"), fence),
        cut=" (the beginning of it: see the files themselves)" if is_cut else "",
        diff=fenced(clean(cut(diff, DIFF_CHARS)), fence),
    )


def read(text: str) -> Answer:
    """Return the verdict that an agent wrote, cleaned.

    Raises:
        Unfit: it is none, or asks for changes and does not say which.
    """
    try:
        found = Answer.model_validate(json_in(text, "review"))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "The review"
        raise Unfit(f"{cut(clean(place), 80)}: {fault['msg'].rstrip('.')}.") from error
    except ValueError as error:
        raise Unfit(str(error)) from error
    said = redacted(clean(found.text)).strip()
    if found.verdict == "changes" and not said:
        raise Unfit("The review asks for changes and does not say which.")
    return Answer(verdict=found.verdict, text=said)
