"""The bot's replies, to one request and to a comment."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bot.text import phrase
from bot.text.visible_text import code_span
from convoy.model.records import Reaction
from convoy.text import full_stop, posted


class Reply(Struct, frozen=True):
    reaction: Reaction
    text: str
    why: str = ""
    """Why the request was refused, as the end of a sentence; empty: it was not."""
    asks: bool = False
    """Whether the text is what was asked for, and nothing was changed."""
    brief: str = ""
    """What is said instead in the convoy's comment, where that shows it all."""


def refused(why: str) -> Reply:
    return Reply("confused", f"That cannot be done: {why.rstrip('.')}.", why)


def denied(verb: str, right: str) -> Reply:
    why = f"`{verb}` requires {right} access to this repository"
    return Reply("-1", f"{why}.", why)


def malformed(why: str) -> Reply:
    return Reply("confused", full_stop(f"{why[:1].upper()}{why[1:]}"))


MAILED: Final = refused(phrase("mailed"))
LATE_REVIEW: Final = refused(phrase("late-review"))


def of_thread(said: str, *, is_done: bool) -> str:
    """Return the answer in a review thread: the commit, or why it was not followed."""
    return f"Done in {said}." if is_done else f"Not changed: {code_span(said, 400)}"


def reaction(given: Sequence[Reply]) -> Reaction:
    """Return the one reaction to a comment: the worst of its commands' reactions."""
    order: tuple[Reaction, ...] = ("-1", "confused", "rocket")
    all_given = {reply.reaction for reply in given}
    return next((each for each in order if each in all_given), "")


def text(by: str, given: Sequence[Reply]) -> str:
    """Return the one reply to a comment; it mentions its author, if one is named."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    called = f"@{by} " if by else ""
    return posted(f"{called}{said}", phrase("answer-cut")) if said else ""


def brief_text(given: Sequence[Reply]) -> str:
    """Return the same for the convoy's comment, which mentions nobody."""
    said = (reply.brief or reply.text for reply in given)
    return "\n\n".join(filter(None, said)).replace("@", "@\u200b")
