"""The planner without a model: an issue's task list becomes the convoy's tasks.

The issue's text is data. What it asks for is checked here, once, and every fault is one
sentence that its author can act on; nothing is guessed. What readers of a plan are told
of its text is said here, too.

The tasks of a long plan go in waves, so many under way at a time: a task lets the one
go first that stands a wave's length before it. That is a turn and no need: it ends when
the other has landed, was given up, or waits for a person.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from convoy.model.records import MOST_TASKS, TaskSpec
from convoy.model.state import Convoy
from convoy.model.task_graph import declared_need, declared_path, find_cycle, order
from convoy.planner.issue_text import Item, checklist, intake, reference_in
from convoy.planner.marks import (
    WITHOUT_NUMBER,
    Known,
    Marked,
    items_by_issue,
    left_out,
    marked,
)
from convoy.text import clean, counted, cut, did_you_mean
from grite.errors import BratError


def in_waves(tasks: tuple[TaskSpec, ...], length: int) -> tuple[TaskSpec, ...]:
    """Return a plan's tasks, with an order where they are more than one wave."""
    if len(tasks) <= length:
        return tasks
    placed = order(tasks)
    ahead = dict(zip(placed[length:], placed, strict=False))
    wave = {number: at // length + 1 for at, number in enumerate(placed)}
    waves = {task.number: task for task in tasks}
    for number, on in ahead.items():
        if on not in waves[number].after:
            which = f"it is in wave {wave[number]}"
            why = f"{which}, and {length} tasks are active at a time"
            waves[number] = waves[number].waiting(on, why, overlap=True)
    return tuple(waves.values())


Plan = tuple[TaskSpec, ...]

TITLE_MOST = 120
INSTRUCTIONS_CHARS = 20_000
ACCEPTANCE_CHARS = 500
AROUND_CHARS = 6_000
SHOWN_CHARS = 60
_EMPTY_LIST = re.compile(r"(?:\s*(?:[-*+] )?\[[ xX]\])+")


class PlanError(BratError):
    """The issue cannot be planned as it stands; the message is one sentence."""


def plan(
    title: str,
    text: str,
    engines: Collection[str],
    wave: int,
    labels: Collection[str] = (),
    most: int = MOST_TASKS,
) -> Plan:
    """Return the tasks of an issue, in the order of their numbers.

    An issue without a task list is one task, and so is a form of boxes that ask for no
    work, or a text in which every box is ticked. Ticked items keep their number, are
    not planned, and count as met where others wait for them. `default` is one of the
    engines; more tasks than `wave` go in waves.

    Raises:
        PlanError: nothing is to be done, there are more tasks than `most`, or an item
            asks for what cannot be.
    """
    title, text = " ".join(clean(title).split()), clean(text)
    found = intake(text, labels).work
    if not found.items:
        if _EMPTY_LIST.fullmatch(f"{title}\n{text}".strip()):
            raise PlanError("the task list is empty: add tasks to it")
        first = title or " ".join(text.strip().partition("\n")[0].split())
        if not first:
            raise PlanError("the issue has neither a title nor any text")
        told = text.strip()
        if not told or not told.startswith(title.removesuffix("\u2026")):
            told = f"{title}\n\n{told}".strip()
        told = cut(told, INSTRUCTIONS_CHARS)
        return (TaskSpec(number=1, title=cut(first, TITLE_MOST), instructions=told),)
    todo = [item for item in found.items if not item.done]
    if not todo:
        raise PlanError("every item of the task list is ticked: nothing is left to do")
    if len(todo) > most:
        raise PlanError(
            f"the task list has {len(todo)} open items; at most {most} are allowed: "
            "split the issue"
        )
    issue = _Issue(
        title=cut(title, TITLE_MOST),
        around=cut(found.around, AROUND_CHARS),
        done={item.number: item.done for item in found.items},
        known=Known(engines, len(found.items)),
        issues=items_by_issue(found.items),
    )
    tasks = tuple(_task(item, issue) for item in todo)
    if circle := find_cycle({task.number: task.after for task in tasks}):
        waits = ", ".join(f"{a} waits for {b}" for a, b in pairwise(circle))
        raise PlanError(f"tasks wait for each other in a cycle: {waits}")
    return in_waves(tasks, wave)


def added(convoy: Convoy, text: str, beside: Iterable[int] = ()) -> TaskSpec:
    """Return one more task of a convoy, with the number after the last.

    The text is what an item of a task list says; `beside` are the numbers of those that
    come with it.

    Raises:
        PlanError: it asks for what cannot be.
    """
    done = {task.number: task.state == "merged" for task in convoy.tasks}
    done |= dict.fromkeys(beside, False)
    lines = clean(text).strip().split("\n")
    items = checklist("- [ ] " + "\n  ".join(lines)).items
    if len(items) != 1:
        raise PlanError("the text must begin by saying what to do")
    title = cut(" ".join(clean(convoy.title).split()), TITLE_MOST)
    # `(after 9)` is an order in a sentence, too, though nothing is task 9: its author
    # is answered at once.
    known = Known(convoy.settings.engines)
    issue = _Issue(title=title, around="", done=done, known=known)
    return _task(replace(items[0], number=max(done, default=0) + 1), issue)


@dataclass(frozen=True)
class _Issue:
    title: str
    around: str
    done: Mapping[int, bool]
    """For each number of the list, whether it is ticked."""
    known: Known
    issues: Mapping[int, int] = field(default_factory=dict)
    """Which item does what another issue asks for, by that issue's number."""


def _task(item: Item, issue: _Issue) -> TaskSpec:
    found = marked(item, issue.known)
    # Its agent sees nothing else of the issue.
    context = f'This is task {item.number} of the issue "{issue.title}".'
    if issue.around:
        context += f" Apart from its tasks, the issue says:\n\n{issue.around}"
    room = INSTRUCTIONS_CHARS - len(context) - 2
    try:
        if other := item.reference:
            raise ValueError(  # noqa: TRY301  said of its task like all others
                f'"{cut(other, SHOWN_CHARS)}" only names another issue, and the agent '
                "cannot see that issue: describe what to do"
            )
        return TaskSpec(
            number=item.number,
            title=_title(found),
            instructions=f"{cut(found.text, room)}\n\n{context}",
            after=_after(item.number, found.of("after"), issue),
            paths=tuple(dict.fromkeys(map(declared_path, found.of("paths")))),
            needs=tuple(map(declared_need, found.of("needs"))),
            engine=_engine(found.of("engine"), issue.known.engines or ()),
            acceptance=_acceptance(found.of("accept")),
        )
    except ValueError as error:
        raise PlanError(f"task {item.number}: {error}") from error


_MENDS = {"accept": "put the command in backticks", "engine": "name one engine"}
_LIST_THEM = "list names on one line, separated by commas, and quote those with spaces"


def _title(found: Marked) -> str:
    for line in found.of("unread"):
        mend = _MENDS.get(line.lower().lstrip("(\uff08*")[:6], _LIST_THEM)
        raise ValueError(f'"{cut(line, SHOWN_CHARS)}" could not be read: {mend}')
    title = " ".join(found.text.partition("\n")[0].split())
    if not title:
        raise ValueError("it has no title")
    return cut(title, TITLE_MOST)


def _after(number: int, written: Collection[str], issue: _Issue) -> tuple[int, ...]:
    """Return the items that are waited for; of another issue none, if no item names it.

    A small number behind a sign may be meant as a task's: its author has to say.
    """
    done, wanted = issue.done, set[int]()
    for each in written:
        other = int(each.lstrip("#\uff03"))
        if not each.startswith(("#", "\uff03")):
            wanted.add(other)
        elif other in issue.issues:
            wanted.add(issue.issues[other])
        elif other <= max(done, default=0):
            raise ValueError(
                f"#{other} is the number of an issue; write (after {other}) for a task"
            )
    if number in wanted:
        raise ValueError("it waits for itself")
    for other in sorted(wanted):
        if other not in done:
            there = f"the last task is {max(done)}" if done else "there is no task yet"
            raise ValueError(f"it waits for task {other}, but {there}")
    return tuple(other for other in sorted(wanted) if not done[other])


def _acceptance(written: tuple[str, ...]) -> str:
    if len(written) > 1:
        raise ValueError(
            f"it has more than one acceptance command: {', '.join(written)}; join "
            "them with && in backticks"
        )
    if len("".join(written)) > ACCEPTANCE_CHARS:
        raise ValueError(
            f"its acceptance command has more than {ACCEPTANCE_CHARS} characters: "
            "move it into a script"
        )
    return "".join(written)


def _engine(written: tuple[str, ...], engines: Collection[str]) -> str:
    if len(written) > 1:
        raise ValueError(f"it names more than one engine: {', '.join(written)}")
    name = written[0] if written else "default"
    if name not in engines:
        name = next((it for it in engines if it.casefold() == name.casefold()), name)
    if name not in engines:
        raise ValueError(no_engine(name, engines))
    return name


def no_engine(name: str, engines: Collection[str]) -> str:
    known = f"configured: {', '.join(sorted(engines))}{did_you_mean(name, engines)}"
    return f'there is no engine "{cut(name, SHOWN_CHARS)}"; {known}'


_PICTURE: Final = re.compile(r"!\[(?:(?!!\[)[^\]\n])*+\]\([^\s)]|<img\b", re.IGNORECASE)
_NEARLY_BOXES: Final = re.compile(
    r"^[ \t]*(?:[-*+\u2022][ \t]*)?(?:[\[\uff3b][ \u3000]*[\]\uff3d]|\u2610)"
    r"[ \t]*(?=\w)",
    re.MULTILINE,
)
_NUMBERED: Final = re.compile(
    r"(?:[^\n]{0,99}:[ \t])?\s*(?:1[.)]|\(1\))\s.*\s(?:2[.)]|\(2\))\s", re.DOTALL
)
"""A text that is a numbered list, unlike a report that has one of steps."""
_STEP: Final = re.compile(r"\s*[-*+] \[[ xX]\] (?P<words>.*)")


def plan_remarks(
    text: str,
    labels: Collection[str] = (),
    wave: int = 0,
    engines: Collection[str] = (),
) -> tuple[str, ...]:
    """Return what readers of the plan are told of its text, a clause each.

    So many tasks as `wave` are under way at a time; 0: any number.
    """
    found = intake(text, labels)
    items = found.work.items
    todo = [item for item in items if not item.done]
    article = {"issue form": "an ", "one task": ""}.get(found.kind, "a ")
    told = [f"this is {article}{found.kind}: {found.why}"] if found.why else []
    if not items and len(_NEARLY_BOXES.findall(text)) > 1:
        told.append("its boxes are not a task list: each must begin with `- [ ] `")
    elif not items and _NUMBERED.match(text):
        told.append("its numbers make one task: for several, begin each with `- [ ] `")
    if pictures := len(_PICTURE.findall(text)):
        told.append(
            f"agents do not see its {counted(pictures, 'picture')}: describe what "
            "matters in words"
        )
    if wave and len(todo) > wave:
        told.append(
            f"its {len(todo)} tasks run in {-(-len(todo) // wave)} waves: {wave} are "
            "active at a time ([mayor] tasks)"
        )
    told += (f"item {number} is not a task: {why}" for number, why in left_out(items))
    issues, known = items_by_issue(items), Known(engines, len(items))
    for item in todo:
        marks = marked(item, known)
        for line in item.lines[item.lead :]:
            step = _STEP.fullmatch(line)
            if step and reference_in(step["words"]):
                told.append(
                    f"task {item.number} names {step['words'].strip()} among its "
                    "steps, but its agent does not see that issue's text"
                )
        told += (
            f"task {item.number}: {words} is taken for words, not for an order: write "
            "`(after NUMBER)` at the end of the line"
            for words in WITHOUT_NUMBER.findall(marks.text)
        )
        numbers = (n for n in marks.of("after") if n.startswith(("#", "\uff03")))
        for number in (int(written[1:]) for written in numbers):
            if number not in issues and number > known.most:
                told.append(
                    f"task {item.number} names #{number}, which is not a task here, "
                    "so it does not wait for that issue"
                )
    return tuple(told)
