"""How long what people write may be, as GitHub refuses it."""

import re
from collections.abc import Sequence
from typing import Final

from brat.forge.wire.http_refusals import Refused, fault
from convoy.text import BODY_CHARS, LABEL_CHARS, SUMMARY_CHARS, TITLE_CHARS

MOST_ANNOTATIONS: Final = 50
"""In one request. https://docs.github.com/rest/checks/runs#create-a-check-run"""
MOST_ACTIONS: Final = 3
ACTION_CHARS: Final = {"label": 20, "description": 40, "identifier": 20}
_LABEL_TEXT: Final = 100
_COLOR: Final = re.compile(r"[0-9A-Fa-f]{6}")


def checked(resource: str, title: str | None, body: str | None) -> None:
    """Check what a person wrote.

    Raises:
        Refused: 422: there is no title, or something is too long.
    """
    if title is not None and not title.strip():
        raise fault(resource, "title", "missing_field")
    within(resource, "title", title, TITLE_CHARS)
    within(resource, "body", body, BODY_CHARS)


def within(resource: str, field: str, text: str | None, most: int) -> None:
    """Check that a text has at most so many characters.

    Raises:
        Refused: 422: it has more.
    """
    if text is not None and len(text) > most:
        said = f"{field} is too long (maximum is {most} characters)"
        raise fault(resource, field, "custom", said)


def checked_label(name: str, color: str, description: str | None) -> None:
    """Check what a label is to be.

    Raises:
        Refused: 422: it has no name, no such colour can be, or something is too long.
    """
    if not name.strip():
        raise fault("Label", "name", "missing_field")
    within("Label", "name", name, LABEL_CHARS)
    within("Label", "description", description, _LABEL_TEXT)
    if not _COLOR.fullmatch(color):
        raise fault("Label", "color", "invalid")


def checked_output(texts: dict[str, str | None], annotations: Sequence[object]) -> None:
    """Check what a check run says: characters are counted first, and then bytes.

    https://github.com/github/docs/issues/35252 has the second sentence,
    https://github.com/reviewdog/action-actionlint/issues/72 the first.

    Raises:
        Refused: 422: it is too much.
    """
    for field, text in texts.items():
        size = len(text or "")
        if size > SUMMARY_CHARS:
            raise _too_many(f"Only {SUMMARY_CHARS} characters are", size)
        if len((text or "").encode()) > SUMMARY_CHARS:
            said = f"{field} exceeds a maximum bytesize of {SUMMARY_CHARS}"
            raise fault("CheckRun", field, "custom", said)
    if len(annotations) > MOST_ANNOTATIONS:
        most = f"No more than {MOST_ANNOTATIONS} items are"
        raise _too_many(most, len(annotations))


def checked_actions(actions: Sequence[dict[str, str]]) -> None:
    """Check the buttons of a check run.

    https://docs.github.com/rest/checks/runs#create-a-check-run has the figures.

    Raises:
        Refused: 422: there are too many, or a text is too long.
    """
    if len(actions) > MOST_ACTIONS:
        raise _too_many(f"No more than {MOST_ACTIONS} items are", len(actions))
    for field, most in ACTION_CHARS.items():
        for action in actions:
            within("CheckRun", field, action[field], most)


def _too_many(most: str, given: int) -> Refused:
    said = f"Invalid request.\n\n{most} allowed; {given} were supplied."
    return Refused(422, said)
