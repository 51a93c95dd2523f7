"""The bot's replies: the reaction and the text for one request and for a comment."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from convoy.model.records import Reaction
from convoy.text.counts_and_times import clock
from convoy.text.forge_limits import posted

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


def done(text: str) -> Reply:
    """Return the reply that the request was carried out."""
    return Reply("rocket", text)


def refused(why: str) -> Reply:
    """Return the reply that the rules refuse the request."""
    return Reply("confused", f"That cannot be done: {why}.", why)


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
    """Return the one reply to a comment."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    return posted(f"@{by} {said}", REST) if said else ""
