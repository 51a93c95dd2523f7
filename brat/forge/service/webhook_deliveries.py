"""Delivers webhook payloads to the addresses of a repository's hooks, in background.

Headers, signature and the ten seconds a receiver has are GitHub's; nothing is tried
twice by itself. What was waiting when the forge died is sent when it starts again.
https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import asyncio
import hashlib
import hmac
from typing import Any, Final
from uuid import uuid4

import aiohttp
from msgspec import json
from msgspec.structs import replace

from brat.forge.resources.account_resource import User
from brat.forge.resources.hook_resource import Delivery, Hook, Payload
from brat.forge.resources.repository_resource import Repository
from brat.forge.service.forge_context import ForgeContext
from brat.forge.service.webhook_payloads import Kind

DEADLINE_S: Final = 10.0
KEPT: Final = 500
"""How many deliveries of one hook are kept."""
CARRIERS: Final = 4
"""How many deliveries are under way at once: a dead receiver may hold up only them."""

RERUN: Final = ("check_run", "rerequested")


def signature(secret: str, body: bytes) -> str:
    """Return the value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class WebhookSender:
    """Takes payloads, keeps them, and delivers them."""

    def __init__(self, context: ForgeContext) -> None:
        """Prepare; nothing is delivered before `start`."""
        self._context = context
        self._store = context.forge.store
        # Unbounded, but an entry is only a number, and a hook keeps KEPT deliveries.
        self._waiting: asyncio.Queue[int] = asyncio.Queue()

    def start(self) -> None:
        """Begin to deliver, starting with the deliveries an earlier process left."""
        for delivery in self._store.deliveries.all():
            if delivery.pending:
                self._waiting.put_nowait(delivery.id)
        for place in range(CARRIERS):
            self._context.spawn(self._carry(), f"carrier {place}")

    def post(
        self, repo: Repository, _actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        """Keep a payload for each hook that wants it; only inside `Store.change`.

        That a check is wanted again, only the App hears that made it.
        https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
        """
        if kind == RERUN:
            return
        for hook in self._store.hooks.of(repo.id):
            self.send(hook, repo, kind, payload)

    def send(
        self,
        hook: Hook,
        repo: Repository,
        kind: Kind,
        payload: dict[str, Any],
        *,
        installation: int | None = None,
    ) -> None:
        """Keep a payload for a hook if it wants it; only inside `Store.change`.

        A ping goes to a hook whatever it asked for.
        """
        event, action = kind
        if hook.active and {event, "*"} & {*hook.events, "ping"}:
            like = Delivery(
                id=self._store.next_id(),
                hook=hook.id,
                repo=repo.id,
                guid=str(uuid4()),
                event=event,
                action=action,
                installation=installation,
                created_at=self._context.forge.now(),
            )
            self.keep(like, json.encode(payload).decode())

    def keep(self, delivery: Delivery, body: str) -> None:
        """Keep a payload and deliver it; only inside `Store.change`."""
        self._store.payloads.put(Payload(id=delivery.id, hook=delivery.hook, body=body))
        self._store.deliveries.put(delivery)
        for old in self._store.deliveries.of(delivery.hook)[:-KEPT]:
            self._store.deliveries.remove(old)
            payload = self._store.payloads.get(old.id)
            if payload is not None:
                self._store.payloads.remove(payload)
        self._waiting.put_nowait(delivery.id)

    async def _carry(self) -> None:
        limit = aiohttp.ClientTimeout(total=DEADLINE_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                number = await self._waiting.get()
                delivery = self._store.deliveries.get(number)
                payload = self._store.payloads.get(number)
                hook = self._store.hooks.get(delivery.hook) if delivery else None
                if delivery and payload and hook:
                    await self._deliver(session, (hook, delivery), payload.body)

    async def _deliver(
        self, session: aiohttp.ClientSession, found: tuple[Hook, Delivery], text: str
    ) -> None:
        hook, delivery = found
        body = text.encode()
        started = asyncio.get_running_loop().time()
        status, code = "OK", 0
        try:
            async with session.post(
                hook.url, data=body, headers=_headers(hook, delivery, body)
            ) as answer:
                code = answer.status
                status = answer.reason or str(code)
        except TimeoutError:
            status = "timed out"
        except aiohttp.ClientError:
            status = "failed to connect to host"
        took = asyncio.get_running_loop().time() - started
        if self._store.deliveries.get(delivery.id) is None:
            return  # pushed out by newer ones in the meantime
        with self._store.change():
            self._store.deliveries.put(
                replace(
                    delivery,
                    pending=False,
                    status=status,
                    status_code=code,
                    duration_s=round(took, 3),
                )
            )


def _headers(hook: Hook, delivery: Delivery, body: bytes) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/brat",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-Type": "repository"
        if hook.repo == delivery.repo
        else "integration",
        "X-GitHub-Hook-Installation-Target-ID": str(hook.repo),
    }
    if hook.secret:
        headers["X-Hub-Signature-256"] = signature(hook.secret, body)
    return headers
