"""Labels that people set and the bot obeys: `brat:hold` and `brat:no`.

What a label says is noted in the log when it is seen, so that rules decide on it alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bot import comment, effects
from bot.comment import HOLD, NO
from bot.desk import Desk
from bot.repository.draft import Draft
from convoy.commands import HoldWork, ReleaseWork
from convoy.state import Convoy, State


class Part(NamedTuple):
    """A convoy (task 0) or a task, and the numbers whose labels it obeys."""

    convoy: str
    task: int
    held: str
    numbers: tuple[int | None, ...]


async def observe(desk: Desk, draft: Draft) -> None:
    """Note which labels hold what now. Safe to call again.

    Raises:
        Unavailable: the forge did not answer.
    """
    parts = tuple(_parts(draft.state))
    if not parts:
        return
    label_of = dict.fromkeys(await desk.github.labelled(HOLD), HOLD)
    label_of.update(dict.fromkeys(await desk.github.labelled(NO), NO))
    for part in parts:
        labels = [label_of[n] for n in part.numbers if n in label_of]
        label = NO if NO in labels else "".join(labels[:1])
        if label and label != part.held:
            hold = HoldWork(convoy=part.convoy, task=part.task, label=label)
            draft.submit(hold)
        elif part.held and not label:
            draft.submit(ReleaseWork(convoy=part.convoy, task=part.task))


async def correct(desk: Desk, state: State) -> None:
    """Let the labels be shown again where somebody changed what the bot had set.

    Raises:
        Unavailable: the forge did not answer.
    """
    for convoy in state.live():
        have, have_not = comment.labels(convoy, desk.settings.label)
        present = (await desk.github.issue(convoy.issue)).label_names
        if have - present or have_not & present:
            desk.shown.pop(effects.labels_key(convoy), None)


async def is_off_limits(desk: Desk, number: int) -> bool:
    """Whether the bot must not act on an issue or pull request."""
    return NO in (await desk.github.issue(number)).label_names


def _parts(state: State) -> Iterator[Part]:
    for convoy in state.live():
        yield Part(convoy.name, 0, convoy.held, (convoy.issue, convoy.pull))
        yield from _tasks(convoy)


def _tasks(convoy: Convoy) -> Iterator[Part]:
    for task in convoy.tasks:
        if task.pull is not None and not task.settled:
            yield Part(convoy.name, task.number, task.held, (task.pull,))
