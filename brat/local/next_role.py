"""Which role has work to do that no process carries out now, for `next:`."""

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from bot.roles.bot_context import BotContext
from convoy.model.state import State
from convoy.owed import (
    CancelCi,
    CancelRun,
    Do,
    Role,
    Show,
    item_of,
    item_of_effect,
    role_of,
)
from convoy.owed.owed import owed_actions
from convoy.rules.starting import startable, waits_for_lease


def next_role(
    context: BotContext,
    state: State,
    busy: Collection[Role],
    done: Collection[Role] = (),
) -> Role | None:
    """Return the role to be run next; None: none has work, or all that have it run.

    Args:
        context: what was refused is not proposed again.
        state: what the log says.
        busy: the roles that other processes carry out.
        done: the roles that have just done all they can.
    """
    return next(
        (
            role
            for role in (*_owing(context, state), *_later(context, state, done))
            if role not in busy
        ),
        None,
    )


def _owing(context: BotContext, state: State) -> Iterator[Role]:
    """Yield the roles of what is due now, but for what fails or is refused."""
    observed = replace(context.observed, refs=context.mirror.refs)
    owed = owed_actions(state, observed, context.settings.patience, context.clock())
    for action in owed:
        if isinstance(action, Show):
            continue
        if isinstance(action, Do | CancelRun | CancelCi):
            item = item_of_effect(action)
        else:
            item = item_of(action)
        role = role_of(action)
        if role is not None and item not in context.troubles:
            yield role


def _later(context: BotContext, state: State, done: Collection[Role]) -> Iterator[Role]:
    """Yield the roles of what is not due, but begun or possible."""
    if _runs(state) or _may_start(state, context.clock()):
        yield "witness"
    if "refinery" not in done and _may_merge(state):
        yield "refinery"


def _runs(state: State) -> bool:
    """Whether a session is at work, or its work can be taken in."""
    return any(
        not (convoy.waits_aside or task.waits_aside) for convoy, task in state.running()
    )


def _may_start(state: State, now: int) -> bool:
    return any(
        startable(convoy, task) and not waits_for_lease(state, convoy, task, now)
        for convoy in state.live()
        for task in convoy.tasks
    )


def _may_merge(state: State) -> bool:
    return any(
        task.state == "needs-review" and not task.waits_aside
        for convoy in state.live()
        if not convoy.kept_by
        for task in convoy.tasks
    )
