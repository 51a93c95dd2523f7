"""What brat knows about each kind of task: a row. `rivals` has two more.

A row is data and pure functions of the state. It calls no rule: the rules, the merge
queue, the bot and the runner ask it. The task passed to its functions is of the row's
own kind, and is the one in the convoy passed with it.

Work ends in a change, and may have tests written for it first: CI sees them red, and
both land together. A report finds something out, a scout how hard a task is; neither
changes anything. A review looks at another task's work, which lands when it approves. A
sync merges the target into the convoy's branch where git or CI says no. Task 0, the
plan, turns the issue into tasks.
"""

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from convoy.events import Event
from convoy.model.records import Kind, Settings, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.model.work import Work
from convoy.text import clean

KindName = Kind | Literal["plan"]
Trial = Literal["red", "green"]


class Target(Struct, frozen=True, kw_only=True):
    """The tasks that a task looks at: `on` of its plan."""

    kind: Kind
    """The kinds of those tasks."""
    says: str
    """The message if they are of other kinds: the rest of a sentence about the task."""
    most: int = 1
    """With more than one, it goes on if some of them were dropped."""
    is_optional: bool = False
    """Whether there may be none."""
    lands_after: bool = False
    """Whether what it looks at lands after it, and so after what it waits for."""


def looked_at(convoy: Convoy, task: Task) -> Task | None:
    other = convoy.task(task.spec.on[0]) if task.spec.on else None
    if other is None or other.work is None or other.state != "needs-review":
        return None
    return other


class TaskKind(Struct, frozen=True, kw_only=True):
    name: KindName
    title: str
    """Its name in a sentence, with its article."""

    # --- what its sessions do -----------------------------------------------------
    answer: str = ""
    """The kind of answer its sessions give, in a word; empty: they make a change."""
    finds_out: str = ""
    """Where that is a report: what they are told to do for it."""
    is_set_up: bool = True
    """Whether the project's toolchain is set up for its sessions."""
    keeps_tries: bool = False
    """Whether a session's changes besides its answer are kept."""
    is_accepted: bool = False
    """Whether its work must pass the acceptance command."""
    takes_target_in: bool = False
    """Whether its attempts start from the convoy's branch merged with the target, and
    its work lands as a merge of both, whatever the strategy."""
    keeps_work: bool = False
    """Whether its work is also kept outside its branch, which may be deleted."""

    # --- its place in a plan --------------------------------------------------------
    is_work: bool = False
    """Whether it is a step of work: people may split it, and it comes after what
    touches the same."""
    in_templates: bool = True
    """Whether a step of a template may be one."""
    target: Target | None = None
    """The tasks it looks at; None: none."""
    may_be_needed: bool = True
    """Whether other tasks may wait for it."""
    needs_ci: str = ""
    """Why it needs CI, as the end of `needs CI ...`; empty: it does not."""
    fault: Callable[[Settings, TaskSpec, tuple[TaskSpec, ...]], str] = lambda *_: ""
    """Says what is wrong with it in a plan, apart from its target; empty: nothing."""

    # --- its attempts ---------------------------------------------------------------
    waits_for: Callable[[Convoy, Task], str] = lambda *_: ""
    """Says what it waits for besides what its plan names; empty: nothing."""
    starts_from: Callable[[Convoy, Task], Work | None] = lambda *_: None
    """Gives another task's work that an attempt starts from; None: the base."""
    must_change: Callable[[TaskSpec], str] = lambda *_: ""
    """Says why an attempt that changes nothing cannot settle it; empty: it can."""

    # --- its work, until it lands ---------------------------------------------------
    trial: Callable[[Convoy, Task], Trial | None] = lambda *_: None
    """Gives the verdict CI must give on its work alone before it may land; until then
    no pull request shows it. None: it needs none."""
    kept_back: Callable[[Convoy, Task], str] = lambda *_: ""
    """Says what must be done before its work may land; empty: nothing."""
    in_use: Callable[[Convoy, Task], str] = lambda *_: ""
    """Says why nobody may stop or drop it now; empty: anybody may."""
    being_judged: Callable[[Convoy, Task], str] = lambda *_: ""
    """Says why its work must not change now; empty: it may."""

    # --- what it means for a task that looks at it, or that it looks at -------------
    keeps: Callable[[Convoy, Task, Task], str] = lambda *_: ""
    """Says what keeps another task's work from landing: itself, or nothing (empty)."""
    settles_with: Callable[[Convoy, Task, Task], str] = lambda *_: ""
    """Says what it is to another task (`it reviews`) if it ends when the other does;
    empty: it does not."""
    relieves: Callable[[Convoy, Task, Task], str] = lambda *_: ""
    """Says why another task, which is blocked, needs no person's help: it has lost, and
    what happens then; empty: it does."""

    # --- when it stops --------------------------------------------------------------
    way_out: Callable[[State, Convoy, Task, str], tuple[Event, ...] | None] = (
        lambda *_: None
    )
    """Gives what happens instead of blocking it because its last attempt failed, for
    the reason that comes last; None: it is blocked."""
    retry_fault: Callable[[Convoy, Task], str] = lambda *_: ""
    """Says why it cannot be tried again; empty: it can."""
    retried_with: Callable[[Convoy, Task], tuple[Task, ...]] = lambda *_: ()
    """Gives the blocked tasks to retry first when it is retried."""
    done_by_others: Callable[[Convoy, Task], bool] = lambda *_: False
    """Says whether the purpose of a dropped task is met all the same."""

    @property
    def makes_plan(self) -> bool:
        """Whether its sessions run as one that plans, and leave no notes."""
        return self.answer == "plan"


_HAS_TESTS: Final = "has tests that must exist and pass"


def _code_starts_from(convoy: Convoy, task: Task) -> Work | None:
    tests = looked_at(convoy, task)
    return tests.work if tests is not None and tests.is_proven else None


def _code_waits_for(convoy: Convoy, task: Task) -> str:
    if not task.spec.on or task.earlier or _code_starts_from(convoy, task) is not None:
        return ""
    return f"CI to be red on the tests of task {task.spec.on[0]}"


WORK = TaskKind(
    name="work",
    title="a step of work",
    is_work=True,
    is_accepted=True,
    target=Target(kind="tests", says="needs one task of kind tests", is_optional=True),
    waits_for=_code_waits_for,
    starts_from=_code_starts_from,
    must_change=lambda task: _HAS_TESTS if task.on else "",
)


REPORT = TaskKind(
    name="report",
    title="a report",
    answer="report",
    finds_out="""\
Find out what the task asks for, and report it; change nothing. Look around in this
folder, a checkout of the repository.
""",
    is_set_up=False,
)


SCOUT = TaskKind(
    name="scout",
    title="a scout",
    answer="report",
    finds_out="""\
This is a scouting attempt: try what the task asks for in this folder, a checkout of
the repository, far enough to know how hard it is, and report what you learned.
None of your changes here will be used.
""",
    keeps_tries=True,
)


def _review_starts_from(convoy: Convoy, task: Task) -> Work | None:
    subject = looked_at(convoy, task)
    work = subject.work if subject is not None else None
    return None if work is None or task.approves == work.commit else work


def _review_waits_for(convoy: Convoy, task: Task) -> str:
    if _review_starts_from(convoy, task) is not None:
        return ""
    [number] = task.spec.on
    is_there = looked_at(convoy, task) is not None
    return f"task {number} to land" if is_there else f"the work of task {number}"


def _review_keeps(_convoy: Convoy, task: Task, other: Task) -> str:
    if task.settled:
        return ""
    is_approved = other.work is not None and task.approves == other.work.commit
    return "" if is_approved else f"the review by task {task.number}"


REVIEW = TaskKind(
    name="review",
    title="a review",
    answer="review",
    target=Target(
        kind="work", says="must review one task of kind work", lands_after=True
    ),
    waits_for=_review_waits_for,
    starts_from=_review_starts_from,
    keeps=_review_keeps,
    settles_with=lambda *_: "it reviews",
)


def coder(convoy: Convoy, tests: Task) -> Task | None:
    found = (t for t in convoy.tasks if tests.number in t.spec.on)
    return next((t for t in found if t.spec.kind == WORK.name), None)


def _tests_fault(
    settings: Settings, task: TaskSpec, tasks: tuple[TaskSpec, ...]
) -> str:
    """Return what keeps CI from seeing the tests red, or one task from passing them."""
    if not settings.require_ci:
        return f"task {task.number} needs a red CI run first, but require_ci is off"
    work = WORK.name
    code = [t for t in tasks if t.kind == work and task.number in t.on]
    if len(code) != 1:
        return f"one task of kind work must build on the tests of task {task.number}"
    if not {*code[0].after} <= {*task.after}:
        return f"task {code[0].number} waits for tasks that task {task.number} does not"
    return ""


def _tests_kept_back(convoy: Convoy, task: Task) -> str:
    code = coder(convoy, task)
    tests = f"task {code.number if code else 0} to pass its tests"
    return tests if task.is_proven else "CI to be red on its tests"


def _tests_in_use(convoy: Convoy, task: Task) -> str:
    code = coder(convoy, task)
    if code is None or code.settled or not code.started:
        return ""
    return f"task {code.number} builds on the tests of task {task.number}"


TESTS = TaskKind(
    name="tests",
    title="tests",
    needs_ci="to see tests fail",
    fault=_tests_fault,
    must_change=lambda _task: _HAS_TESTS,
    trial=lambda _convoy, _task: "red",
    kept_back=_tests_kept_back,
    in_use=_tests_in_use,
    settles_with=lambda *_: "its tests are for",
)


SPLIT = TaskKind(
    name="split",
    title="a split",
    in_templates=False,
    target=Target(kind="work", says="must split one task of kind work"),
    done_by_others=lambda _convoy, _task: True,
)
"""Planned a task anew in older logs. One that is not settled there is dropped."""


_CHECKOUT: Final = (
    "Your checkout is a merge of this convoy's branch and of `{target}`, which has "
    "moved on. Complete the merge: keep what both sides intended, and change "
    "nothing else."
)
_CONFLICT: Final = (
    "They conflict in these files:\n\n{files}\n\nEach conflict in a text file is "
    "between lines that begin with `<<<<<<<` (the convoy's side first) and "
    "`>>>>>>>`; no such line may remain. A file that one side deleted or renamed is "
    "as git left it: keep it or remove it."
)
_RED: Final = (
    "They merge without a conflict, but CI was red on the result twice. If nothing "
    "has to change, end with `noop`: CI then tests it again. CI says:\n\n{text}"
)


def sync_spec(
    convoy: Convoy, why: str, paths: tuple[str, ...], said: str = "", branch: str = ""
) -> TaskSpec:
    """Return a task that takes the target, or another branch, in.

    `said` is CI's text where it is red, else what more there is to say.
    """
    target = branch or convoy.target
    files = "\n".join(f"- {path}" for path in paths)
    told = _CONFLICT.format(files=files) + said if paths else _RED.format(text=said)
    return TaskSpec(
        number=convoy.next_number,
        title=f"Merge {target} into the convoy branch",
        instructions=clean(f"{_CHECKOUT.format(target=target)}\n\n{told}"),
        kind="sync",
        takes=branch,
        why=why,
    )


SYNC = TaskKind(
    name="sync",
    title="a sync",
    in_templates=False,
    may_be_needed=False,
    takes_target_in=True,
    must_change=lambda _task: "must end in a merge, even if nothing has to change",
)


PLAN = TaskKind(
    name="plan",
    title="a plan",
    answer="plan",
    is_set_up=False,
    in_templates=False,
)


TASK_KINDS: Final = (WORK, REPORT, SCOUT, REVIEW, TESTS, SPLIT, SYNC, PLAN)
