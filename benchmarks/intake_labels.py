"""What real public issues are, against the labels that a reader gave them.

The repository holds addresses, labels and hashes (`intake_corpus.json`); the texts are
other people's and lie in the folder that `BRAT_CORPUS` names, a file `<hash>.txt` each:
the title, an empty line, the text. Which half an issue belongs to follows from its
hash; the held-out half was labelled before the planner had read any of it.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from math import sqrt
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, convert

from convoy.planner.issue_text import intake
from convoy.planner.tasklist import PlanError, plan

CORPUS: Final = Path(__file__).with_name("intake_corpus.json")
HALVES: Final = ("held-out", "development")
_SURE: Final = 1.96
"""Standard deviations of an interval of 95 %."""


class Labelled(Struct, frozen=True, kw_only=True):
    """One public issue, and what a reader says of it."""

    address: str
    """Of the issue; where its number is not known, of the collection that has it."""
    repository: str
    hash: str
    """SHA-256 of its title, a newline and its text."""
    language: str
    kind: Literal["task list", "issue form", "tracking issue", "one task"]
    work: int
    """How many open boxes ask for work."""
    after: dict[str, list[int]] = {}
    """What its items say that they wait for, in words."""
    by: Literal["read", "no box"] = "read"
    """How its kind is known: by reading, or because it has no box."""

    @property
    def half(self) -> str:
        """Return the half that it belongs to."""
        return HALVES[0] if int(self.hash[:8], 16) % 2 else HALVES[1]


class Found(Struct, frozen=True, kw_only=True):
    """What the planner makes of one issue."""

    kind: str
    work: int
    after: dict[str, list[int]]
    refused: str


def intake_labels(_folder: Path, _repeats: int) -> dict[str, object]:
    """Compare the planner with the labels of both halves."""
    if not (place := os.environ.get("BRAT_CORPUS")):
        return {"left_out": "BRAT_CORPUS names no folder with the texts"}
    known = convert(json.loads(CORPUS.read_bytes()), list[Labelled])
    texts = dict(_texts(Path(place), known))
    return {half: figures(_of(known, half, texts), texts) for half in HALVES}


def figures(issues: list[Labelled], texts: dict[str, str]) -> dict[str, object]:
    """Return how often the planner agrees with the labels of issues."""
    told = [(issue, found(texts[issue.hash])) for issue in issues]
    read = [pair for pair in told if pair[0].by == "read"]
    said = [(i, f) for i, f in told if i.after]
    return {
        "issues": len(told),
        "repositories": len({issue.repository for issue in issues}),
        "kind_right": _share([i.kind == f.kind for i, f in told]),
        "kind_right_with_boxes": _share([i.kind == f.kind for i, f in read]),
        "work_right_with_boxes": _share([i.work == f.work for i, f in read]),
        "orders_found": _share([i.after == f.after for i, f in said]),
        "orders_invented": sum(1 for i, f in told if f.after and not i.after),
        "refused": [f"{i.hash[:12]}: {f.refused}" for i, f in told if f.refused],
        "wrong": [
            f"{i.hash[:12]}: {i.kind} ({i.work}) read as {f.kind} ({f.work})"
            for i, f in told
            if (i.kind, i.work) != (f.kind, f.work)
        ],
    }


def found(whole: str) -> Found:
    """Return what the planner makes of a title, an empty line and a text."""
    title, _, text = whole.partition("\n\n")
    read = intake(text)
    todo = [item for item in read.work.items if not item.done]
    if any(item.reference for item in todo):  # their texts would be read first
        return Found(kind=read.kind, work=len(todo), after={}, refused="")
    try:
        tasks = plan(title, text, ("default",), len(todo) + 1)
    except PlanError as error:
        return Found(kind=read.kind, work=len(todo), after={}, refused=str(error))
    after = {str(task.number): list(task.after) for task in tasks if task.after}
    return Found(kind=read.kind, work=len(todo), after=after, refused="")


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the interval of 95 % for a share, by Wilson's score."""
    if not of:
        return (0.0, 1.0)
    share, z = right / of, _SURE * _SURE / of
    middle = (share + z / 2) / (1 + z)
    half = _SURE * sqrt(share * (1 - share) / of + z / (4 * of)) / (1 + z)
    return (round(middle - half, 3), round(middle + half, 3))


def _share(right: list[bool]) -> str:
    low, high = wilson(sum(right), len(right))
    return f"{sum(right)} of {len(right)} ({low:.3f} to {high:.3f})"


def _of(known: Iterable[Labelled], half: str, texts: dict[str, str]) -> list[Labelled]:
    return [issue for issue in known if issue.half == half and issue.hash in texts]


def _texts(place: Path, known: Iterable[Labelled]) -> Iterator[tuple[str, str]]:
    """Yield the texts that are there and are those that were labelled."""
    for issue in known:
        file = place / f"{issue.hash}.txt"
        whole = file.read_bytes().decode() if file.is_file() else ""
        title, _, text = whole.partition("\n\n")
        if hashlib.sha256(f"{title}\n{text}".encode()).hexdigest() == issue.hash:
            yield issue.hash, whole
