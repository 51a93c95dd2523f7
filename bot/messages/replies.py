"""The bot's replies: the reaction and the text for one request and for a comment."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from convoy.model.records import Reaction
from convoy.text import clock, posted

REST: Final = (
    "The rest of this answer is left out, for a comment has an end: ask for one thing "
    "at a time, or look with `brat status`."
)


class Reply(Struct, frozen=True):
    """The outcome of one request."""

    reaction: Reaction
    text: str
    why: str = ""
    """Why the request was refused, as the end of a sentence; empty: it was not."""
    asks: bool = False
    """Whether the text is what was asked for, and nothing was changed."""
    brief: str = ""
    """What is said instead in the convoy's comment, where that shows it all."""


def done(text: str, *, asks: bool = False, brief: str = "") -> Reply:
    """Return the reply that the request was carried out."""
    return Reply("rocket", text, asks=asks, brief=brief)


def refused(why: str) -> Reply:
    """Return the reply that the rules refuse the request."""
    return Reply("confused", f"That cannot be done: {why.rstrip('.')}.", why)


def denied(verb: str, right: str) -> Reply:
    """Return the reply that the person lacks the right."""
    why = f"`{verb}` takes {right} access to this repository"
    return Reply("-1", f"{why}.", why)


def malformed(why: str) -> Reply:
    """Return the reply that the line is no command."""
    return Reply("confused", f"{why[:1].upper()}{why[1:].rstrip('.')}.")


MAILED: Final = refused(
    "a command that comes by mail does not count, for a mail's sender can be forged; "
    "say it on the forge's page"
)


def enough(by: str, again_at: int) -> str:
    """Return the answer to a person who asks for more than is answered.

    Args:
        by: the person.
        again_at: when the next answer may be given, unix ms.
    """
    return (
        f"@{by} That is more than is answered within an hour. This was not carried "
        f"out, and nothing is that you say before {clock(again_at)}: say it again then."
    )


def reaction(given: Sequence[Reply]) -> Reaction:
    """Return the one reaction to a comment: the worst of its commands' reactions."""
    order: tuple[Reaction, ...] = ("-1", "confused", "rocket")
    all_given = {reply.reaction for reply in given}
    return next((each for each in order if each in all_given), "")


def text(by: str, given: Sequence[Reply]) -> str:
    """Return the one reply to a comment; it mentions its author, if one is named."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    called = f"@{by} " if by else ""
    return posted(f"{called}{said}", REST) if said else ""


def brief_text(given: Sequence[Reply]) -> str:
    """Return the same for the convoy's comment, which mentions nobody."""
    said = (reply.brief or reply.text for reply in given)
    return "\n\n".join(filter(None, said)).replace("@", "@\u200b")
