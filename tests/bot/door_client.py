"""A webhook door on loopback, and somebody who knocks as GitHub does."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bot.door.inbox import Inbox, StartRequest, Wake
from bot.door.listening import listening
from bot.door.webhooks import WEBHOOK_PATH, DeliveryPlace, Door
from tests.world.given_secrets import given
from tests.world.patience import patient

SECRET = given("made-up-webhook-secret")
PREVIOUS = given("the-secret-before-that-one")
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
ASKED = StartRequest(issue=7, title="Fix it", text="All of it.", by="ann")


def labelled(**given: object) -> dict[str, Any]:
    return {
        "action": "labeled",
        "issue": {
            "number": 7,
            "title": "Fix it",
            "body": "All of it.",
            "state": "open",
        },
        "label": {"name": "brat"},
        "sender": {"login": "ann"},
        "repository": {"full_name": "octo/project"},
        **given,
    }


def signature(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers_of(
    body: bytes, event: str = "issues", secret: str = SECRET, delivery: str = GUID
) -> dict[str, str]:
    return {
        "X-Hub-Signature-256": signature(body, secret),
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
        "Content-Type": "application/json",
    }


@dataclass(frozen=True)
class DoorClient:
    client: httpx.AsyncClient
    inbox: Inbox
    wake: Wake
    door: Door
    answered: list[tuple[str, int]]
    """The event and the status of each delivery."""
    roster: list[str]
    """Grows when the door hears that the App's installations changed."""
    trouble: list[str]
    """Why the bot is not ready."""

    async def send(self, body: bytes, **headers: str | bytes | None) -> httpx.Response:
        """Deliver a body, signed and named unless said otherwise."""
        told = {name.replace("_", "-"): word for name, word in headers.items()}
        sent = {
            name.encode(): word if isinstance(word, bytes) else word.encode()
            for name, word in (headers_of(body) | told).items()
            if word is not None
        }
        return await self.client.post(WEBHOOK_PATH, content=body, headers=sent)

    async def deliver(
        self, delivery: Mapping[str, object], **headers: str
    ) -> httpx.Response:
        return await self.send(json.dumps(delivery).encode(), **headers)


@asynccontextmanager
async def built(folder: Path) -> AsyncIterator[DoorClient]:
    inbox, wake = Inbox(folder / "inbox"), Wake()
    wake.take()
    roster, trouble = list[str](), list[str]()
    place = DeliveryPlace(label="brat", login="brat[bot]", inbox=inbox, wake=wake)
    answered = list[tuple[str, int]]()
    door = Door(
        secrets=(SECRET, PREVIOUS),
        place=lambda told: {"octo/project": place}.get(told.full_name.casefold()),
        roster_changed=lambda: roster.append("changed"),
        unready=lambda: "".join(trouble) or None,
        answered=lambda *told: answered.append(told),
    )
    async with listening(door.application(), "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=patient(20)
        ) as client:
            yield DoorClient(client, inbox, wake, door, answered, roster, trouble)
