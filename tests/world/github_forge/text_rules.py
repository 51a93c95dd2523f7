"""Texts: how long they may be."""

from typing import Final

from msgspec import DecodeError, json

from brat.forge.resources.wire import API, fault
from brat.forge.rest.rest_call import Call
from convoy.text import STATUS_CHARS, TITLE_CHARS

_REPOSITORIES = (API + "/repos/{owner}/{repo}", API + "/repositories/{repository}")


def asked_route(call: Call) -> str:
    """Return method and path, such as `GET /pulls/{number}` below a repository."""
    resource = call.request.match_info.route.resource
    path = resource.canonical if resource is not None else ""
    for beginning in _REPOSITORIES:
        path = path.removeprefix(beginning)
    return f"{call.request.method} {path}"


_MOST: Final = {"title": TITLE_CHARS, "body": 65_536, "description": STATUS_CHARS}
_TEXTS: Final = {
    "POST /issues": "Issue",
    "PATCH /issues/{number}": "Issue",
    "POST /pulls": "PullRequest",
    "PATCH /pulls/{number}": "PullRequest",
    "POST /pulls/{number}/reviews": "PullRequestReview",
    "POST /issues/{number}/comments": "IssueComment",
    "PATCH /issues/comments/{comment}": "IssueComment",
    "POST /statuses/{sha}": "Status",
}


def within_limits(call: Call) -> dict[str, str]:
    """Refuse what is too long; what is no JSON, the endpoint refuses itself."""
    resource = _TEXTS.get(asked_route(call))
    try:
        asked = json.decode(call.body_bytes or b"{}")
    except DecodeError:
        return {}
    for field, most in _MOST.items() if resource else ():
        text = asked.get(field)
        if isinstance(text, str) and len(text) > most:
            said = f"{field} is too long (maximum is {most} characters)"
            raise fault(str(resource), field, "custom", said)
    return {}
