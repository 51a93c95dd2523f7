"""REST: what the tokens of workflow jobs may do by default.

https://docs.github.com/rest/actions/permissions
"""

from typing import Any, Final, Literal

from msgspec.structs import replace

from brat.forge.resources.account_resource import Record
from brat.forge.rest.rest_call import Answer, Body, Call, Route
from brat.forge.storage.record_store import Table


class Asked(Body):
    """The body of `PUT actions/permissions/workflow`."""

    default_workflow_permissions: Literal["read", "write"] | None = None
    can_approve_pull_request_reviews: bool | None = None


class JobTokens(Record, frozen=True, kw_only=True):
    """A repository's settings; those of an old one, until somebody changes them."""

    repo: int
    default: str = "write"
    approves: bool = False


def _table(call: Call) -> Table[JobTokens]:
    return Table(call.store, JobTokens, lambda one: one.repo)


def _known(call: Call) -> JobTokens:
    kept = _table(call).of(call.repo.id)
    return kept[0] if kept else JobTokens(id=0, repo=call.repo.id)


async def get_settings(call: Call) -> Answer:
    """`GET actions/permissions/workflow`."""
    known = _known(call)
    shown: dict[str, Any] = {
        "default_workflow_permissions": known.default,
        "can_approve_pull_request_reviews": known.approves,
    }
    return Answer(shown)


async def put_settings(call: Call) -> Answer:
    """`PUT actions/permissions/workflow`."""
    asked = call.body(Asked)
    with call.store.change():
        known = _known(call)
        default = asked.default_workflow_permissions or known.default
        approves = asked.can_approve_pull_request_reviews
        approves = known.approves if approves is None else approves
        number = known.id or call.store.next_id()
        _table(call).put(replace(known, id=number, default=default, approves=approves))
    return Answer(status=204)


_URL: Final = "/repos/{owner}/{repo}/actions/permissions/workflow"
ROUTES: Final = (
    Route("GET", _URL, get_settings, "admin"),
    Route("PUT", _URL, put_settings, "admin"),
)
