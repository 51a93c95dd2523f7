"""The running forge: the state, and what works on it beside the endpoints.

Git pushes and REST calls that move refs hold the repository's lock; everything that
must follow from a moved ref is done before the lock is free again.
"""

import asyncio

from brat.forge.apps import Apps
from brat.forge.ci import Judge
from brat.forge.deliveries import Postman
from brat.forge.events import Events
from brat.forge.faces import Faces
from brat.forge.ground import Ground
from brat.forge.limits import Limits
from brat.forge.merges import Merges
from brat.forge.pushes import Pushes
from brat.forge.records import Repository
from brat.forge.runs import LIKE_GITHUB, How, Starter
from brat.forge.state import Forge
from brat.forge.triggers import Triggers
from brat.forge.urls import Site


class Service:
    """A forge that is being served."""

    def __init__(
        self, forge: Forge, tasks: asyncio.TaskGroup, *, how: How = LIKE_GITHUB
    ) -> None:
        """Put a service on `forge`; its background work runs in `tasks`."""
        self.forge = forge
        self._ground = ground = Ground(forge, tasks)
        self.apps = Apps(forge)
        self.limits = Limits(forge.clock)
        self.merges = Merges(forge)
        self.faces = Faces(ground, self.merges)
        self.events = Events(ground, self.faces)
        self.postman = Postman(ground)
        self.judge = Judge(ground, self.events)
        self.pushes = Pushes(forge, self.events, self.judge)
        self.starter = Starter(ground, self.events, how)
        self.triggers = Triggers(forge, self.starter)
        self.events.tell(self.postman.post, self.triggers.consider)

    @property
    def site(self) -> Site:
        """Where the forge is reached."""
        return self._ground.site

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._ground.lock(repo)

    def start(self, base: str) -> None:
        """Begin to work, reached at `base`: first what an earlier process left."""
        self._ground.site = Site(base)
        self.postman.start()
        for repo in self.forge.store.repositories.all():
            self.pushes.settle(repo, self.faces.owner(repo), [])
        self.judge.start()
        self.starter.start()

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        self._ground.stop()
