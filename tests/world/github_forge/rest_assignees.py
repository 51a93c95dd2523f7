"""REST: who is assigned to an issue, and who can be; issues found by people.

https://docs.github.com/rest/issues/assignees
"""

import re
from collections.abc import Iterable
from dataclasses import replace as with_fields
from typing import Final

from msgspec import UNSET, UnsetType, json
from msgspec.structs import replace

from brat.forge.resources.account_resource import User
from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.wire import Refused, fault, not_found
from brat.forge.rest import rest_issues
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, issue_of
from brat.forge.rest.rest_issues import Fits, note

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
            _tell_assigned(call, issue, "unassigned", number)
    for number in after:
        if number not in before:
            _tell_assigned(call, issue, "assigned", number)
    return issue


def _few(people: list[User]) -> list[User]:
    if len(people) > MOST:
        raise Refused(422, f"An issue has {MOST} assignees at most.")
    return people


def _tell_assigned(call: Call, issue: Issue, event: str, number: int) -> None:
    note(call, issue, event, assignee=number)
    renderer = call.service.renderer
    face = renderer.user(renderer.who(number))
    call.service.events.either(call.repo, call.user, event, issue, assignee=face)


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


def _logins(
    one: str | UnsetType | None, many: tuple[str, ...] | UnsetType
) -> tuple[str, ...] | None:
    """Return who is to be assigned by the older field and the newer; None: neither."""
    if isinstance(many, UnsetType):
        return None if isinstance(one, UnsetType) else (one,) if one else ()
    return (*many, one) if isinstance(one, str) and one else many


class _AnIssue(rest_issues.NewIssue):
    """The body of `POST issues`."""

    assignee: str | None = None
    assignees: tuple[str, ...] = ()
    milestone: None = None
    type: None = None


class _AnEdit(rest_issues.IssueChange):
    """The body of `PATCH issues/{number}`; what is left out stays."""

    assignee: str | UnsetType | None = UNSET
    assignees: tuple[str, ...] | UnsetType = UNSET
    milestone: None = None
    type: None = None


_OTHERS: Final = ("assignee", "assignees", "milestone", "type")


def _without_people(call: Call) -> Call:
    asked = json.decode(call.body_bytes)
    kept = {key: value for key, value in asked.items() if key not in _OTHERS}
    return with_fields(call, body_bytes=json.encode(kept))


async def create_issue(call: Call) -> Answer:
    """`POST issues`: assignees only of those who may set them, as there."""
    asked = call.body(_AnIssue)
    logins = _logins(asked.assignee, asked.assignees) or ()
    with call.store.change():
        answer = await rest_issues.create_issue(_without_people(call))
        if not logins or not call.service.forge.may(call.repo, call.user, "triage"):
            return answer
        issue = found(call.store.issues.get(answer.body["id"]))
        issue = reassign(call, issue, assignees(call, logins, issue))
    return with_fields(answer, body=call.service.renderer.issue(call.repo, issue))


async def change_issue(call: Call) -> Answer:
    """`PATCH issues/{number}`."""
    asked = call.body(_AnEdit)
    logins = _logins(asked.assignee, asked.assignees)
    with call.store.change():
        answer = await rest_issues.change_issue(_without_people(call))
        if logins is None:
            return answer
        call.need("triage")
        issue = issue_of(call)
        issue = reassign(call, issue, assignees(call, logins, issue))
    return Answer(call.service.renderer.issue(call.repo, issue))


async def list_issues(call: Call) -> Answer:
    """`GET issues`: also by those who are assigned or mentioned."""
    absent = ("milestone", "type", "issue_field_values")
    return rest_issues.those_that(
        call, _of_people(call), *(_absent(call, name) for name in absent)
    )


_ANY: Final = "*"
_NONE: Final = "none"


def _of_people(call: Call) -> Fits:
    """Read `assignee` and `mentioned`."""
    assignee, mentioned = (
        call.asked("assignee").lower(),
        call.asked("mentioned").lower(),
    )

    def login(number: int) -> str:
        return call.service.renderer.who(number).login.lower()

    def fits(one: Issue) -> bool:
        assigned = {login(number) for number in one.assignees}
        return (assignee in {"", *assigned} or _matches(assignee, assigned)) and (
            not mentioned or mentioned in _mentions(call, one)
        )

    return fits


def _matches(asked: str, assigned: set[str]) -> bool:
    return bool(assigned) if asked == _ANY else asked == _NONE and not assigned


def _mentions(call: Call, one: Issue) -> set[str]:
    """Return whose names stand in an issue or its comments, in lower case."""
    said = [one.body or "", *(each.body for each in call.store.comments.of(one.id))]
    return {name.lower() for text in said for name in re.findall(r"@([\w-]+)", text)}


def _absent(call: Call, name: str) -> Fits:
    """Read a filter on what no issue of this forge has.

    Raises:
        Refused: 422: it names one.
    """
    asked = call.asked(name)
    if asked not in {"", _ANY, _NONE}:
        raise fault("Issue", name, "invalid", f"This repository has no {name} {asked}.")
    return lambda _: asked != _ANY


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + r"/issues/{number:\d+}/assignees"
_ISSUES = _REPO + "/issues"
ROUTES = (
    Route("POST", _ISSUES, create_issue),
    Route("PATCH", _ISSUES + r"/{number:\d+}", change_issue),
    Route("GET", _ISSUES, list_issues),
    Route("GET", _REPO + "/assignees", list_assignees),
    Route("GET", _REPO + "/assignees/{login}", may_be_assigned),
    Route("GET", _ISSUE + "/{login}", may_be_assigned),
    Route("POST", _ISSUE, add_assignees, "triage"),
    Route("DELETE", _ISSUE, remove_assignees, "triage"),
)
