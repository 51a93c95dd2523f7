"""REST: locking a conversation, so that only those who may write can speak in it.

https://docs.github.com/rest/issues/issues#lock-an-issue
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, issue_of
from brat.forge.rest.rest_labels import note
from tests.world.github_forge.asked_route import asked_route

LOCKING: Final = "https://docs.github.com/articles/locking-conversations/"
_DEEDS: Final[Mapping[str, str]] = {
    "POST /issues/{number}/comments": "create comment",
    "PATCH /issues/comments/{comment}": "update comment",
    "POST /issues/{number}/reactions": "create reaction",
    "POST /issues/comments/{comment}/reactions": "create reaction",
    "POST /pulls/{number}/reviews": "create review",
}


class Lock(Body):
    """The body of `PUT lock`."""

    lock_reason: Literal["off-topic", "too heated", "resolved", "spam"] | None = None


async def lock(call: Call) -> Answer:
    """`PUT issues/{number}/lock`; safe to call twice."""
    issue, asked = issue_of(call), call.body(Lock)
    return _turned(call, issue, locked=True, reason=asked.lock_reason)


async def unlock(call: Call) -> Answer:
    """`DELETE issues/{number}/lock`; safe to call twice."""
    return _turned(call, issue_of(call), locked=False, reason=None)


def _turned(call: Call, issue: Issue, *, locked: bool, reason: str | None) -> Answer:
    if issue.locked != locked:
        now = call.service.forge.now()
        action = "locked" if locked else "unlocked"
        with call.store.change():
            issue = call.store.issues.put(
                replace(issue, locked=locked, lock_reason=reason, updated_at=now)
            )
            note(call, issue, action)
            call.service.events.either(call.repo, call.user, action, issue)
    return Answer(status=204)


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


_LOCK = r"/repos/{owner}/{repo}/issues/{number:\d+}/lock"
ROUTES = (
    Route("PUT", _LOCK, lock, "write"),
    Route("DELETE", _LOCK, unlock, "write"),
)
