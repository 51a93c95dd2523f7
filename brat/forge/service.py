"""The running forge: the state, and what works on it beside the endpoints.

Git pushes and REST calls that move refs hold the repository's lock; everything that
must follow from a moved ref is done before the lock is free again.
"""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine

from brat.forge.ci import Judge
from brat.forge.deliveries import Postman
from brat.forge.events import Events
from brat.forge.faces import Faces
from brat.forge.limits import Limits
from brat.forge.merges import Merges
from brat.forge.pushes import Pushes
from brat.forge.records import Repository
from brat.forge.runs import LIKE_GITHUB, How, Starter
from brat.forge.state import Forge
from brat.forge.urls import Site
from brat.forge.workflows import Triggers


class Service:
    """A forge that is being served."""

    def __init__(
        self, forge: Forge, tasks: asyncio.TaskGroup, *, how: How = LIKE_GITHUB
    ) -> None:
        """Put a service on `forge`; its background work runs in `tasks`."""
        self.forge = forge
        self._tasks = tasks
        self._running: set[asyncio.Task[None]] = set()
        self.site = Site()
        self.limits = Limits(forge.clock)
        self.faces = Faces(self)
        self.merges = Merges(self)
        self.postman = Postman(self)
        self.events = Events(self)
        self.judge = Judge(self)
        self.pushes = Pushes(self)
        self.starter = Starter(self, how)
        self.triggers = Triggers(self)
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._locks[repo.id]

    def start(self, base: str) -> None:
        """Begin to work, reached at `base`: first what an earlier process left."""
        self.site = Site(base)
        self.postman.start()
        for repo in self.forge.store.repositories.all():
            self.pushes.settle(repo, self.faces.owner(repo), [])
        self.judge.start()
        self.starter.start()

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Run something in the background until it ends or the service stops."""
        task = self._tasks.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        for task in self._running:
            task.cancel()
