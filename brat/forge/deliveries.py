"""Carries webhook payloads to where a repository's hooks point, in the background.

Headers, signature and the ten seconds a receiver has are GitHub's; nothing is tried
twice by itself. What was waiting when the forge died is sent when it starts again.
https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import asyncio
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any, Final
from uuid import uuid4

import aiohttp
from msgspec import json
from msgspec.structs import replace

from brat.forge.ground import Ground
from brat.forge.records import Delivery, Hook, Payload, Repository
from brat.forge.urls import node_id

DEADLINE_S: Final = 10.0
KEPT: Final = 500
"""Deliveries of a hook."""
CARRIERS: Final = 4
"""How many deliveries are under way at once: a dead receiver may hold up only them."""


def signature(secret: str, body: bytes) -> str:
    """Return the value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Postman:
    """Takes payloads, keeps them, and delivers them."""

    def __init__(self, ground: Ground) -> None:
        """Wait for `start`."""
        self._ground = ground
        self._store = ground.forge.store
        # Unbounded, but what is beyond the last KEPT of a hook is only a number here.
        self._waiting: asyncio.Queue[int] = asyncio.Queue()

    def start(self) -> None:
        """Begin to deliver, first what an earlier process left."""
        for delivery in self._store.deliveries.all():
            if delivery.pending:
                self._waiting.put_nowait(delivery.id)
        for place in range(CARRIERS):
            self._ground.spawn(self._carry(), f"carrier {place}")

    def post(
        self, repo: Repository, kind: tuple[str, str | None], payload: dict[str, Any]
    ) -> None:
        """Keep a payload for each hook that wants it; only inside `Store.change`."""
        event, action = kind
        for hook, installation in self._hooks(repo):
            if not hook.active or not {event, "*"} & {*hook.events}:
                continue
            told = payload if installation is None else payload | _told(installation)
            like = Delivery(
                id=0,
                hook=hook.id,
                repo=repo.id,
                guid=str(uuid4()),
                event=event,
                action=action,
                installation=installation,
                created_at="",
            )
            self._keep(like, json.encode(told).decode())

    def again(self, delivery: Delivery) -> None:
        """Deliver the same payload once more, under the same GUID."""
        hook = self._store.hooks.get(delivery.hook)
        payload = self._store.payloads.get(delivery.id)
        if hook is not None and payload is not None:
            with self._store.change():
                self._keep(replace(delivery, redelivery=True), payload.body)

    def _hooks(self, repo: Repository) -> Iterator[tuple[Hook, int | None]]:
        """Give the webhooks that hear of a repository; an App's by its installation."""
        for hook in self._store.hooks.of(repo.id):
            yield hook, None
        for one in self._store.installations.all():
            if repo.id in one.repos and one.suspended_at is None:
                for hook in self._store.hooks.of(("app", one.app)):
                    yield hook, one.id

    def _keep(self, like: Delivery, body: str) -> None:
        """Keep a payload that is still to be delivered, in a delivery like this."""
        number = self._store.next_id()
        self._store.payloads.put(Payload(id=number, hook=like.hook, body=body))
        self._store.deliveries.put(
            Delivery(
                id=number,
                hook=like.hook,
                repo=like.repo,
                guid=like.guid,
                event=like.event,
                action=like.action,
                installation=like.installation,
                redelivery=like.redelivery,
                created_at=self._ground.forge.now(),
            )
        )
        for old in self._store.deliveries.of(like.hook)[:-KEPT]:
            self._store.deliveries.remove(old)
            payload = self._store.payloads.get(old.id)
            if payload is not None:
                self._store.payloads.remove(payload)
        self._waiting.put_nowait(number)

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


def _told(installation: int) -> dict[str, Any]:
    """Return what an App's webhook is told beside the payload."""
    named = {"id": installation, "node_id": node_id("Installation", installation)}
    return {"installation": named}


def _headers(hook: Hook, delivery: Delivery, body: bytes) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/brat",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration"
        if hook.app
        else "repository",
        "X-GitHub-Hook-Installation-Target-ID": str(hook.app or hook.repo),
    }
    if hook.secret:
        headers["X-Hub-Signature-256"] = signature(hook.secret, body)
    return headers
