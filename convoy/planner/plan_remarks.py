"""What readers of a plan are told of the text that it was made of. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from convoy.planner.checklist import Item, reference_in
from convoy.planner.intake import Intake, Kind, intake
from convoy.planner.left_out import left_out
from convoy.planner.marks import Known, marked
from convoy.planner.named_issues import items_by_issue
from convoy.planner.tasklist import SHOWN_CHARS
from convoy.planner.waves import count
from convoy.text.plaintext import cut

_KINDS: Final[Mapping[Kind, str]] = {
    "task list": "a task list",
    "issue form": "an issue form",
    "tracking issue": "a tracking issue",
    "one task": "one task",
}
_STEP: Final = re.compile(r"\s*[-*+] \[[ xX]\] (?P<words>.*)")


def remarks(
    text: str,
    labels: Collection[str] = (),
    wave: int = 0,
    engines: Collection[str] = (),
) -> tuple[str, ...]:
    """Return what readers of the plan are told of its text, a clause each.

    Args:
        text: the issue's body.
        labels: what the boxes of the repository's issue forms say.
        wave: how many tasks are under way at a time; 0: any number.
        engines: names that `engine:` may give.
    """
    found = intake(text, labels)
    return (
        *((f"this is {_KINDS[found.kind]}: {found.why}",) if found.why else ()),
        *_waves(found, wave),
        *_aside(found),
        *_words(found, engines),
    )


def _waves(found: Intake, wave: int) -> Iterator[str]:
    todo = sum(not item.done for item in found.work.items)
    if wave and todo > wave:
        yield (
            f"its {todo} tasks go in {count(todo, wave)} waves: "
            f"{wave} are under way at a time ([mayor] tasks)"
        )


def _aside(found: Intake) -> Iterator[str]:
    """Say which items are no tasks here, and why."""
    for number, why in left_out(found.work.items):
        yield f"item {number} is no task: {why}"


def _words(found: Intake, engines: Collection[str]) -> Iterator[str]:
    """Say what looks like a mark and is read as words."""
    issues = items_by_issue(found.work.items)
    for item in found.work.items:
        if not item.done:
            known = Known(engines, len(found.work.items))
            yield from _words_of(item, issues, known)


def _words_of(item: Item, issues: Mapping[int, int], known: Known) -> Iterator[str]:
    marks = marked(item, known)
    for words in marks.of("doubtful"):
        yield (
            f'task {item.number}: "{cut(words, SHOWN_CHARS)}" is read as words: '
            "a mark ends its line and names what there is, such as (after 1, 2), "
            "paths: a.py, b/, needs: port:5432, engine: NAME or accept: `COMMAND`"
        )
    for line in item.lines[item.lead :]:
        step = _STEP.fullmatch(line)
        if step and reference_in(step["words"]):
            yield (
                f"task {item.number} names {step['words'].strip()} among its steps: "
                "its agent does not see that issue's text"
            )
    for written in marks.of("after"):
        if written.startswith(("#", "\uff03")):
            number = int(written[1:])
            if number not in issues and number > known.most:
                yield (
                    f"task {item.number} names #{number}, which is no task here: it "
                    "does not wait for it"
                )
