"""REST: locking a conversation, so that only those who may write can speak in it.

https://docs.github.com/rest/issues/issues#lock-an-issue
"""

from typing import Literal

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue
from brat.forge.rest.labels import note
from brat.forge.rest.lookup import issue_of
from brat.forge.rest.rest_call import Answer, Body, Call, Route


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


_LOCK = r"/repos/{owner}/{repo}/issues/{number:\d+}/lock"
ROUTES = (
    Route("PUT", _LOCK, lock, "write"),
    Route("DELETE", _LOCK, unlock, "write"),
)
