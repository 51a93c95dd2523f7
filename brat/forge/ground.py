"""What every part of a running forge stands on: the state, locks, background work."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine

from brat.forge.records import Repository
from brat.forge.state import Forge
from brat.forge.urls import Site


class Ground:
    """A forge's state, where it is reached, and what runs in the background."""

    def __init__(self, forge: Forge, tasks: asyncio.TaskGroup) -> None:
        """Stand on `forge`; background work runs in `tasks`."""
        self.forge = forge
        self.site = Site()
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._locks[repo.id]

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Run something in the background until it ends or the forge stops."""
        task = self._tasks.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        for task in self._running:
            task.cancel()
