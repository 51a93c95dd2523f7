"""REST: issues, and the events that tell what was done to them.

https://docs.github.com/en/rest/issues/issues
"""

from typing import Any, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue
from brat.forge.rest.assignments import assignees, reassign
from brat.forge.rest.issue_lookup import issue_of
from brat.forge.rest.label_changes import Named, label_names, note, relabel
from brat.forge.rest.request_bodies import Body
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.rest.text_limits import checked
from brat.forge.wire.http_refusals import Refused


class NewIssue(Body):
    """The body of `POST issues`."""

    title: str
    body: str | None = None
    labels: tuple[Named, ...] = ()
    assignee: str | None = None
    assignees: tuple[str, ...] = ()
    milestone: None = None
    type: None = None


class IssueChange(Body):
    """The body of `PATCH issues/{number}`; what is left out stays."""

    title: str | UnsetType = UNSET
    body: str | UnsetType | None = UNSET
    state: Literal["open", "closed"] | UnsetType = UNSET
    state_reason: (
        Literal["completed", "not_planned", "duplicate", "reopened"] | UnsetType | None
    ) = UNSET
    labels: tuple[Named, ...] | UnsetType = UNSET
    assignee: str | UnsetType | None = UNSET
    assignees: tuple[str, ...] | UnsetType = UNSET
    milestone: None = None
    type: None = None


def written_before(issue: Issue, title: str, body: str | None) -> dict[str, Any]:
    """Return what an edit changes, as webhooks tell it."""
    was: dict[str, Any] = {}
    if title != issue.title:
        was["title"] = {"from": issue.title}
    if body != issue.body:
        was["body"] = {"from": issue.body or ""}
    return was


async def create_issue(call: Call) -> Answer:
    """`POST issues`: labels and assignees only of those who may set them, as there."""
    asked = call.body(NewIssue)
    checked("Issue", asked.title, asked.body)
    now = call.service.forge.now()
    with call.store.change():
        repo = call.service.forge.numbered(call.repo)
        issue = call.store.issues.put(
            Issue(
                id=call.store.next_id(),
                repo=repo.id,
                number=repo.last_number,
                title=asked.title,
                body=asked.body,
                author=call.user.id,
                created_at=now,
                updated_at=now,
            )
        )
        if call.service.forge.may(repo, call.user, "triage"):
            issue = relabel(call, issue, add=label_names(asked.labels))
            logins = _logins(asked.assignee, asked.assignees) or ()
            issue = reassign(call, issue, assignees(call, logins, issue))
        call.service.events.issue(repo, call.user, "opened", issue)
    face = call.service.renderer.issue(repo, issue)
    return Answer(face, 201, {"Location": face["url"]})


async def get_issue(call: Call) -> Answer:
    """`GET issues/{number}`."""
    return Answer(call.service.renderer.issue(call.repo, issue_of(call)))


async def change_issue(call: Call) -> Answer:
    """`PATCH issues/{number}`."""
    issue, asked = issue_of(call), call.body(IssueChange)
    if issue.author != call.user.id:
        call.need("triage")
    with call.store.change():
        issue = _edit(call, issue, asked)
        if not isinstance(asked.labels, UnsetType):
            call.need("triage")
            issue = relabel(call, issue, to=label_names(asked.labels))
        logins = _logins(asked.assignee, asked.assignees)
        if logins is not None:
            call.need("triage")
            issue = reassign(call, issue, assignees(call, logins, issue))
        if isinstance(asked.state, str) and asked.state != issue.state:
            issue = _turn(call, issue, asked)
    return Answer(call.service.renderer.issue(call.repo, issue))


def _logins(
    one: str | UnsetType | None, many: tuple[str, ...] | UnsetType
) -> tuple[str, ...] | None:
    """Return who is to be assigned by the older field and the newer; None: neither."""
    if isinstance(many, UnsetType):
        return None if isinstance(one, UnsetType) else (one,) if one else ()
    return (*many, one) if isinstance(one, str) and one else many


def _edit(call: Call, issue: Issue, asked: IssueChange) -> Issue:
    """Change title and body, and tell what they were."""
    title = issue.title if isinstance(asked.title, UnsetType) else asked.title
    body = issue.body if isinstance(asked.body, UnsetType) else asked.body
    checked("Issue", title, body)
    was = written_before(issue, title, body)
    if not was:
        return issue
    now = call.service.forge.now()
    changed = replace(issue, title=title, body=body, updated_at=now)
    issue = call.store.issues.put(changed)
    call.service.events.issue(call.repo, call.user, "edited", issue, changes=was)
    return issue


def _turn(call: Call, issue: Issue, asked: IssueChange) -> Issue:
    """Close or reopen."""
    if issue.pull:
        raise Refused(422, "Close and reopen pull requests by `PATCH pulls/{number}`.")
    now = call.service.forge.now()
    closing = asked.state == "closed"
    reason = asked.state_reason if isinstance(asked.state_reason, str) else None
    issue = call.store.issues.put(
        replace(
            issue,
            state="closed" if closing else "open",
            state_reason=reason or ("completed" if closing else "reopened"),
            closed_at=now if closing else None,
            closed_by=call.user.id if closing else None,
            updated_at=now,
        )
    )
    action = "closed" if closing else "reopened"
    note(call, issue, action)
    call.service.events.issue(call.repo, call.user, action, issue)
    return issue


async def list_events(call: Call) -> Answer:
    """`GET issues/{number}/events`: oldest first."""
    renderer = call.service.renderer
    return call.page(
        call.store.issue_events.of(issue_of(call).id),
        lambda one: renderer.issue_event(call.repo, one),
    )


_ISSUES = "/repos/{owner}/{repo}/issues"
_ONE = _ISSUES + r"/{number:\d+}"
ROUTES = (
    Route("POST", _ISSUES, create_issue),
    Route("GET", _ONE, get_issue),
    Route("PATCH", _ONE, change_issue),
    Route("GET", _ONE + "/events", list_events),
)
