"""A choice between rivals: which of several tasks that did the same is to land.

If one rival is left, nobody judges; if no judge could decide, a rule does. A choice
needs no model, and asks a person only if no rival is left.
"""

from collections.abc import Iterable
from typing import Final

from convoy.events import Event
from convoy.events.forge_actions import ActionIntended
from convoy.events.rival_choice import ChoiceMade
from convoy.events.task_ends import TaskDropped
from convoy.kinds.task_kind import Relief, Stop, Target, TaskKind
from convoy.model import ids
from convoy.model.records import Usage
from convoy.model.state import Convoy, State, Task

MOST: Final = 8
"""How many tasks may try the same."""
NONE_LEFT: Final = (
    "none of its rivals is left: retry one of them to let it try again, or drop this"
)
ONLY: Final = "it is the only one left that CI finds green"
RULE: Final = "of those that CI finds green its change is the smallest; {}"


def choice_of(convoy: Convoy, number: int) -> Task | None:
    """Return the task that chooses between a rival and others."""
    found = (t for t in convoy.tasks if is_choice(t) and number in t.spec.on)
    return next(found, None)


def is_choice(task: Task) -> bool:
    """Whether a task chooses between others."""
    return task.spec.kind == "choice"


def rivals(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the tasks that a choice is between."""
    return tuple(task for task in convoy.tasks if task.number in choice.spec.on)


def is_green(rival: Task) -> bool:
    """Whether CI found its current work green."""
    return rival.state == "needs-review" and rival.is_proven


def left(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the rivals that can be chosen."""
    return tuple(filter(is_green, rivals(convoy, choice)))


def under_way(convoy: Convoy, choice: Task) -> tuple[Task, ...]:
    """Return the rivals that may yet become ready to be chosen."""
    out = ("blocked", "dropped")
    return tuple(
        rival
        for rival in rivals(convoy, choice)
        if rival.state not in out and not is_green(rival)
    )


def smallest(found: Iterable[Task]) -> Task:
    """Return the rival to choose if nobody can decide: the first smallest change."""
    return min(found, key=lambda rival: (rival.lines, rival.number))


def is_open(choice: Task) -> bool:
    """Whether it is a choice that is not made and that no session works on."""
    is_unmade = is_choice(choice) and not choice.chosen
    return is_unmade and choice.state == "queued" and choice.attempt is None


def made(
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
    key = ids.pull_key(convoy.name, winner.number)
    if winner.pull is not None or key in state.intents:
        return (chosen, *others)
    shown = ActionIntended(key=key, kind="pull", convoy=convoy.name, task=winner.number)
    return (chosen, *others, shown)


def _waits_for(convoy: Convoy, choice: Task) -> str:
    if choice.chosen:
        return f"task {choice.chosen} to land"
    if numbers := ", ".join(str(rival.number) for rival in under_way(convoy, choice)):
        return f"task {numbers} to be tried"
    found = left(convoy, choice)
    if len(found) == 1:
        return f"nobody: task {found[0].number} is the only one left"
    return "" if found else "a rival that CI finds green"


def _in_use(_convoy: Convoy, choice: Task) -> str:
    if not choice.chosen:
        return ""
    return f"task {choice.number} chose task {choice.chosen}, and goes with it"


def _settles_with(_convoy: Convoy, choice: Task, other: Task) -> str:
    is_winner = choice.chosen == other.number and not choice.settled
    return "which it chose" if is_winner else ""


def _relieves(_convoy: Convoy, choice: Task, blocked: Task) -> Relief | None:
    """A rival that is out needs nobody, as long as the race goes on."""
    is_beaten = blocked.number in choice.spec.on and choice.chosen != blocked.number
    if not is_beaten or choice.state == "blocked":
        return None
    return Relief(who="nobody: it is out", why="its rivals go on without it")


def _way_out(
    state: State, convoy: Convoy, choice: Task, stop: Stop
) -> tuple[Event, ...] | None:
    """Choose by rule if nobody could say which rival is the best."""
    found = left(convoy, choice)
    if not stop.last or not found:
        return None
    tried = f"nobody could say which is the best: {stop.last}"
    return made(state, convoy, choice, smallest(found), RULE.format(tried))


def _retry_fault(convoy: Convoy, choice: Task) -> str:
    is_over = not (left(convoy, choice) or under_way(convoy, choice))
    return f"task {choice.number} cannot choose: {NONE_LEFT}" if is_over else ""


KIND = TaskKind(
    name="choice",
    title="a choice",
    answer="choice",
    is_set_up=False,
    target=Target(
        kind="rival",
        says=f"chooses between 1 to {MOST} tasks that are rivals",
        most=MOST,
        lands_after=True,
        one_is_enough=True,
    ),
    waits_for=_waits_for,
    in_use=_in_use,
    settles_with=_settles_with,
    relieves=_relieves,
    way_out=_way_out,
    retry_fault=_retry_fault,
)
