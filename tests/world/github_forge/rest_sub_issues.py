"""REST: sub-issues of an issue, and the issues that block it.

https://docs.github.com/rest/issues/sub-issues
https://docs.github.com/rest/issues/issue-dependencies
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace as with_fields

from brat.forge.resources.forge_records import Issue, Record, Repository
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, issue_of
from brat.forge.service.running_forge import Service
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.shapes import dressed


class Child(Record, frozen=True, kw_only=True):
    """An issue's place below its parent; the record's id is the child's."""

    parent: int
    place: int


class Blocking(Record, frozen=True, kw_only=True):
    blocked: int
    by: int


_links = per_store(lambda store: Table(store, Child, lambda one: one.parent))
_dependencies = per_store(lambda store: Table(store, Blocking, lambda one: one.blocked))


def unlink(store: Store, gone: int, became: int | None) -> None:
    """Let a deleted issue block nothing and have no parent, a transferred one go on."""
    links, dependencies = _links(store), _dependencies(store)
    if (link := links.get(gone)) is not None:
        links.remove(link)
        if became is not None:
            links.put(with_fields(link, id=became))
    for one in dependencies.all():
        if gone in (one.blocked, one.by):
            dependencies.remove(one)


def summaries(service: Service) -> None:
    """Let issues show how many sub-issues they have, and how many block them."""
    store = service.forge.store

    def shown(issue: Issue) -> dict[str, Any]:
        total, by = _links(store).of(issue.id), _dependencies(store).of(issue.id)
        blockers = [found(store.issues.get(one.by)) for one in by]
        return {
            "sub_issues_summary": {"total": len(total)},
            "issue_dependencies_summary": {
                "blocked_by": sum(each.state == "open" for each in blockers),
                "total_blocked_by": len(by),
            },
        }

    dressed(service).more_of_issue = shown


class NewSubIssue(Body):
    sub_issue_id: int
    replace_parent: bool = False


class NewBlocker(Body):
    issue_id: int


def _placed(call: Call, number: int) -> tuple[Repository, Issue]:
    issue = found(call.store.issues.get(number))
    return found(call.store.repositories.get(issue.repo)), issue


def _issue(call: Call, number: int) -> tuple[Repository, Issue]:
    repo, issue = _placed(call, number)
    if not call.service.forge.may(repo, call.user, "read"):
        raise not_found()
    return repo, issue


def _listed(call: Call, numbers: Iterable[int]) -> Answer:
    issues = [_placed(call, number) for number in numbers]
    return call.page(issues, lambda one: call.renderer.issue(*one))


async def list_sub_issues(call: Call) -> Answer:
    known = _links(call.store).of(issue_of(call).id)
    return _listed(call, (o.id for o in sorted(known, key=lambda one: one.place)))


async def add_sub_issue(call: Call) -> Answer:
    parent, asked = issue_of(call), call.body(NewSubIssue)
    home, child = _issue(call, asked.sub_issue_id)
    links = _links(call.store)
    if (links.get(child.id) and not asked.replace_parent) or child.id == parent.id:
        said = "An error occurred while adding the sub-issue to the parent issue. "
        raise Refused(422, f"{said}Issue may not contain duplicate sub-issues")
    with call.store.change():
        place = 1 + max((one.place for one in links.of(parent.id)), default=0)
        links.put(Child(id=child.id, parent=parent.id, place=place))
        parent = _told(call, parent, (home, child), _SUB, "sub_issue_added")
    return Answer(call.renderer.issue(call.repo, parent), 201)


async def remove_sub_issue(call: Call) -> Answer:
    parent, asked = issue_of(call), call.body(NewSubIssue)
    home, child = _issue(call, asked.sub_issue_id)
    link = found(_links(call.store).get(child.id))
    with call.store.change():
        _links(call.store).remove(link)
        parent = _told(call, parent, (home, child), _SUB, "sub_issue_removed")
    return Answer(call.renderer.issue(call.repo, parent))


async def list_blocked_by(call: Call) -> Answer:
    known = _dependencies(call.store).of(issue_of(call).id)
    return _listed(call, (one.by for one in known))


async def add_blocked_by(call: Call) -> Answer:
    issue, asked = issue_of(call), call.body(NewBlocker)
    home, by = _issue(call, asked.issue_id)
    known = _dependencies(call.store)
    if any(one.by == by.id for one in known.of(issue.id)):
        raise Refused(422, "Validation failed: the dependency exists already")
    with call.store.change():
        known.add(Blocking(blocked=issue.id, by=by.id))
        issue = _told(call, issue, (home, by), _BLOCKED, "blocked_by_added")
    return Answer(call.renderer.issue(call.repo, issue), 201)


_SUB: Final = ("sub_issues", "parent_issue", "sub_issue")
_BLOCKED: Final = ("issue_dependencies", "blocked_issue", "blocking_issue")
"""An event, and what it calls the two issues."""


def _told(
    call: Call,
    issue: Issue,
    other: tuple[Repository, Issue],
    words: tuple[str, str, str],
    action: str,
) -> Issue:
    """Touch an issue, and tell that it got or lost another one."""
    now, (event, one, two) = call.service.forge.now(), words
    issue = call.store.issues.change(issue, updated_at=now)
    body = {
        f"{one}_id": issue.id,
        one: call.renderer.issue(call.repo, issue),
        f"{two}_id": other[1].id,
        two: call.renderer.issue(*other),
        f"{two}_repo": call.renderer.repository(other[0]),
    }
    call.service.events.send(call.repo, call.user, (event, action), body)
    return issue


_ONE: Final = r"/repos/{owner}/{repo}/issues/{number:\d+}"
_BY: Final = _ONE + "/dependencies/blocked_by"
ROUTES: Final = (
    Route("GET", _ONE + "/sub_issues", list_sub_issues),
    Route("POST", _ONE + "/sub_issues", add_sub_issue, "triage"),
    Route("DELETE", _ONE + "/sub_issue", remove_sub_issue, "triage"),
    Route("GET", _BY, list_blocked_by),
    Route("POST", _BY, add_blocked_by, "triage"),
)
