"""REST: issues, and the events that tell what was done to them.

https://docs.github.com/en/rest/issues/issues
"""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.wire import Refused, fault, parse
from brat.forge.rest.rest_call import Answer, Body, Call, Route, issue_of, titled
from brat.forge.rest.rest_labels import Named, label_names, note, relabel


class NewIssue(Body):
    """The body of `POST issues`."""

    title: str
    body: str | None = None
    labels: tuple[Named, ...] = ()


class IssueChange(Body):
    """The body of `PATCH issues/{number}`; what is left out stays."""

    title: str | UnsetType = UNSET
    body: str | UnsetType | None = UNSET
    state: Literal["open", "closed"] | UnsetType = UNSET
    state_reason: (
        Literal["completed", "not_planned", "duplicate", "reopened"] | UnsetType | None
    ) = UNSET
    labels: tuple[Named, ...] | UnsetType = UNSET


def written_before(issue: Issue, title: str, body: str | None) -> dict[str, Any]:
    """Return what an edit changes, as webhooks tell it."""
    was: dict[str, Any] = {}
    if title != issue.title:
        was["title"] = {"from": issue.title}
    if body != issue.body:
        was["body"] = {"from": issue.body or ""}
    return was


async def create_issue(call: Call) -> Answer:
    """`POST issues`: labels only of those who may set them, as there."""
    asked = call.body(NewIssue)
    titled("Issue", asked.title)
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
        if isinstance(asked.state, str) and asked.state != issue.state:
            issue = _turn(call, issue, asked)
    return Answer(call.service.renderer.issue(call.repo, issue))


def _edit(call: Call, issue: Issue, asked: IssueChange) -> Issue:
    """Change title and body, and tell what they were."""
    title = issue.title if isinstance(asked.title, UnsetType) else asked.title
    body = issue.body if isinstance(asked.body, UnsetType) else asked.body
    titled("Issue", title)
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


class Lock(Body):
    """The body of `PUT lock`.

    https://docs.github.com/rest/issues/issues#lock-an-issue
    """

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


ROUTES = (
    Route("POST", _ISSUES, create_issue),
    Route("GET", _ONE, get_issue),
    Route("PATCH", _ONE, change_issue),
    Route("PUT", _ONE + "/lock", lock, "write"),
    Route("DELETE", _ONE + "/lock", unlock, "write"),
    Route("GET", _ONE + "/events", list_events),
)


_SORTS: Final = {
    "created": "created_at",
    "updated": "updated_at",
    "comments": "comments",
}
Fits = Callable[[Issue], bool]


async def list_issues(call: Call) -> Answer:
    """`GET issues`: newest first, pull requests among them."""
    return those_that(call)


def those_that(call: Call, *more: Fits) -> Answer:
    """List the issues that pass the filters asked for, and more."""
    tests = (_in_state(call), _labelled(call), _since(call), _written_by(call), *more)
    key = _SORTS[call.choice("sort", tuple(_SORTS))]
    known = call.store.issues.of(call.repo.id)
    chosen = [one for one in known if all(fits(one) for fits in tests)]
    chosen.sort(
        key=lambda one: (getattr(one, key), one.number), reverse=call.falling("desc")
    )
    return call.page(chosen, lambda one: call.service.renderer.issue(call.repo, one))


def _in_state(call: Call) -> Fits:
    state = call.choice("state", ("open", "closed", "all"))
    return lambda one: state in {"all", one.state}


def _labelled(call: Call) -> Fits:
    """Read `labels`: an issue has to have all of them."""
    wanted = {name for name in call.asked("labels").lower().split(",") if name}

    def fits(one: Issue) -> bool:
        labels = call.service.renderer.labels(one)
        return wanted <= {label.name.lower() for label in labels}

    return fits


def _since(call: Call) -> Fits:
    since = call.asked("since")
    try:
        after = parse(since) if since else None
    except ValueError:
        raise fault("Issue", "since", "invalid") from None
    return lambda one: after is None or parse(one.updated_at) >= after


def _written_by(call: Call) -> Fits:
    creator, who = call.asked("creator").lower(), call.service.renderer.who
    return lambda one: creator in {"", who(one.author).login.lower()}


LIST_ROUTES = (Route("GET", "/repos/{owner}/{repo}/issues", list_issues),)
