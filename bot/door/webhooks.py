"""The webhook door: check, keep, wake, answer. Nothing else happens in the request.

Deliveries may be lost, doubled or reordered: each only says which part of the world to
look at again. A stranger's request is always answered with 2xx or 4xx.
"""

import asyncio
import hmac
import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import Final

from aiohttp import web
from pydantic import ValidationError

from bot.door.delivery_inbox import Inbox, Kept
from bot.door.delivery_meaning import LOOK_AT, ROSTER, meaning, read
from bot.door.inbox_writer import Writer
from bot.door.metrics import Metrics
from bot.door.wake import Wake
from bot.forge.payloads import Envelope
from bot.settings.origins import Origins

PATH: Final = "/webhooks/github"
BODY_BYTES: Final = 25_000_000
"""GitHub sends no larger payload: https://docs.github.com/webhooks."""
SMALL_BYTES: Final = 1_000_000
LARGE_AT_ONCE: Final = 4
"""How many bodies over SMALL_BYTES, or of unknown size, are read at once."""
READ_S: Final = 10.0
"""GitHub gives up after this time; a slower sender only occupies a slot.
https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks"""
KNOWN: Final = frozenset(LOOK_AT) | ROSTER | {"ping", "unsigned"}

_JSON: Final = {"Content-Type": "application/json"}
_NAME: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Place:
    """The destination of deliveries about one repository."""

    label: str
    """The label that asks for a convoy."""
    login: str
    """The bot's account there."""
    inbox: Inbox
    wake: Wake


class Turned(Exception):
    """The request is turned away; the answer says why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def signed(secrets: Sequence[str], body: bytes, signature: str) -> bool:
    """Whether `signature` (X-Hub-Signature-256) is that of `body` by one of `secrets`.

    The time taken does not depend on which secret fits or how much of it is right.
    https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    """
    given = signature.encode(errors="replace")  # as text it would have to be ASCII
    macs = [hmac.digest(secret.encode(), body, "sha256") for secret in secrets]
    fits = [hmac.compare_digest(b"sha256=" + mac.hex().encode(), given) for mac in macs]
    return any(fits)


@dataclass(frozen=True, kw_only=True)
class Door:
    """The routes of the bot."""

    secrets: tuple[str, ...] = field(repr=False)
    """The current secret, and the previous one while it is being changed."""
    place_of: Callable[[str], Place | None]
    """Finds a repository by its lower-case name; None: the bot does not serve it."""
    roster_changed: Callable[[], None] = lambda: None
    """Called when the App may have been installed or removed somewhere."""
    unready: Callable[[], str | None] = lambda: None
    """Returns why the bot cannot work now; None: it can."""
    troubles: Callable[[], Iterable[str]] = tuple
    """Returns what goes wrong while the bot works."""
    version: str = ""
    origins: Origins = field(default_factory=Origins)
    """The networks from which deliveries may come."""
    metrics: Metrics = field(default_factory=Metrics)
    _writer: Writer = field(default_factory=Writer, repr=False)
    _large: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(LARGE_AT_ONCE), repr=False
    )

    def __post_init__(self) -> None:
        if not self.secrets or not all(self.secrets):
            raise ValueError("the webhook secret is empty: set one, on both sides")

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_post(PATH, self._deliver)
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/version", self._version)
        app.on_cleanup.append(self._close)
        return app

    async def _close(self, _: web.Application) -> None:
        await self._writer.close()

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _ready(self, _: web.Request) -> web.Response:
        why = self.unready()
        if why is None:
            troubles = list(self.troubles())
            more = {"troubles": troubles} if troubles else {}
            return web.json_response({"ok": True, **more})
        return _answer(HTTPStatus.SERVICE_UNAVAILABLE, why)

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": self.version})

    async def _deliver(self, request: web.Request) -> web.Response:
        began, event = monotonic(), "unsigned"
        try:
            self._admit(request)
            body = await self._body(request)
            event = _event(request)
            answer = await self._take(request, body)
        except Turned as turned:
            answer = _answer(turned.status, turned.why)
        shown = event if event in KNOWN else "other"
        self.metrics.deliveries.labels(shown, answer.status).inc()
        self.metrics.answer_s.observe(monotonic() - began)
        return answer

    def _admit(self, request: web.Request) -> None:
        """Check a request's address and encoding before its body is read.

        Raises:
            Turned: the address is not allowed, or the body is encoded: the forge never
                encodes one, and a small encoded body can become a very large one.
        """
        forwarded = request.headers.getall("X-Forwarded-For", ())
        if not self.origins.allow(request.remote, forwarded):
            why = "deliveries may not come from this address"
            raise Turned(HTTPStatus.FORBIDDEN, why)
        encodings = request.headers.getall("Content-Encoding", ())
        if any(each.strip().casefold() != "identity" for each in encodings):
            why = "send the body without a Content-Encoding"
            raise Turned(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)

    def _room(self, request: web.Request) -> AbstractAsyncContextManager[None]:
        """Return the slot a large body waits for, so that none can fill the memory."""
        size = request.content_length
        return (
            nullcontext() if size is not None and size <= SMALL_BYTES else self._large
        )

    async def _body(self, request: web.Request) -> bytes:
        """Return the body of a delivery signed with one of our secrets.

        Raises:
            Turned: the body is not so signed, or cannot be read.
        """
        try:
            if request.content.is_eof():  # it usually came with the headers
                body = await request.read()
            else:
                async with asyncio.timeout(READ_S), self._room(request):
                    body = await request.read()
        except TimeoutError:
            why = f"the body did not come within {READ_S:g} s"
            raise Turned(HTTPStatus.REQUEST_TIMEOUT, why) from None
        except web.HTTPRequestEntityTooLarge:
            why = f"the body is larger than {BODY_BYTES} bytes"
            raise Turned(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why) from None
        except web.RequestPayloadError:
            why = "the body cannot be read"
            raise Turned(HTTPStatus.BAD_REQUEST, why) from None
        given = request.headers.get("X-Hub-Signature-256", "")
        if not signed(self.secrets, body, given):
            why = "the signature (X-Hub-Signature-256) does not fit the body"
            raise Turned(HTTPStatus.UNAUTHORIZED, why)
        return body

    async def _take(self, request: web.Request, body: bytes) -> web.Response:
        """Keep the delivery's request, and wake the repository's loop.

        Raises:
            Turned: the body is no delivery.
        """
        if request.content_type != "application/json":
            why = "set the webhook's content type to application/json"
            raise Turned(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)
        guid, event = _guid(request), _event(request)
        try:
            delivery = read(event, body)
        except ValidationError:
            why = "the body is not a GitHub delivery"
            raise Turned(HTTPStatus.BAD_REQUEST, why) from None
        _say(guid, event, delivery)
        if event in ROSTER:
            self.roster_changed()
        repository = delivery.repository
        name = repository.full_name.casefold() if repository is not None else ""
        place = self.place_of(name)
        if place is None:
            return _answer(HTTPStatus.ACCEPTED, "not about a repository of this bot")
        meant = meaning(event, delivery, place.label, place.login)
        if meant.kept is not None:
            await self._keep(place.inbox, guid, meant.kept)
            place.wake.keep()
        if meant.part is not None:
            place.wake.up(meant.part)
        return _answer(HTTPStatus.ACCEPTED, "thank you")

    async def _keep(self, inbox: Inbox, guid: str, kept: Kept) -> None:
        """Write a request to the disk without blocking other requests."""
        try:
            await self._writer.keep(inbox, guid, kept)
        except OSError as error:  # no room; the forge lists the delivery as failed
            _log.error("delivery %s cannot be kept: %s", guid, error)
            why = "it cannot be kept now: send it again later"
            raise Turned(HTTPStatus.SERVICE_UNAVAILABLE, why) from error


def _event(request: web.Request) -> str:
    event = request.headers.get("X-GitHub-Event", "")
    if not event:
        raise Turned(HTTPStatus.BAD_REQUEST, "the header X-GitHub-Event is missing")
    return event


def _guid(request: web.Request) -> str:
    guid = request.headers.get("X-GitHub-Delivery", "")
    if not _NAME.fullmatch(guid):
        why = "the header X-GitHub-Delivery is missing or not an id that GitHub makes"
        raise Turned(HTTPStatus.BAD_REQUEST, why)
    return guid


def _say(guid: str, event: str, delivery: Envelope) -> None:
    """Log who did what where; never the body or a secret header."""
    _log.info(
        "delivery=%s event=%.40r action=%.40r repository=%.140r sender=%.80r",
        guid,
        event,
        delivery.action,
        delivery.repository and delivery.repository.full_name,
        delivery.sender and delivery.sender.login,
    )


def _answer(status: int, message: str) -> web.Response:
    return web.Response(
        body=json.dumps({"message": message}).encode(),
        status=int(status),
        headers=_JSON,
    )
