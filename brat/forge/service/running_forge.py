"""The running forge: its state and its background work.

Git pushes and REST calls that move refs hold the repository's lock; everything that
must follow from a moved ref is done before the lock is free again.
"""

import asyncio
from collections.abc import Callable, Coroutine

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.wire import Site
from brat.forge.service.local_ci import Judge
from brat.forge.service.push_effects import Pushes
from brat.forge.service.renderer import ForgeContext, Merges, Renderer
from brat.forge.service.run_processes import LIKE_GITHUB, How, Starter
from brat.forge.service.webhook_deliveries import Events, WebhookSender
from brat.forge.storage.forge_state import Forge


class Service:
    """A forge that is being served."""

    def __init__(
        self, forge: Forge, tasks: asyncio.TaskGroup, *, how: How = LIKE_GITHUB
    ) -> None:
        self.forge = forge
        self._context = context = ForgeContext(forge, tasks)
        self.merges = Merges(forge)
        self.renderer = Renderer(context, self.merges)
        self.events = Events(context, self.renderer)
        self.webhooks = WebhookSender(context)
        self.judge = Judge(context, self.events)
        self.pushes = Pushes(forge, self.events, self.judge)
        self.starter = Starter(context, self.events, how)
        self.events.heard_by = [self.webhooks.post]
        self.fault_words: Callable[[bytes, type, str], str] = lambda *said: said[-1]
        """Says what is wrong with a body that is not of a type, from our own words."""

    @property
    def site(self) -> Site:
        """Where the forge is reached."""
        return self._context.site

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._context.lock(repo)

    def spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """Run something in the background until it ends or the forge stops."""
        self._context.spawn(work, name)

    def start(self, base: str) -> None:
        """Start, with `base` as the address; first finish an earlier process's work."""
        self._context.site = Site(base)
        self.webhooks.start()
        for repo in self.forge.store.repositories.all():
            self.pushes.settle(repo, self.renderer.owner(repo), [])
        self.judge.start()
        self.starter.start()

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        self._context.stop()
