"""What a path names: a convoy, a task of it."""

from aiohttp import web

from convoy.state import Convoy, State, Task


def convoy_of(state: State, request: web.Request) -> Convoy:
    """Return the convoy that the path names.

    Raises:
        HTTPNotFound: there is none.
    """
    name = request.match_info["convoy"]
    convoy = state.convoys.get(name)
    if convoy is None:
        raise web.HTTPNotFound(text=f"There is no convoy {name[:80]}.\n")
    return convoy


def task_of(state: State, request: web.Request) -> tuple[Convoy, Task]:
    """Return the task that the path names, and its convoy.

    Raises:
        HTTPNotFound: there is no such convoy, or it has no such task.
    """
    convoy = convoy_of(state, request)
    task = convoy.task(int(request.match_info["task"]))
    if task is None:
        raise web.HTTPNotFound(text=f"{convoy.name} has no such task.\n")
    return convoy, task
