"""What each attempt at a task came to, in sentences. Pure."""

from collections.abc import Iterable
from typing import Final

from convoy.text.counts_and_times import clock
from convoy.text.duration import spoken
from convoy.views.session_history import Past

_HOW: Final = {
    "running": "runs",
    "handed in": "handed in",
    "landed": "landed",
    "sent back": "was sent back",
    "refused": "was refused",
    "lost": "was lost",
}


def attempt_story(sessions: Iterable[Past], task: int) -> tuple[str, ...]:
    """Return a sentence for each attempt at a task, in order, without a full stop.

    Args:
        sessions: those of the convoy, as they began.
        task: the task's number.
    """
    return tuple(_told(each) for each in sessions if each.task == task)


def _told(one: Past) -> str:
    took = f", {spoken(round(one.took_s))} of work" if one.ended else ""
    landed = f" at {clock(one.landed)}" if one.landed else ""
    judged = f", judged by {', '.join(one.judged)}" if one.judged else ""
    why = one.why.partition("\n\n")[0]
    return (
        f"attempt {one.attempt} by {one.engine} began at {clock(one.begun)}{took}: it "
        f"{_HOW[one.how]}{landed}{judged}{': ' if why else ''}{why}"
    )
