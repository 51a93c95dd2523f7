"""Delivers webhook payloads to the addresses of a repository's hooks, in background.

Headers, signature and the ten seconds a receiver has are GitHub's; nothing is tried
twice by itself. What was waiting when the forge died is sent when it starts again.
https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import asyncio
import hashlib
import hmac
import zlib
from datetime import timedelta
from itertools import takewhile
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
from brat.forge.wire.timestamps import iso, parse

DEADLINE_S: Final = 10.0
KEPT: Final = 500
"""How many deliveries of one hook are kept."""
KEPT_FOR: Final = timedelta(days=3)
"""https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries"""
CARRIERS: Final = 4
"""How many deliveries are under way at once: a dead receiver may hold up only them."""

PRESSED: Final = frozenset(
    {("check_run", "rerequested"), ("check_run", "requested_action")}
)
"""What only the App hears that made the check."""


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

        That a check's button was pressed, only the App hears that made it.
        https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
        """
        if kind in PRESSED:
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
            self.keep(like, json.encode(payload))

    def keep(self, delivery: Delivery, body: bytes) -> None:
        """Keep a payload and deliver it; only inside `Store.change`."""
        packed = zlib.compress(body)
        payload = Payload(id=delivery.id, hook=delivery.hook, packed=packed)
        self._store.payloads.put(payload)
        self._store.deliveries.put(delivery)
        self._forget_old(delivery.hook)
        self._waiting.put_nowait(delivery.id)

    def _forget_old(self, hook: int) -> None:
        kept = self._store.deliveries.of(hook)
        since = iso(parse(self._context.forge.now()) - KEPT_FOR)
        late = takewhile(lambda one: one.created_at < since, kept)
        for old in {one.id: one for one in (*kept[:-KEPT], *late)}.values():
            self._store.deliveries.remove(old)
            payload = self._store.payloads.get(old.id)
            if payload is not None:
                self._store.payloads.remove(payload)

    async def _carry(self) -> None:
        limit = aiohttp.ClientTimeout(total=DEADLINE_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                number = await self._waiting.get()
                delivery = self._store.deliveries.get(number)
                payload = self._store.payloads.get(number)
                hook = self._store.hooks.get(delivery.hook) if delivery else None
                if delivery and payload and hook:
                    await self._deliver(session, (hook, delivery), payload.data)

    async def _deliver(
        self, session: aiohttp.ClientSession, found: tuple[Hook, Delivery], body: bytes
    ) -> None:
        hook, delivery = found
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
