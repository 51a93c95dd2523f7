"""What the bot says to commands: every sentence, and the reaction that goes with it."""

from collections.abc import Sequence

from msgspec import Struct

from bot import comment
from bot.speech.grammar import Misheard
from bot.speech.verbs import help_text
from convoy.events import Reaction
from convoy.reasons import waits_for
from convoy.state import Convoy

VERSION = "0.1.0"
TEXT_CHARS = 60_000


class Reply(Struct, frozen=True):
    """What one command came to."""

    reaction: Reaction
    text: str


def done(text: str) -> Reply:
    """It was done."""
    return Reply("rocket", text)


def refused(why: str) -> Reply:
    """The rules forbid it."""
    return Reply("confused", f"That cannot be done: {why}.")


def denied(verb: str) -> Reply:
    """The person may not."""
    return Reply("-1", f"`{verb}` takes write access to this repository.")


def misheard(what: Misheard) -> Reply:
    """The line is no command."""
    return Reply("confused", f"{what.why[:1].upper()}{what.why[1:].rstrip('.')}.")


def help_with(verb: str | None) -> Reply:
    """What can be said."""
    return done(help_text(verb))


def pong(login: str) -> Reply:
    """The bot is there."""
    return done(f"{login} is here, version {VERSION}.")


def status(convoy: Convoy) -> Reply:
    """Where the convoy stands."""
    return done(comment.convoy_table(convoy))


def why(convoy: Convoy, number: int) -> Reply:
    """What a task waits for, and what it went through."""
    task = convoy.task(number)
    if task is None:
        return refused(f"{convoy.name} has no task {number}")
    lines = [f"Task {number} is {task.state}, after {task.started} attempts."]
    if waits := waits_for(convoy, task):
        lines.append(f"It waits for {comment.inline(waits)}.")
    lines += [f"- {comment.inline(note)}" for note in task.notes]
    return done("\n".join(lines))


def reaction(given: Sequence[Reply]) -> Reaction:
    """Return the one reaction for a comment: the worst of its commands'."""
    order: tuple[Reaction, ...] = ("-1", "confused", "rocket")
    all_given = {reply.reaction for reply in given}
    return next((each for each in order if each in all_given), "")


def text(by: str, given: Sequence[Reply]) -> str:
    """Return the one reply to a comment."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    return f"@{by} {said}"[:TEXT_CHARS] if said else ""
