"""The JSON interface below `/api/v1`: the same state, for programs."""

from typing import Any

from aiohttp import web

from bot.dashboard.house import House
from bot.dashboard.news import News
from convoy.state import Convoy, Task
from convoy.told import document


def status(house: House, news: News) -> dict[str, Any]:
    """Return everything: the same document as `brat status --json`."""
    reading = news.reading
    return document.state_document(reading.state, house.clock(), reading.faults)


def convoy_of(news: News, request: web.Request) -> Convoy:
    """Return the convoy that the path names.

    Raises:
        HTTPNotFound: there is none.
    """
    name = request.match_info["convoy"]
    convoy = news.reading.state.convoys.get(name)
    if convoy is None:
        raise web.HTTPNotFound(text=f"There is no convoy {name[:80]}.\n")
    return convoy


def task_of(convoy: Convoy, request: web.Request) -> Task:
    """Return the task that the path names.

    Raises:
        HTTPNotFound: the convoy has no such task.
    """
    task = convoy.task(int(request.match_info["task"]))
    if task is None:
        raise web.HTTPNotFound(text=f"{convoy.name} has no such task.\n")
    return task
