"""Finds the convoy and the task that a path names."""

from aiohttp import web

from convoy.model.state import Convoy, State, Task


def convoy_of(state: State, request: web.Request) -> Convoy:
    """Return the convoy that the path names.

    Raises:
        HTTPNotFound: there is no such convoy.
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
