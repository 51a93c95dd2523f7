"""Putting labels on issues and taking them off, and the events that follow."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue, IssueEvent, Label
from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.rest_call import Call
from brat.forge.rest.text_limits import checked_label
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
    checked_label(name, GREY, None)
    return call.store.labels.put(
        Label(id=call.store.next_id(), repo=call.repo.id, name=name, color=GREY)
    )
