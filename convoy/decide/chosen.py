"""What follows when a rival is chosen: the others are dropped, and it is shown."""

from typing import Final

from convoy import ids
from convoy.commands import LoseSession, RefuseWork
from convoy.decide.consequence import again, unsplit
from convoy.decide.verdict import Events
from convoy.events import ActionIntended, ChoiceMade, TaskBlocked, TaskDropped, Usage
from convoy.rivals import left, rivals, smallest
from convoy.state import Convoy, State, Task

ONLY: Final = "it is the only one left that CI finds green"
RULE: Final = "of those that CI finds green its change is the smallest; {}"


def made(
    state: State,
    convoy: Convoy,
    choice: Task,
    winner: Task,
    text: str,
    *,
    usage: Usage | None = None,
) -> Events:
    """Return what follows when a choice takes a rival that CI finds green."""
    commit = winner.work.commit if winner.work else ""
    chosen = ChoiceMade(
        convoy=convoy.name,
        task=choice.number,
        attempt=choice.attempt.number if choice.attempt else 0,
        on=winner.number,
        commit=commit,
        text=text,
        usage=usage or Usage(),
    )
    why = f"task {choice.number} chose task {winner.number}"
    others = (
        TaskDropped(convoy=convoy.name, task=rival.number, why=why)
        for rival in rivals(convoy, choice)
        if rival.number != winner.number and rival.state != "dropped"
    )
    key = ids.pull_key(convoy.name, winner.number)
    pull: Events = ()
    if winner.pull is None and key not in state.intents:
        shown = ActionIntended(
            key=key, kind="pull", convoy=convoy.name, task=winner.number
        )
        pull = (shown,)
    return (chosen, *others, *pull)


def again_or_chosen(
    state: State, command: RefuseWork | LoseSession, task: Task
) -> Events:
    """Return what follows an attempt that failed.

    Where nobody could say which rival is the best, in as many attempts as there are,
    the rule says: it needs no model, and asks no person. What nobody could split waits
    for a person itself.
    """
    events = again(state, command, task)
    spent = [event for event in events if isinstance(event, TaskBlocked)]
    is_spent = bool(spent)
    convoy = state.convoys[command.convoy]
    if task.spec.kind == "split" and spent:
        return unsplit(convoy, task, spent[0].why)
    if task.spec.kind != "choice" or not is_spent:
        return events
    found = left(convoy, task)
    if not found:
        return events
    tried = f"nobody could say which is the best: {command.why}"
    return made(state, convoy, task, smallest(found), RULE.format(tried))
