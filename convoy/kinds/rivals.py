"""Rivals: several tasks that try the same; a choice says which of them lands.

CI judges each rival's work as it is. A rival found green stays in the race; one found
red, or without work, is out: it is blocked, and nobody is called for it while others
are left. If one rival is left, nobody judges; if no judge could decide, a rule does. A
choice needs no model, and asks a person only if no rival is left.
"""

from collections.abc import Iterable
from typing import Final

from convoy.events import Event
from convoy.events.forge_actions import pull_wanted
from convoy.events.session_events import ChoiceMade
from convoy.events.task_events import TaskDropped
from convoy.kinds.task_kinds import Target, TaskKind
from convoy.model.records import Settings, TaskSpec, Usage
from convoy.model.state import Convoy, State, Task

RIVALS_MOST: Final = 8
"""How many tasks may try the same."""
NONE_LEFT: Final = "no rival is left to choose from: retry a rival, or drop this task"
ONLY_GREEN: Final = "it is the only green rival left"
SMALLEST_GREEN: Final = "it is the green rival with the smallest change; {}"


def choice_of(convoy: Convoy, number: int) -> Task | None:
    found = (t for t in convoy.tasks if is_choice(t) and number in t.spec.on)
    return next(found, None)


def chosen_among(convoy: Convoy, rival: int) -> int:
    """Return which task the choice took, even if it was dropped later; 0: none."""
    choice = choice_of(convoy, rival)
    return choice.chosen if choice else 0


def is_choice(task: Task) -> bool:
    return task.spec.kind == "choice"


def rivals(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    return tuple(task for task in convoy.tasks if task.number in choice.spec.on)


def is_green_rival(rival: Task) -> bool:
    return rival.state == "needs-review" and rival.is_proven


def rivals_left(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    return tuple(filter(is_green_rival, rivals(convoy, choice)))


def rivals_under_way(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    out = ("blocked", "dropped")
    return tuple(
        rival
        for rival in rivals(convoy, choice)
        if rival.state not in out and not is_green_rival(rival)
    )


def smallest(found: Iterable[Task]) -> Task:
    """Return the rival to choose if nobody can decide: the first smallest change."""
    return min(found, key=lambda rival: (rival.lines, rival.number))


def is_open_choice(choice: Task) -> bool:
    is_unmade = is_choice(choice) and not choice.chosen
    return is_unmade and choice.state == "queued" and choice.attempt is None


def choice_made(
    state: State,
    convoy: Convoy,
    choice: Task,
    winner: Task,
    text: str,
    *,
    usage: Usage | None = None,
) -> tuple[Event, ...]:
    """Return what follows when a choice takes a rival: all others are dropped."""
    commit = winner.work.commit if winner.work else ""
    ci_files = winner.work.ci_files if winner.work else ()
    chosen = ChoiceMade(
        convoy=convoy.name,
        task=choice.number,
        attempt=choice.attempt.number if choice.attempt else 0,
        on=winner.number,
        commit=commit,
        text=text,
        usage=usage or Usage(),
    )
    why = f"task {choice.number} chose task {winner.number}"
    others = (
        TaskDropped(convoy=convoy.name, task=rival.number, why=why)
        for rival in rivals(convoy, choice)
        if rival.number != winner.number and rival.state != "dropped"
    )
    is_due = winner.pull is None and convoy.shows_work(ci_files)
    shown = pull_wanted(state, convoy.name, winner.number) if is_due else ()
    return (chosen, *others, *shown)


def _choice_waits_for(convoy: Convoy, choice: Task) -> str:
    if choice.chosen:
        return f"task {choice.chosen} to land"
    if under_way := rivals_under_way(convoy, choice):
        numbers = ", ".join(str(rival.number) for rival in under_way)
        return f"rivals that have not finished ({numbers})"
    found = rivals_left(convoy, choice)
    if len(found) == 1:
        return f"no one: task {found[0].number} is the only one left"
    return "" if found else "a rival with green CI"


def _choice_in_use(_convoy: Convoy, choice: Task) -> str:
    if not choice.chosen:
        return ""
    return f"task {choice.number} chose task {choice.chosen} and ends when it does"


def _choice_relieves(_convoy: Convoy, choice: Task, blocked: Task) -> str:
    """A rival that is out needs nobody, as long as the race goes on."""
    goes_on = choice.chosen != blocked.number and choice.state != "blocked"
    return "its rivals continue without it" if goes_on else ""


def _choice_way_out(
    state: State, convoy: Convoy, choice: Task, last: str
) -> tuple[Event, ...] | None:
    """Choose by rule if nobody could say which rival is the best."""
    found = rivals_left(convoy, choice)
    if not found:
        return None
    tried = f"no judge picked a winner: {last}"
    return choice_made(
        state, convoy, choice, smallest(found), SMALLEST_GREEN.format(tried)
    )


def _choice_retry_fault(convoy: Convoy, choice: Task) -> str:
    is_over = not (rivals_left(convoy, choice) or rivals_under_way(convoy, choice))
    return f"task {choice.number} cannot choose: {NONE_LEFT}" if is_over else ""


CHOICE = TaskKind(
    name="choice",
    title="a choice",
    answer="choice",
    is_set_up=False,
    target=Target(
        kind="rival",
        says=f"must choose among 1 to {RIVALS_MOST} tasks of kind rival",
        most=RIVALS_MOST,
        lands_after=True,
    ),
    waits_for=_choice_waits_for,
    in_use=_choice_in_use,
    settles_with=lambda _convoy, choice, other: (
        "it chose" if choice.chosen == other.number else ""
    ),
    relieves=_choice_relieves,
    way_out=_choice_way_out,
    retry_fault=_choice_retry_fault,
)


def _rival_fault(
    _settings: Settings, task: TaskSpec, tasks: tuple[TaskSpec, ...]
) -> str:
    choices = [t for t in tasks if t.kind == "choice" and task.number in t.on]
    is_one = len(choices) == 1
    return "" if is_one else f"exactly one choice must include rival {task.number}"


def _rival_kept_back(convoy: Convoy, task: Task) -> str:
    if chosen_among(convoy, task.number) == task.number:
        return ""
    choice = choice_of(convoy, task.number)
    chosen = f"task {choice.number if choice else 0} to choose it"
    return chosen if task.is_proven else "CI to test it and its rivals"


def _rival_being_judged(convoy: Convoy, task: Task) -> str:
    choice = choice_of(convoy, task.number)
    if choice is None or choice.attempt is None or choice.chosen:
        return ""
    return f"task {choice.number} is comparing task {task.number} with its rivals"


def _rival_retried_with(convoy: Convoy, task: Task) -> tuple[Task, ...]:
    choice = choice_of(convoy, task.number)
    return (choice,) if choice is not None and choice.state == "blocked" else ()


def _rival_done_by_others(convoy: Convoy, task: Task) -> bool:
    choice = choice_of(convoy, task.number)
    return choice is not None and choice.state == "merged"


RIVAL = TaskKind(
    name="rival",
    title="a rival",
    is_accepted=True,
    keeps_work=True,
    may_be_needed=False,
    fault=_rival_fault,
    must_change=lambda _task: "is a rival, so it must change something",
    trial=lambda convoy, task: "green" if _rival_kept_back(convoy, task) else None,
    kept_back=_rival_kept_back,
    being_judged=_rival_being_judged,
    settles_with=lambda *_: "it is a rival in",
    retried_with=_rival_retried_with,
    done_by_others=_rival_done_by_others,
)


RIVALRY: Final = (RIVAL, CHOICE)
