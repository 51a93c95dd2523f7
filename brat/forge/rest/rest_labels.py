"""REST: labels of an issue.

https://docs.github.com/en/rest/issues/labels
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.issue_resource import Issue, IssueEvent, Label
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, issue_of
from brat.forge.storage.record_store import Store

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
    return call.store.labels.put(
        Label(id=call.store.next_id(), repo=call.repo.id, name=name, color=GREY)
    )


class Labels(Body):
    """The body of `POST` and `PUT issues/{number}/labels`."""

    labels: tuple[Named, ...] = ()


def asked_names(call: Call) -> list[str]:
    """Read labels as an object, or as a bare array as many clients send them."""
    if call.body_bytes.lstrip().startswith(b"["):
        return label_names(call.body(tuple[Named, ...]))
    return label_names(call.body(Labels).labels)


def shown(call: Call, issue: Issue) -> Answer:
    """Answer with the labels of an issue."""
    renderer = call.service.renderer
    return Answer([renderer.label(call.repo, one) for one in renderer.labels(issue)])


async def add_issue_labels(call: Call) -> Answer:
    """`POST issues/{number}/labels`."""
    issue, names = issue_of(call), asked_names(call)
    with call.store.change():
        return shown(call, relabel(call, issue, add=names))


async def remove_issue_label(call: Call) -> Answer:
    """`DELETE issues/{number}/labels/{name}`."""
    issue = issue_of(call)
    label = find_label(call.store, call.repo, call.word("name"))
    if label is None or label.id not in issue.labels:
        raise Refused(404, "Label does not exist")
    with call.store.change():
        return shown(call, relabel(call, issue, drop=label))


_ISSUE = r"/repos/{owner}/{repo}/issues/{number:\d+}/labels"
ROUTES = (
    Route("POST", _ISSUE, add_issue_labels, "triage"),
    Route("DELETE", _ISSUE + "/{name:.+}", remove_issue_label, "triage"),
)
