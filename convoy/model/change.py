"""Changes inside frozen values: a convoy in a state, a task in a convoy."""

from collections.abc import Callable

from msgspec.structs import replace

from convoy.model.state import Convoy, State, Task


def with_convoy(state: State, convoy: Convoy) -> State:
    """Return the state with `convoy` replacing the one with the same name."""
    return replace(state, convoys=state.convoys.having(convoy))


def change_convoy(state: State, name: str, change: Callable[[Convoy], Convoy]) -> State:
    """Change a convoy; an unknown convoy changes nothing."""
    convoy = state.convoys.get(name)
    return state if convoy is None else with_convoy(state, change(convoy))


def change_session(
    convoy: Convoy, number: int, change: Callable[[Task], Task]
) -> Convoy:
    """Change what a session works on: a task, or for 0 the plan itself."""
    if number:
        return change_task(convoy, number, change)
    return replace(convoy, mayor=change(convoy.mayor) if convoy.mayor else None)


def change_task(convoy: Convoy, number: int, change: Callable[[Task], Task]) -> Convoy:
    """Change a task of `convoy`; an unknown task changes nothing."""
    tasks = tuple(
        change(task) if task.number == number else task for task in convoy.tasks
    )
    return replace(convoy, tasks=tasks)
