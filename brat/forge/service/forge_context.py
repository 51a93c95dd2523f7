"""The state, locks and background work that all parts of a running forge share."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine

from brat.forge.resources.repository_resource import Repository
from brat.forge.storage.forge_state import Forge
from brat.forge.wire.urls import Site


class ForgeContext:
    """A forge's state, where it is reached, and what runs in the background."""

    def __init__(self, forge: Forge, tasks: asyncio.TaskGroup) -> None:
        """Use the state of `forge`; background work runs in `tasks`."""
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
