"""What GraphQL shows of a pull request's timeline: its merge queue.

https://docs.github.com/graphql/reference/unions#pullrequesttimelineitems
"""

from dataclasses import dataclass
from typing import Final

from brat.forge.resources.issue_resource import IssueEvent, Pull
from brat.forge.resources.wire import node_id
from tests.world.github_forge.graphql_git import AccountNode, account
from tests.world.github_forge.graphql_viewer import Viewer
from tests.world.github_forge.queue_events import ADDED, REMOVED

_KINDS: Final = {ADDED: "AddedToMergeQueueEvent", REMOVED: "RemovedFromMergeQueueEvent"}


@dataclass(frozen=True)
class QueueEventNode:
    """One such event."""

    viewer: Viewer
    event: IssueEvent

    @property
    def kind(self) -> str:
        """GitHub's name of its type."""
        return _KINDS[self.event.event]

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.event.id)

    @property
    def created_at(self) -> str:
        """When it happened."""
        return self.event.created_at

    def actor(self) -> AccountNode:
        """Return who did it."""
        return account(self.viewer.service.renderer.who(self.event.actor))


def timeline(
    viewer: Viewer, pull: Pull, kinds: list[str] | None, last: int | None
) -> dict[str, object]:
    """Return the last events of some kinds, oldest first."""
    wanted = [kind.removesuffix("_EVENT").lower() for kind in kinds or ()] or _KINDS
    found = viewer.service.forge.store.issue_events.of(pull.id)
    shown = [QueueEventNode(viewer, one) for one in found if one.event in wanted]
    return {"nodes": shown[-(last or len(shown)) :], "total_count": len(shown)}
