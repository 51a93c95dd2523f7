"""REST: who is assigned to an issue, and who can be.

https://docs.github.com/rest/issues/assignees
"""

from brat.forge.resources.account_resource import User
from brat.forge.resources.issue_resource import Issue
from brat.forge.rest.labels import can_be_assigned, reassign
from brat.forge.rest.lookup import issue_of
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.wire import not_found


class Assignees(Body):
    """The body of `POST` and `DELETE issues/{number}/assignees`."""

    assignees: tuple[str, ...] = ()


def _named(call: Call) -> list[User]:
    known = map(call.service.forge.user, call.body(Assignees).assignees)
    return [who for who in known if who is not None]


def _assigned(call: Call, issue: Issue) -> list[User]:
    return [call.service.renderer.who(number) for number in issue.assignees]


async def add_assignees(call: Call) -> Answer:
    """`POST issues/{number}/assignees`: those who cannot be are left out, as there."""
    issue = issue_of(call)
    more = [who for who in _named(call) if can_be_assigned(call, who, issue)]
    wanted = {who.id: who for who in (*_assigned(call, issue), *more)}
    with call.store.change():
        issue = reassign(call, issue, list(wanted.values()))
    return Answer(call.service.renderer.issue(call.repo, issue), 201)


async def remove_assignees(call: Call) -> Answer:
    """`DELETE issues/{number}/assignees`; safe to call twice."""
    issue, fewer = issue_of(call), _named(call)
    wanted = [who for who in _assigned(call, issue) if who not in fewer]
    with call.store.change():
        issue = reassign(call, issue, wanted)
    return Answer(call.service.renderer.issue(call.repo, issue))


async def list_assignees(call: Call) -> Answer:
    """`GET assignees`: who can be assigned to any issue."""
    everybody = call.store.users.all()
    able = [who for who in everybody if can_be_assigned(call, who, None)]
    return call.page(able, call.service.renderer.user)


async def may_be_assigned(call: Call) -> Answer:
    """`GET assignees/{login}`, of the repository or of one issue: 204, or 404."""
    issue = issue_of(call) if "number" in call.request.match_info else None
    who = found(call.service.forge.user(call.word("login")))
    if not can_be_assigned(call, who, issue):
        raise not_found()
    return Answer(status=204)


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + r"/issues/{number:\d+}/assignees"
ROUTES = (
    Route("GET", _REPO + "/assignees", list_assignees),
    Route("GET", _REPO + "/assignees/{login}", may_be_assigned),
    Route("GET", _ISSUE + "/{login}", may_be_assigned),
    Route("POST", _ISSUE, add_assignees, "triage"),
    Route("DELETE", _ISSUE, remove_assignees, "triage"),
)
