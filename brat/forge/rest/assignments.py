"""Assigning issues and pull requests to people, and the events that follow."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from brat.forge.resources.account_resource import User
from brat.forge.resources.issue_resource import Issue
from brat.forge.rest.label_changes import note
from brat.forge.rest.rest_call import Call
from brat.forge.wire.http_refusals import Refused, fault

MOST: Final = 10
"""https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue"""


def can_be_assigned(call: Call, who: User, issue: Issue | None) -> bool:
    """Say whether an account may be assigned: writers, and those who take part.

    https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/assigning-issues-and-pull-requests-to-other-github-users
    """
    if call.service.forge.may(call.repo, who, "write"):
        return True
    if issue is None:
        return False
    speakers = {comment.author for comment in call.store.comments.of(issue.id)}
    return who.id in {issue.author, *speakers}


def assignees(call: Call, logins: Iterable[str], issue: Issue | None) -> list[User]:
    """Return the accounts that are to be assigned, each once, in order.

    Raises:
        Refused: 422: one of them cannot be, or they are too many.
    """
    found = {}
    for login in logins:
        who = call.service.forge.user(login)
        if who is None or not can_be_assigned(call, who, issue):
            said = f"{login} cannot be assigned to this issue"
            raise fault("Issue", "assignees", "invalid", said)
        found[who.id] = who
    return _few(list(found.values()))


def reassign(call: Call, issue: Issue, wanted: list[User]) -> Issue:
    """Let exactly these be assigned, and tell of each; only inside `Store.change`.

    Raises:
        Refused: 422: they are too many.
    """
    before, after = issue.assignees, tuple(who.id for who in _few(wanted))
    if before == after:
        return issue
    now = call.service.forge.now()
    issue = call.store.issues.put(replace(issue, assignees=after, updated_at=now))
    for number in before:
        if number not in after:
            _tell(call, issue, "unassigned", number)
    for number in after:
        if number not in before:
            _tell(call, issue, "assigned", number)
    return issue


def _few(people: list[User]) -> list[User]:
    if len(people) > MOST:
        raise Refused(422, f"An issue has {MOST} assignees at most.")
    return people


def _tell(call: Call, issue: Issue, event: str, number: int) -> None:
    note(call, issue, event, assignee=number)
    renderer = call.service.renderer
    face = renderer.user(renderer.who(number))
    call.service.events.either(call.repo, call.user, event, issue, assignee=face)
