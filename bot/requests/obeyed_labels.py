"""Labels that people set and the bot obeys: `brat:hold` and `brat:no`.

Each label is noted in the log when it is seen, so that the rules need only the log.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text.convoy_comment import HOLD_LABEL, NO_LABEL, labels_key, wanted_labels
from convoy.events.hold_events import HoldWork, ReleaseWork
from convoy.model.state import Convoy, State


class Part(NamedTuple):
    """A convoy (task 0) or a task, with the issues and pull requests it obeys."""

    convoy: str
    task: int
    held: str
    numbers: tuple[int | None, ...]


async def observe(context: BotContext, draft: Draft) -> None:
    """Note which labels hold which convoys and tasks now. Safe to call again.

    Raises:
        Unavailable: the forge did not answer.
    """
    parts = tuple(_parts(draft.state))
    if not parts:
        return
    label_of = dict.fromkeys(await context.github.labelled(HOLD_LABEL), HOLD_LABEL)
    label_of.update(dict.fromkeys(await context.github.labelled(NO_LABEL), NO_LABEL))
    for part in parts:
        labels = [label_of[n] for n in part.numbers if n in label_of]
        label = NO_LABEL if NO_LABEL in labels else "".join(labels[:1])
        if label and label != part.held:
            hold = HoldWork(convoy=part.convoy, task=part.task, label=label)
            draft.submit(hold)
        elif part.held and not label:
            draft.submit(ReleaseWork(convoy=part.convoy, task=part.task))


async def correct(context: BotContext, convoy: Convoy) -> None:
    """Have a convoy's labels set again if somebody changed them.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not show the issue.
    """
    key, settle_ms = labels_key(convoy), context.settings.settle_s * 1000
    if context.clock() - context.memory.labelled.get(key, 0) < settle_ms:
        return  # the forge may show our own writes late
    have, have_not = wanted_labels(convoy, context.settings.label)
    present = (await context.github.issue(convoy.issue)).label_names
    if have - present or have_not & present:
        context.memory.shown.pop(key, None)


async def is_off_limits(context: BotContext, number: int) -> bool:
    """Whether the bot must not act on an issue or pull request."""
    return NO_LABEL in (await context.github.issue(number)).label_names


def _parts(state: State) -> Iterator[Part]:
    for convoy in state.live():
        yield Part(convoy.name, 0, convoy.held, (convoy.issue, convoy.pull))
        yield from _tasks(convoy)


def _tasks(convoy: Convoy) -> Iterator[Part]:
    for task in convoy.tasks:
        if task.pull is not None and not task.settled:
            yield Part(convoy.name, task.number, task.held, (task.pull,))
