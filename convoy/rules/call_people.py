"""Calling people, once for each thing that waits for them."""

from convoy.events.command import Command, Decision, Refusal
from convoy.events.forge_actions import ActionIntended
from convoy.events.people_called import PeopleCalled
from convoy.model import ids
from convoy.model.state import State
from convoy.readiness.needs import uncalled
from convoy.rules.consequences import notice


class CallPeople(Command, frozen=True, kw_only=True):
    """Something waits for a person: say so."""

    convoy: str
    text: str
    now: int
    """Unix ms."""
    notice: str = ""
    """The same in plain text, for a webhook."""

    def decide(self, state: State) -> Decision:
        """Announce the comment that calls them, if they have not been told yet."""
        convoy = state.convoys.get(self.convoy)
        if convoy is None:
            return Refusal(f"there is no convoy {self.convoy}")
        needs = tuple(need.key for need in uncalled(state, convoy))
        if not needs:
            return Refusal(f"nobody is needed in {convoy.name} who was not called")
        key = ids.sign_key("call", f"{convoy.name}/{self.now}")
        what = f"{self.now}"
        return (
            PeopleCalled(convoy=convoy.name, needs=needs),
            ActionIntended(key=key, kind="answer", issue=convoy.issue, text=self.text),
            *notice(convoy, "intervention", what, self.notice),
        )
