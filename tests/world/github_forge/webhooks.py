"""What GitHub's webhooks say; what they sent is kept, and can be looked at.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

import asyncio
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import aiohttp
from msgspec import json

from brat.forge.resources.forge_records import (
    Hook,
    Record,
    Repository,
    Run,
    User,
)
from brat.forge.service.announcements import (
    DEADLINE_S,
    About,
    Events,
    ForgeContext,
    Kind,
    WebhookSender,
    delivery_headers,
)
from brat.forge.service.running_forge import Service
from brat.forge.storage.git_storage import Move
from brat.forge.storage.record_store import Table
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.shapes import GitHubRenderer, dressed


class Delivery(Record, frozen=True, kw_only=True):
    """What became of a payload for one hook."""

    hook: int
    pending: bool = True
    status_code: int = 0
    """0: there was no answer in time."""


deliveries_in = per_store(lambda store: Table(store, Delivery, lambda r: r.hook))
"""The deliveries that a forge's file holds, by their hooks."""
NO_COMMIT: Final = "0" * 40
_STEPS = {"requested": "queued"}
"""What happens to a job where something else is said of its run."""


class FullEvents(Events):
    """Announces what changed as GitHub does."""

    def tell(
        self, repo: Repository, actor: User, action: str, about: About, **more: object
    ) -> None:
        """Something was done to a record; of a run its job is told, too."""
        super().tell(repo, actor, action, about, **more)
        if isinstance(about, Run):
            job = self._context.renderer.job(repo, about, None)
            step = _STEPS.get(action, action)
            self.send(repo, actor, ("workflow_job", step), {"workflow_job": job})

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved, came or went; other refs are not told of."""
        if move.ref.startswith(("refs/heads/", "refs/tags/")):
            sides = {"before": move.before, "after": move.after}
            shown = {name: sha or NO_COMMIT for name, sha in sides.items()}
            self.send(repo, actor, ("push", None), {"ref": move.ref, **shown})


PRESSED: Final = ("check_run", "requested_action")
"""What only the App hears that made the check."""


class KeptWebhooks(WebhookSender):
    """Delivers payloads, and keeps what became of them."""

    def __init__(self, context: ForgeContext) -> None:
        super().__init__(context)
        self._under_way = asyncio.Queue[tuple[Hook, Delivery, str, bytes]]()

    def post(
        self, repo: Repository, _actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        """Send a payload to each hook soon; only inside `Store.change`.

        That a check's button was pressed, only the App hears that made it.
        https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
        """
        if kind == PRESSED:
            return
        for hook in self._store.hooks.of(repo.id):
            self.send(hook, kind, payload)

    def send(self, hook: Hook, kind: Kind, payload: dict[str, Any]) -> None:
        """Send a payload to a hook soon; only inside `Store.change`."""
        new = deliveries_in(self._store).add(Delivery(hook=hook.id))
        self._under_way.put_nowait((hook, new, kind[0], json.encode(payload)))

    async def _carry(self) -> None:
        limit = aiohttp.ClientTimeout(total=DEADLINE_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                hook, delivery, event, body = await self._under_way.get()
                headers = delivery_headers(hook, event, str(uuid4()), body)
                code = 0
                with suppress(TimeoutError, aiohttp.ClientError):
                    sent = session.post(hook.url, data=body, headers=headers)
                    async with sent as answer:
                        code = answer.status
                known = deliveries_in(self._store)
                known.change(delivery, pending=False, status_code=code)


def kept_webhooks(service: Service) -> KeptWebhooks:
    """Return what delivers in a forge that is `whole`."""
    assert isinstance(service.webhooks, KeptWebhooks)
    return service.webhooks


def whole(service: Service) -> GitHubRenderer:
    """Let a forge show and announce everything as GitHub does; safe to call twice."""
    renderer = dressed(service)
    if not isinstance(service.events, FullEvents):
        events, before = FullEvents(service), service.events.heard_by
        events.heard_by = [each for each in before if each != service.webhooks.post]
        service.events = events
        service.webhooks = KeptWebhooks(service)
    return renderer
