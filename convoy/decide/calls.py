"""Calling people, once for each thing that waits for them."""

from convoy import ids
from convoy.commands import CallPeople
from convoy.decide.consequence import notice
from convoy.decide.verdict import Decision, Refusal
from convoy.events import ActionIntended, PeopleCalled
from convoy.needs import uncalled
from convoy.state import State


def call(state: State, command: CallPeople) -> Decision:
    """Announce the comment that calls them, if what waits has not been said."""
    convoy = state.convoys.get(command.convoy)
    if convoy is None:
        return Refusal(f"there is no convoy {command.convoy}")
    needs = tuple(need.key for need in uncalled(convoy))
    if not needs:
        return Refusal(f"nobody is needed in {convoy.name} who was not called")
    key = ids.sign_key("call", f"{convoy.name}/{command.now}")
    what = f"{command.now}"
    return (
        PeopleCalled(convoy=convoy.name, needs=needs),
        ActionIntended(key=key, kind="answer", issue=convoy.issue, text=command.text),
        *notice(convoy, "intervention", what, command.notice),
    )
