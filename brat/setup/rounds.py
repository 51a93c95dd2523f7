"""Shows the steps, does them once the person agrees, and reads each one back."""

from collections.abc import Callable, Sequence
from typing import Final

from bot.forge.rest import Refused
from brat.setup.step import Look, Step, for_a_person
from brat.terminal.console import say
from grite.errors import BratError

_MARKS: Final = {"wanted": "ok  ", "owed": "do  ", "by hand": "hand"}


async def setup(steps: Sequence[Step], agrees: Callable[[], bool]) -> int:
    """Bring a repository to where all steps want it; return the exit status.

    Safe to call again, also after a call that was cut off: each step is looked at
    before anything is done, and what is as wanted is left alone.

    Args:
        steps: in the order in which they are done.
        agrees: asks the person, once, after the whole list was shown.

    Returns:
        0 when everything is as wanted, 1 when something is left.

    Raises:
        Unavailable: the forge did not answer.
    """
    looks = [await _seen(step) for step in steps]
    for look in looks:
        _show(look)
    todo = [
        step for step, look in zip(steps, looks, strict=True) if look.state == "owed"
    ]
    if not todo:
        return _end(looks, changed=False)
    if not agrees():
        say("nothing was changed")
        return 1
    for step in todo:
        refused = await _tried(step)
        looks[steps.index(step)] = after = refused or _proved(step, await _seen(step))
        _show(after)
    return _end(looks, changed=True)


async def _seen(step: Step) -> Look:
    """Look; what may not be seen is a person's to do."""
    try:
        return await step.look()
    except Refused as refused:
        return _told(step, refused)


async def _tried(step: Step) -> Look | None:
    """Do a step; return why it could not be done."""
    try:
        await step.do()
    except BratError as error:
        return _told(step, error)
    return None


def _proved(step: Step, after: Look) -> Look:
    """Return what was read back; what is still owed did not take."""
    if after.state != "owed":
        return after
    return for_a_person(f"the forge took it, and it is not there: {step.by_hand}")


def _told(step: Step, error: BratError) -> Look:
    why = f"the forge answered {error.status}" if isinstance(error, Refused) else error
    return for_a_person(f"{step.by_hand} ({why})")


def _show(look: Look) -> None:
    say(f"  {_MARKS[look.state]}  {look.said}")


def _end(looks: Sequence[Look], *, changed: bool) -> int:
    left = sum(look.state != "wanted" for look in looks)
    if left:
        say(f"{left} left for you: the lines marked hand; then try again")
        return 1
    say("everything is as wanted" + ("" if changed else "; nothing was changed"))
    return 0
