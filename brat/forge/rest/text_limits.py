"""How long what people write may be, as GitHub refuses it."""

from typing import Final

from brat.forge.wire.http_refusals import fault

MOST_BODY: Final = 65536
MOST_TITLE: Final = 256


def checked(resource: str, title: str | None, body: str | None) -> None:
    """Check what a person wrote.

    Raises:
        Refused: 422: there is no title, or something is too long.
    """
    if title is not None and not title.strip():
        raise fault(resource, "title", "missing_field")
    within(resource, "title", title, MOST_TITLE)
    within(resource, "body", body, MOST_BODY)


def within(resource: str, field: str, text: str | None, most: int) -> None:
    """Check that a text has at most so many characters.

    Raises:
        Refused: 422: it has more.
    """
    if text is not None and len(text) > most:
        said = f"{field} is too long (maximum is {most} characters)"
        raise fault(resource, field, "custom", said)
