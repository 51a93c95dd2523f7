"""Who may not speak in a conversation that is locked."""

from collections.abc import Mapping
from typing import Final

from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Call
from tests.world.github_forge.asked_route import asked_route

LOCKING: Final = "https://docs.github.com/articles/locking-conversations/"
_DEEDS: Final[Mapping[str, str]] = {
    "POST /issues/{number}/comments": "create comment",
    "PATCH /issues/comments/{comment}": "update comment",
    "POST /issues/{number}/reactions": "create reaction",
    "POST /issues/comments/{comment}/reactions": "create reaction",
    "POST /pulls/{number}/reviews": "create review",
}


def open_to(call: Call) -> dict[str, str]:
    """Refuse whoever may not speak in a locked conversation; Apps never may; a guard.

    https://docs.github.com/communities/moderating-comments-and-conversations/locking-conversations
    """
    deed = _DEEDS.get(asked_route(call))
    if deed is None:
        return {}
    named = call.request.match_info
    if "comment" in named:
        comment = call.store.comments.get(int(named["comment"]))
        issue = call.store.issues.get(comment.issue) if comment else None
    else:
        known = call.store.issues.of(call.repo.id)
        issue = next((one for one in known if str(one.number) == named["number"]), None)
    may_write = call.service.forge.may(call.repo, call.user, "write")
    is_locked = issue is not None and issue.locked
    if is_locked and (call.token.access is not None or not may_write):
        said = f"Unable to {deed} because issue is locked."
        raise Refused(403, said, docs=LOCKING)
    return {}
