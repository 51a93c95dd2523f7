"""REST: issues with assignees, labels of the repository, and comments that go.

https://docs.github.com/rest/issues/assignees
https://docs.github.com/rest/issues/labels
"""

from collections.abc import Iterable
from dataclasses import replace as with_fields
from typing import Any

from msgspec import UNSET, UnsetType, json
from msgspec.structs import replace

from brat.forge.resources.forge_records import Issue, Label
from brat.forge.resources.wire import fault
from brat.forge.rest import rest_issues
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, issue_of, titled
from brat.forge.rest.rest_issues import GREY, comment_of, find_label, relabel


def reassign(call: Call, issue: Issue, logins: Iterable[str]) -> Issue:
    """Let exactly these be assigned, and tell of each; only inside `Store.change`."""
    wanted = (found(call.service.forge.user(login)) for login in logins)
    before, after = issue.assignees, tuple(who.id for who in wanted)
    if before == after:
        return issue
    now = call.service.forge.now()
    issue = call.store.issues.put(replace(issue, assignees=after, updated_at=now))
    for number in before:
        if number not in after:
            _tell_assigned(call, issue, "unassigned", number)
    for number in after:
        if number not in before:
            _tell_assigned(call, issue, "assigned", number)
    return issue


def _tell_assigned(call: Call, issue: Issue, event: str, number: int) -> None:
    call.service.forge.note(issue.id, call.user, event, assignee=number)
    face = call.renderer.user(call.renderer.who(number))
    call.tell(event, issue, assignee=face)


def written_before(issue: Issue, title: str, body: str | None) -> dict[str, Any]:
    """Return what an edit changes, as webhooks tell it."""
    now, was = (
        {"title": title, "body": body},
        {"title": issue.title, "body": issue.body},
    )
    return {key: {"from": was[key] or ""} for key in now if now[key] != was[key]}


class _AnEdit(rest_issues.IssueChange):
    title: str | UnsetType = UNSET
    body: str | UnsetType | None = UNSET
    labels: tuple[str, ...] | UnsetType = UNSET
    assignees: tuple[str, ...] | UnsetType = UNSET


async def change_issue(call: Call) -> Answer:
    asked, issue = call.body(_AnEdit), issue_of(call)
    if issue.author != call.user.id:
        call.need("triage")
    given = json.decode(call.body_bytes)
    state = {key: given[key] for key in given if key.startswith("state")}
    with call.store.change():
        issue = _edited(call, issue, asked)
        if not isinstance(asked.labels, UnsetType):
            call.need("triage")
            issue = relabel(call, issue, to=asked.labels)
        await rest_issues.change_issue(with_fields(call, body_bytes=json.encode(state)))
        issue = issue_of(call)
        if not isinstance(asked.assignees, UnsetType):
            call.need("triage")
            issue = reassign(call, issue, asked.assignees)
    return Answer(call.renderer.issue(call.repo, issue))


def _edited(call: Call, issue: Issue, asked: _AnEdit) -> Issue:
    title = issue.title if isinstance(asked.title, UnsetType) else asked.title
    body = issue.body if isinstance(asked.body, UnsetType) else asked.body
    titled("Issue", title)
    if was := written_before(issue, title, body):
        now = call.service.forge.now()
        changed = replace(issue, title=title, body=body, updated_at=now)
        issue = call.store.issues.put(changed)
        call.tell("edited", issue, changes=was)
    return issue


_REPO = "/repos/{owner}/{repo}"
_ISSUES = _REPO + "/issues"
ISSUE_ROUTES = (Route("PATCH", _ISSUES + r"/{number:\d+}", change_issue),)


class NewLabel(Body):
    name: str
    color: str = GREY
    description: str | None = None


async def list_labels(call: Call) -> Answer:
    labels = call.store.labels.of(call.repo.id)
    return call.page(labels, lambda one: call.renderer.label(call.repo, one))


async def create_label(call: Call) -> Answer:
    asked = call.body(NewLabel)
    if find_label(call.store, call.repo, asked.name) is not None:
        raise fault("Label", "name", "already_exists")
    with call.store.change():
        label = call.store.labels.put(
            Label(
                id=call.store.next_id(),
                repo=call.repo.id,
                name=asked.name,
                color=asked.color.lower(),
                description=asked.description,
            )
        )
    return Answer(call.renderer.label(call.repo, label), 201)


async def get_label(call: Call) -> Answer:
    label = found(find_label(call.store, call.repo, call.word("name")))
    return Answer(call.renderer.label(call.repo, label))


async def delete_label(call: Call) -> Answer:
    label = found(find_label(call.store, call.repo, call.word("name")))
    with call.store.change():
        for issue in call.store.issues.of(call.repo.id):
            if label.id in issue.labels:
                kept = tuple(one for one in issue.labels if one != label.id)
                call.store.issues.put(replace(issue, labels=kept))
        call.store.labels.remove(label)
    return Answer(status=204)


LABEL_ROUTES = (
    Route("GET", _REPO + "/labels", list_labels),
    Route("POST", _REPO + "/labels", create_label, "triage"),
    Route("GET", _REPO + "/labels/{name:.+}", get_label),
    Route("DELETE", _REPO + "/labels/{name:.+}", delete_label, "triage"),
)


async def delete_comment(call: Call) -> Answer:
    comment = comment_of(call)
    if comment.author != call.user.id:
        call.need("write")
    issue = found(call.store.issues.get(comment.issue))
    with call.store.change():
        issue = call.store.issues.put(replace(issue, comments=issue.comments - 1))
        call.tell("deleted", comment)
        for reaction in call.store.reactions.of(comment.id):
            call.store.reactions.remove(reaction)
        call.store.comments.remove(comment)
    return Answer(status=204)


COMMENT_ROUTES = (
    Route("DELETE", _ISSUES + r"/comments/{comment:\d+}", delete_comment),
)
