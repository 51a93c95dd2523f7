"""REST: statuses that are set and combined, checks that are looked at and wanted again.

https://docs.github.com/rest/commits/statuses
"""

from typing import Any, Literal

from msgspec.structs import asdict

from brat.forge.resources.wire import Refused, fields
from brat.forge.rest.rest_call import Answer, Body, Call, Route
from brat.forge.rest.rest_repositories import commit_of
from tests.world.github_forge.shapes import CommitStatus, said_in


class NewStatus(Body):
    state: Literal["error", "failure", "pending", "success"]
    context: str = "default"
    description: str | None = None
    target_url: str | None = None


def _face(call: Call, one: CommitStatus) -> dict[str, Any]:
    who = call.renderer.user(call.renderer.who(one.creator))
    return {
        **fields(one, "id state description target_url context"),
        "creator": who,
    }


async def create_status(call: Call) -> Answer:
    asked, sha = call.body(NewStatus), call.word("sha")
    if call.bare.kind(sha) != "commit":
        raise Refused(422, f"No commit found for SHA: {sha}")
    with call.store.change():
        status = said_in(call.store).statuses.add(
            CommitStatus(
                repo=call.repo.id,
                sha=sha,
                creator=call.user.id,
                **asdict(asked),
            )
        )
        body = {**_face(call, status), "sha": sha}
        call.service.events.send(call.repo, call.user, ("status", None), body)
    return Answer(_face(call, status), 201)


async def combined_status(call: Call) -> Answer:
    """The combined status: red if one is, else pending if one is or there is none."""
    sha = commit_of(call)
    known = said_in(call.store).statuses.of((call.repo.id, sha))
    newest = [*{one.context: one for one in known}.values()]
    states = {one.state for one in newest}
    state = "success" if states == {"success"} else "pending"
    if states & {"failure", "error"}:
        state = "failure"

    def shown(one: CommitStatus) -> dict[str, Any]:
        face = _face(call, one)
        del face["creator"]
        return face

    page = call.page(newest, shown, wrap="statuses")
    return Answer({"state": state, "sha": sha} | page.body, headers=page.headers)


async def list_statuses(call: Call) -> Answer:
    """`GET commits/{ref}/statuses`: all of them, newest first."""
    known = said_in(call.store).statuses.of((call.repo.id, commit_of(call)))
    return call.page(known[::-1], lambda one: _face(call, one))


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("POST", _REPO + "/statuses/{sha}", create_status, "write"),
    Route("GET", _REPO + "/commits/{ref:.+}/status", combined_status),
    Route("GET", _REPO + "/commits/{ref:.+}/statuses", list_statuses),
)
