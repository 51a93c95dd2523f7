"""How long what people write may be, as GitHub refuses it."""

from brat.forge.wire.http_refusals import fault
from convoy.text.forge_limits import BODY_CHARS, TITLE_CHARS


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
