"""REST: issues with assignees, labels of the repository, and comments that go.

https://docs.github.com/rest/issues/assignees
https://docs.github.com/rest/issues/labels
"""

from dataclasses import replace
from typing import Any

from msgspec import json

from brat.forge.resources.forge_records import Issue, Label
from brat.forge.resources.wire import fault
from brat.forge.rest import rest_issues
from brat.forge.rest.rest_call import (
    Answer,
    Body,
    Call,
    Route,
    found,
    issue_of,
    shows,
    titled,
)
from brat.forge.rest.rest_issues import GREY, comment_of, find_label


def reassign(call: Call, issue: Issue, after: tuple[int, ...]) -> Issue:
    """Let exactly these be assigned, and tell of each; only inside `Store.change`."""
    before, now = issue.assignees, call.service.forge.now()
    if before == after:
        return issue
    issue = call.store.issues.change(issue, assignees=after, updated_at=now)
    changes = [("unassigned", number) for number in before if number not in after]
    changes += [("assigned", number) for number in after if number not in before]
    for event, number in changes:
        call.service.forge.note(issue.id, call.user, event, assignee=number)
        call.tell(event, issue, assignee=call.renderer.user(call.renderer.who(number)))
    return issue


class Text(Body):
    """What an edit makes of an issue or a pull request; None: it stays."""

    title: str | None = None
    body: str | None = None


def rewritten(call: Call, kind: str, issue: Issue, asked: Text) -> dict[str, Any]:
    """Write what is asked for; return what was there, as webhooks tell it."""
    title = issue.title if asked.title is None else asked.title
    body = issue.body if asked.body is None else asked.body
    titled(kind, title)
    was = {"title": issue.title} if title != issue.title else {}
    was |= {"body": issue.body or ""} if body != issue.body else {}
    if was:
        now = call.service.forge.now()
        call.store.issues.change(issue, title=title, body=body, updated_at=now)
    return {key: {"from": old} for key, old in was.items()}


class AnEdit(Text):
    state: str | None = None
    state_reason: str | None = None
    assignees: tuple[str, ...] | None = None


async def change_issue(call: Call) -> Answer:
    asked, issue = call.body(AnEdit), issue_of(call)
    if issue.author != call.user.id:
        call.need("triage")
    given = json.decode(call.body_bytes)
    state = {key: given[key] for key in given if key.startswith("state")}
    with call.store.change():
        if was := rewritten(call, "Issue", issue, asked):
            call.tell("edited", issue_of(call), changes=was)
        await rest_issues.change_issue(replace(call, body_bytes=json.encode(state)))
        if asked.assignees is not None:
            call.need("triage")
            logins = map(call.service.forge.user, asked.assignees)
            reassign(call, issue_of(call), tuple(found(who).id for who in logins))
    return Answer(call.renderer.issue(call.repo, issue_of(call)))


class NewLabel(Body):
    name: str
    color: str = GREY
    description: str | None = None


def _shown(call: Call, label: Label) -> dict[str, Any]:
    return call.renderer.label(call.repo, label)


def _named(call: Call) -> Label:
    return found(find_label(call.store, call.repo, call.word("name")))


async def list_labels(call: Call) -> Answer:
    labels = call.store.labels.of(call.repo.id)
    return call.page(labels, lambda one: _shown(call, one))


async def create_label(call: Call) -> Answer:
    asked = call.body(NewLabel)
    if find_label(call.store, call.repo, asked.name) is not None:
        raise fault("Label", "name", "already_exists")
    label = Label(
        repo=call.repo.id,
        name=asked.name,
        color=asked.color.lower(),
        description=asked.description,
    )
    return Answer(_shown(call, call.store.labels.add(label)), 201)


async def delete_label(call: Call) -> Answer:
    label = _named(call)
    with call.store.change():
        for issue in call.store.issues.of(call.repo.id):
            kept = tuple(one for one in issue.labels if one != label.id)
            call.store.issues.change(issue, labels=kept)
        call.store.labels.remove(label)
    return Answer(status=204)


async def delete_comment(call: Call) -> Answer:
    comment = comment_of(call)
    if comment.author != call.user.id:
        call.need("write")
    issue = found(call.store.issues.get(comment.issue))
    with call.store.change():
        call.store.issues.change(issue, comments=issue.comments - 1)
        call.tell("deleted", comment)
        call.store.comments.remove(comment)
    return Answer(status=204)


_REPO = "/repos/{owner}/{repo}"
_ISSUES = _REPO + "/issues"
_LABEL = _REPO + "/labels/{name:.+}"
ROUTES = (
    Route("PATCH", _ISSUES + r"/{number:\d+}", change_issue),
    Route("GET", _REPO + "/labels", list_labels),
    Route("POST", _REPO + "/labels", create_label, "triage"),
    Route("GET", _LABEL, shows(lambda call: _shown(call, _named(call)))),
    Route("DELETE", _LABEL, delete_label, "triage"),
    Route("DELETE", _ISSUES + r"/comments/{comment:\d+}", delete_comment),
)
