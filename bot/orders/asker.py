"""Who asks for something, and where: what all orders have in common."""

from msgspec import Struct

from bot.orders import replies
from bot.orders.replies import Reply
from bot.repository.draft import Draft
from convoy.commands import Command
from convoy.state import Convoy, Task


class Asker(Struct, frozen=True, kw_only=True):
    """A person who may ask for it."""

    by: str
    """By their name on the forge."""
    number: int
    """The issue or pull request on which it was said."""
    nonce: str
    """Tells what they lock here from what they lock elsewhere."""

    def own_task(self, convoy: Convoy) -> Task | None:
        """Return the task whose pull request it was said on."""
        return next((t for t in convoy.tasks if t.pull == self.number), None)


def do(draft: Draft, command: Command, said: Reply) -> Reply:
    """Put a command to the rules; return `said`, or why it may not be."""
    refused = draft.submit(command)
    return replies.refused(refused.why) if refused else said
