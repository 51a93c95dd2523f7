"""Decides what an issue is before anything of it is planned. Pure."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from convoy.planner.checklist import Checklist, Item, checklist
from convoy.planner.consent import is_consent, is_statement, plain
from convoy.text.plaintext import clean

Kind = Literal["task list", "issue form", "tracking issue", "one task"]


@dataclass(frozen=True)
class Intake:
    """What an issue is, and why."""

    kind: Kind
    why: str
    """A clause without a full stop; empty where the text says it by itself."""
    work: Checklist
    """Its task list without the boxes that are no tasks."""


def intake(text: str, labels: Collection[str] = ()) -> Intake:
    """Return what an issue is.

    Args:
        text: its body, GitHub Markdown by anybody.
        labels: what the boxes of the repository's issue forms say; see `box_labels`.
    """
    found = checklist(clean(text))
    if not found.items:
        return Intake("one task", "", found)
    items = [item for item in found.items if not _is_of_form(item, labels)]
    if any(is_consent(_label(item)) for item in found.items):
        items = [item for item in items if not is_statement(_label(item))]
    aside = len(found.items) - len(items)
    boxes = "a box is" if aside == 1 else f"{aside} boxes are"
    why = f"{boxes} an issue form's and no task" if aside else ""
    if not items:
        return Intake("issue form", why, replace(found, items=()))
    if aside:
        items = [replace(item, number=at) for at, item in enumerate(items, 1)]
    work = replace(found, items=tuple(items))
    todo = [item for item in items if not item.done]
    if not todo and found.around:
        return Intake("one task", "each of its boxes is ticked", Checklist((), text))
    if todo and all(item.reference for item in todo):
        return Intake("tracking issue", "its open items only name other issues", work)
    return Intake("task list", why, work)


def _is_of_form(item: Item, labels: Collection[str]) -> bool:
    label = _label(item)
    return is_consent(label) or plain(label) in labels


def _label(item: Item) -> str:
    return " ".join(item.lines[: item.lead])
