"""The input of a verb's rule: who asks, where, and the draft that takes events."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from bot.verbs.verb import NotPossible
from convoy.model.state import Convoy, State, Task

if TYPE_CHECKING:  # the command line reads the table: the bot's tools are slow to load
    from bot.context.bot_context import BotContext
    from bot.door.inbox import Remark
    from bot.repository.draft import Draft
    from convoy.events import Command


class Asker(Struct, frozen=True, kw_only=True):
    """Who asks for something, and where."""

    by: str
    """The person's name on the forge, or the name of whoever acts for them."""
    number: int = 0
    """The issue or pull request; 0: the convoy is given by name."""
    convoy: str = ""
    """The convoy's name; empty: the newest convoy that the number belongs to."""
    nonce: str = ""
    """Distinguishes a lock taken here from the same person's other locks."""
    remark: "Remark | None" = None
    """The comment with the request; None: the request came in another way."""
    review: int = 0
    """The review with the request; 0: it was none."""
    allowed: bool = False
    """Whether the person's right has been checked already."""
    at_endpoint: bool = False
    """Whether a button, the API or the command line asks."""


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """The context of one request; for one push."""

    bot: "BotContext"
    draft: "Draft"
    asker: Asker

    @property
    def by(self) -> str:
        """Who asks."""
        return self.asker.by

    @property
    def convoy(self) -> Convoy:
        """The convoy that the request is about, as it is in the draft.

        Raises:
            NotPossible: no convoy belongs to the issue.
        """
        found = convoy_meant(self.draft.state, self.asker)
        if found is None:
            raise NotPossible("no convoy belongs to this issue")
        return found

    @property
    def own_task(self) -> Task | None:
        """The task whose pull request was commented on; None: another place."""
        number = self.asker.number
        return next((t for t in self.convoy.tasks if number and t.pull == number), None)

    def submit(self, command: "Command") -> None:
        """Put a command to the rules; its events join the draft.

        Raises:
            NotPossible: the rules refuse the command; the draft is unchanged.
        """
        if refused := self.draft.submit(command):
            raise NotPossible(refused.why)


def convoy_meant(state: State, asker: Asker) -> Convoy | None:
    """Return the convoy that somebody's request is about."""
    if asker.convoy:
        return state.convoys.get(asker.convoy)
    return convoy_of(state, asker.number)


def convoy_of(state: State, number: int) -> Convoy | None:
    """Return the newest convoy that an issue or pull request belongs to."""
    found = [
        name
        for name, known in state.convoys.summaries()
        if number in (known.issue, *known.pulls)
    ]
    return state.convoys[found[-1]] if found else None
