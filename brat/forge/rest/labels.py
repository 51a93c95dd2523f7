"""REST: labels of a repository and of an issue.

https://docs.github.com/en/rest/issues/labels
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.issue_resource import Issue, IssueEvent, Label
from brat.forge.rest.lookup import issue_of
from brat.forge.rest.rest_call import Answer, Body, Call, Route, checked_label, found
from brat.forge.storage.record_store import Store
from brat.forge.wire import Refused, fault

GREY: Final = "ededed"
"""GitHub's colour for labels that are made by being used."""


class _Name(Struct):
    name: str


Named = str | _Name
"""GitHub takes a label as its name or as an object with one."""


def label_names(labels: tuple[Named, ...]) -> list[str]:
    """Return the names, each once, in order."""
    names = (one if isinstance(one, str) else one.name for one in labels)
    return list(dict.fromkeys(names))


def find_label(store: Store, repo: Repository, name: str) -> Label | None:
    """Return a repository's label by its name, in any case."""
    same = [one for one in store.labels.of(repo.id) if one.name.lower() == name.lower()]
    return same[0] if same else None


def relabel(
    call: Call,
    issue: Issue,
    *,
    to: list[str] | None = None,
    add: list[str] | None = None,
    drop: Label | None = None,
) -> Issue:
    """Set, add or take off labels, and tell of each; only inside `Store.change`.

    A label that the repository does not have yet is made.
    """
    known = call.service.renderer.labels(issue)
    names = [label.name for label in known] if to is None else to
    wanted = [_ensure(call, name) for name in [*names, *(add or [])]]
    kept = {label.id: label for label in wanted if label != drop}
    before = {label.id: label for label in known}
    if list(kept) == list(before):
        return issue
    now = call.service.forge.now()
    issue = call.store.issues.put(replace(issue, labels=tuple(kept), updated_at=now))
    for number in before.keys() - kept.keys():
        _tell(call, issue, "unlabeled", before[number])
    for number, label in kept.items():
        if number not in before:
            _tell(call, issue, "labeled", label)
    return issue


def note(
    call: Call,
    issue: Issue,
    event: str,
    label: Label | None = None,
    assignee: int | None = None,
) -> None:
    """Keep an issue event; only inside `Store.change`."""
    call.store.issue_events.put(
        IssueEvent(
            id=call.store.next_id(),
            issue=issue.id,
            actor=call.user.id,
            event=event,
            created_at=call.service.forge.now(),
            label=(label.name, label.color) if label is not None else None,
            assignee=assignee,
        )
    )


def _tell(call: Call, issue: Issue, event: str, label: Label) -> None:
    note(call, issue, event, label)
    call.service.events.labelled(call.repo, call.user, event, (issue, label))


def _ensure(call: Call, name: str) -> Label:
    known = find_label(call.store, call.repo, name)
    if known is not None:
        return known
    checked_label(name, GREY, None)
    return call.store.labels.put(
        Label(id=call.store.next_id(), repo=call.repo.id, name=name, color=GREY)
    )


class NewLabel(Body):
    """The body of `POST labels`."""

    name: str
    color: str = GREY
    description: str | None = None


class Labels(Body):
    """The body of `POST` and `PUT issues/{number}/labels`."""

    labels: tuple[Named, ...] = ()


def _asked(call: Call) -> list[str]:
    """Read labels as an object, or as a bare array as many clients send them."""
    if call.body_bytes.lstrip().startswith(b"["):
        return label_names(call.body(tuple[Named, ...]))
    return label_names(call.body(Labels).labels)


async def list_labels(call: Call) -> Answer:
    """`GET labels`."""
    renderer = call.service.renderer
    labels = call.store.labels.of(call.repo.id)
    return call.page(labels, lambda one: renderer.label(call.repo, one))


async def create_label(call: Call) -> Answer:
    """`POST labels`."""
    asked = call.body(NewLabel)
    checked_label(asked.name, asked.color, asked.description)
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
    face = call.service.renderer.label(call.repo, label)
    return Answer(face, 201, {"Location": face["url"]})


async def get_label(call: Call) -> Answer:
    """`GET labels/{name}`."""
    label = found(find_label(call.store, call.repo, call.word("name")))
    return Answer(call.service.renderer.label(call.repo, label))


def _shown(call: Call, issue: Issue) -> Answer:
    renderer = call.service.renderer
    return Answer([renderer.label(call.repo, one) for one in renderer.labels(issue)])


async def list_issue_labels(call: Call) -> Answer:
    """`GET issues/{number}/labels`."""
    return _shown(call, issue_of(call))


async def add_issue_labels(call: Call) -> Answer:
    """`POST issues/{number}/labels`."""
    issue, names = issue_of(call), _asked(call)
    with call.store.change():
        return _shown(call, relabel(call, issue, add=names))


async def set_issue_labels(call: Call) -> Answer:
    """`PUT issues/{number}/labels`."""
    issue, names = issue_of(call), _asked(call)
    with call.store.change():
        return _shown(call, relabel(call, issue, to=names))


async def remove_issue_label(call: Call) -> Answer:
    """`DELETE issues/{number}/labels/{name}`."""
    issue = issue_of(call)
    label = find_label(call.store, call.repo, call.word("name"))
    if label is None or label.id not in issue.labels:
        raise Refused(404, "Label does not exist")
    with call.store.change():
        return _shown(call, relabel(call, issue, drop=label))


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + r"/issues/{number:\d+}/labels"
ROUTES = (
    Route("GET", _REPO + "/labels", list_labels),
    Route("POST", _REPO + "/labels", create_label, "triage"),
    Route("GET", _REPO + "/labels/{name:.+}", get_label),
    Route("GET", _ISSUE, list_issue_labels),
    Route("POST", _ISSUE, add_issue_labels, "triage"),
    Route("PUT", _ISSUE, set_issue_labels, "triage"),
    Route("DELETE", _ISSUE + "/{name:.+}", remove_issue_label, "triage"),
)


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
