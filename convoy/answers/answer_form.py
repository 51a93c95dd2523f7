"""The form of an answer: how an agent is asked for it, and how it is read.

An answer is a stranger's text. It is judged by a schema; what is wrong with it is told
to the next attempt.
"""

import json
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from convoy.planner import REPLY
from convoy.text.json_block import Unfit, json_in
from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted

FAULTS: Final = 10
"""So many are told at once."""
_ASKED: Final = """\
Write {what} into the file `{file}` at the top of this folder: one JSON object that
fits this schema, and nothing else. If you cannot write files, end your last message
with it, in a block of ```json.

{schema}
"""


class Form(BaseModel):
    """What an agent writes: nothing unknown, nothing changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


F = TypeVar("F", bound=Form)


def asked_for(what: str, form: type[Form]) -> str:
    """Return how an agent is asked to write an answer, in Markdown."""
    schema = json.dumps(form.model_json_schema(), separators=(",", ":"))
    return _ASKED.format(what=what, file=REPLY, schema=schema)


def parsed(text: str, form: type[F], what: str) -> F:
    """Return the answer that an agent wrote, its words as they are.

    Args:
        text: what it wrote, with the answer as the last JSON object.
        form: of the answer.
        what: what faults call it, such as `report`.

    Raises:
        Unfit: it is none; each fault is a sentence.
    """
    try:
        return form.model_validate(json_in(text, what))
    except ValidationError as error:
        faults = error.errors()[:FAULTS]
        places = (".".join(map(str, each["loc"])) or f"The {what}" for each in faults)
        told = (
            f"{cut(clean(place), 80)}: {fault['msg'].rstrip('.')}."
            for place, fault in zip(places, faults, strict=True)
        )
        raise Unfit(" ".join(told)) from error


def words(text: str) -> str:
    """Return an agent's words, cleaned."""
    return redacted(clean(text)).strip()
