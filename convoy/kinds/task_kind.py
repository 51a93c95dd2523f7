"""What brat knows about one kind of task: a row.

A row is data and pure functions of the state. It calls no rule: the rules, the merge
queue, the bot and the runner ask it. The task passed to its functions is of the row's
own kind, and is the one in the convoy passed with it.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from convoy.events import Event
from convoy.model.attempt import Work
from convoy.model.kind_names import Kind
from convoy.model.records import Settings, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.planner import REPLY

Name = Kind | Literal["plan"]
Trial = Literal["red", "green"]


class Target(Struct, frozen=True, kw_only=True):
    """The tasks that a task looks at: `on` of its plan."""

    kind: Kind
    """The kinds of those tasks."""
    says: str
    """The message if they are of other kinds: the rest of a sentence about the task."""
    most: int = 1
    is_optional: bool = False
    """Whether there may be none."""
    lands_after: bool = False
    """Whether what it looks at lands after it, and so after what it waits for."""
    one_is_enough: bool = False
    """Whether it goes on if some of them were dropped."""


class Relief(Struct, frozen=True, kw_only=True):
    """Why a blocked task needs no person's help."""

    who: str
    """Who helps it, in a few words."""
    why: str
    """What happens to it, as a clause."""
    replaces: bool = False
    """Whether the work is done by others in its place."""


def looked_at(convoy: Convoy, task: Task) -> Task | None:
    """Return the task it looks at if that has work to look at, else None."""
    other = convoy.task(task.spec.on[0]) if task.spec.on else None
    if other is None or other.work is None or other.state != "needs-review":
        return None
    return other


def _nothing(_convoy: Convoy, _task: Task) -> str:
    return ""


def _no_bond(_convoy: Convoy, _task: Task, _other: Task) -> str:
    return ""


def _no_relief(_convoy: Convoy, _task: Task, _blocked: Task) -> Relief | None:
    return None


def _no_work(_convoy: Convoy, _task: Task) -> Work | None:
    return None


def _no_trial(_convoy: Convoy, _task: Task) -> Trial | None:
    return None


def _no_tasks(_convoy: Convoy, _task: Task) -> tuple[Task, ...]:
    return ()


def _no_fault(
    _settings: Settings, _task: TaskSpec, _tasks: tuple[TaskSpec, ...]
) -> str:
    return ""


def _no_way_out(
    _state: State, _convoy: Convoy, _task: Task, _stop: "Stop"
) -> tuple[Event, ...] | None:
    return None


class Stop(Struct, frozen=True):
    """Why a task is to be blocked."""

    why: str
    last: str = ""
    """Why its last attempt failed, if its attempts are spent; empty: a person or a rule
    stops it."""


class TaskKind(Struct, frozen=True, kw_only=True):
    """A kind of task."""

    name: Name
    title: str
    """Its name in a sentence, with its article."""

    # --- what its sessions do -----------------------------------------------------

    answer: str = ""
    """The kind of answer its sessions give, in a word; empty: they make a change."""
    answer_file: str = REPLY
    """The answer's file, at the top of the session's folder."""
    runs_as: Name | None = None
    """The kind that the runner treats its sessions as; None: its own."""
    is_set_up: bool = True
    """Whether the project's toolchain is set up for its sessions."""
    keeps_tries: bool = False
    """Whether a session's changes besides its answer are kept."""
    takes_notes: bool = True
    """Whether its agents are asked for notes that others should know."""
    is_accepted: bool = False
    """Whether its work must pass the acceptance command."""
    takes_target_in: bool = False
    """Whether its attempts start from the convoy's branch merged with the target, and
    its work lands as a merge of both, whatever the strategy."""
    keeps_work: bool = False
    """Whether its work is also kept outside its branch, which may be deleted."""

    # --- its place in a plan --------------------------------------------------------

    is_work: bool = False
    """Whether it is a step of work: it may be split, merged with others, held to the
    size allowed, and ordered behind what it may collide with."""
    in_templates: bool = True
    """Whether a step of a template may be one."""
    target: Target | None = None
    """The tasks it looks at; None: none."""
    may_be_needed: bool = True
    """Whether other tasks may wait for it."""
    needs_ci: str = ""
    """Why it needs CI, as the end of `needs CI ...`; empty: it does not."""
    fault: Callable[[Settings, TaskSpec, tuple[TaskSpec, ...]], str] = _no_fault
    """Says what is wrong with it in a plan, apart from its target; empty: nothing."""

    # --- its attempts ---------------------------------------------------------------

    waits_for: Callable[[Convoy, Task], str] = _nothing
    """Says what it waits for besides what its plan names; empty: nothing."""
    starts_from: Callable[[Convoy, Task], Work | None] = _no_work
    """Gives another task's work that an attempt starts from; None: the base."""
    must_change: Callable[[TaskSpec], str] = lambda _task: ""
    """Says why an attempt that changes nothing cannot settle it; empty: it can."""

    # --- its work, until it lands ---------------------------------------------------

    trial: Callable[[Convoy, Task], Trial | None] = _no_trial
    """Gives the verdict CI must give on its work alone before it may land; until then
    no pull request shows it. None: it needs none."""
    kept_back: Callable[[Convoy, Task], str] = _nothing
    """Says what must be done before its work may land; empty: nothing."""
    in_use: Callable[[Convoy, Task], str] = _nothing
    """Says why nobody may stop or drop it now; empty: anybody may."""
    being_judged: Callable[[Convoy, Task], str] = _nothing
    """Says why its work must not change now; empty: it may."""

    # --- what it means for other tasks ----------------------------------------------

    keeps: Callable[[Convoy, Task, Task], str] = _no_bond
    """Says what keeps another task's work from landing: itself, or nothing (empty)."""
    settles_with: Callable[[Convoy, Task, Task], str] = _no_bond
    """Says what another task is to it (`which ...`) if it ends when the other does;
    empty: it does not."""
    relieves: Callable[[Convoy, Task, Task], Relief | None] = _no_relief
    """Says why another task, which is blocked, needs no person's help; None: it
    does."""

    # --- when it stops --------------------------------------------------------------

    way_out: Callable[[State, Convoy, Task, Stop], tuple[Event, ...] | None] = (
        _no_way_out
    )
    """Gives what happens instead of blocking it; None: it is blocked."""
    retry_fault: Callable[[Convoy, Task], str] = _nothing
    """Says why it cannot be tried again; empty: it can."""
    retried_with: Callable[[Convoy, Task], tuple[Task, ...]] = _no_tasks
    """Gives the blocked tasks to retry first when it is retried."""
    done_by_others: Callable[[Convoy, Task], bool] = lambda _convoy, _task: False
    """Says whether the purpose of a dropped task is met all the same."""
