"""What a pull request's timeline keeps of its merge queue."""

from typing import Final

from brat.forge.resources.account_resource import User
from brat.forge.resources.issue_resource import IssueEvent, Pull
from brat.forge.service.running_forge import Service

ADDED: Final = "added_to_merge_queue"
REMOVED: Final = "removed_from_merge_queue"


def note(service: Service, pull: Pull, actor: User, event: str) -> None:
    """Note that a pull request came into its queue, or left it."""
    store = service.forge.store
    store.issue_events.put(
        IssueEvent(
            id=store.next_id(),
            issue=pull.id,
            actor=actor.id,
            event=event,
            created_at=service.forge.now(),
        )
    )
