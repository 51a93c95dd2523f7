"""The webhook door: check, keep, wake, answer. Nothing else happens in the request.

Deliveries may be lost, doubled or reordered: each only says which part of the world to
look at again. A stranger's request is always answered with 2xx or 4xx.
"""

import hmac
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from aiohttp import web
from pydantic import ValidationError

from bot import VERSION
from bot.door.delivery_meaning import LOOK_AT, ROSTER, meaning, read_delivery
from bot.door.inbox import Inbox, InboxWriter, Wake, is_delivery_id
from bot.door.listening import READ_S, BytesInFlight, receive_body, refusal_with
from bot.forge.payloads import Repository
from bot.settings.hosts import Origins

WEBHOOK_PATH: Final = "/webhooks/github"
BODY_BYTES: Final = 25_000_000
"""GitHub sends no larger payload: https://docs.github.com/webhooks."""
KNOWN_EVENTS: Final = frozenset(LOOK_AT) | ROSTER | {"ping", "unsigned"}

_log: Final = logging.getLogger(__name__)


Answered = Callable[[str, int], None]
"""Takes a delivery's event and the answer's status."""


@dataclass(frozen=True, kw_only=True)
class DeliveryPlace:
    label: str
    login: str
    inbox: Inbox
    wake: Wake


def _answer(status: int, message: str) -> web.Response:
    return web.json_response({"message": message}, status=status)


def signed(secrets: Sequence[str], body: bytes | bytearray, signature: str) -> bool:
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
    secrets: tuple[str, ...] = field(repr=False)
    """The current secret, and the previous one while it is being changed."""
    place: Callable[[Repository], DeliveryPlace | None]
    """Returns where a repository's deliveries go, by its id: another one may have taken
    its name; None: it is not served."""
    roster_changed: Callable[[], None] = lambda: None
    """Called when the App may have been installed or removed somewhere."""
    unready: Callable[[], str | None] = lambda: None
    """Returns why the bot cannot work now; None: it can."""
    troubles: Callable[[], Iterable[str]] = tuple
    origins: Origins = field(default_factory=Origins)
    answered: Answered = lambda _event, _status: None
    _writer: InboxWriter = field(default_factory=InboxWriter, repr=False)
    received: BytesInFlight = field(default_factory=BytesInFlight, repr=False)

    def __post_init__(self) -> None:
        if not self.secrets or not all(self.secrets):
            raise ValueError("there is no webhook secret: set it here and on the forge")

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post(WEBHOOK_PATH, self._deliver)
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/version", self._version)
        app.on_cleanup.append(lambda _: self._writer.close())
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _ready(self, _: web.Request) -> web.Response:
        if why := self.unready():
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, why)
        found = list(self.troubles())
        return web.json_response({"ok": True, **({"troubles": found} if found else {})})

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": VERSION})

    async def _deliver(self, request: web.Request) -> web.Response:
        event = "unsigned"
        try:
            forwarded = request.headers.getall("X-Forwarded-For", ())
            if not self.origins.allow(request.remote, forwarded):
                why = "deliveries from this address are not allowed"
                raise refusal_with(HTTPStatus.FORBIDDEN, why)
            body = await receive_body(request, BODY_BYTES, READ_S, self.received)
            given = request.headers.get("X-Hub-Signature-256", "")
            if not signed(self.secrets, body, given):
                why = "the signature (X-Hub-Signature-256) does not match the body"
                raise refusal_with(HTTPStatus.UNAUTHORIZED, why)
            if not (named := request.headers.get("X-GitHub-Event", "")):
                why = "the header X-GitHub-Event is missing"
                raise refusal_with(HTTPStatus.BAD_REQUEST, why)
            event = named
            answer = await self._take(request, event, body)
        except web.HTTPException as refused:
            self._count(event, refused.status)
            raise
        self._count(event, answer.status)
        return answer

    def _count(self, event: str, status: int) -> None:
        self.answered(event if event in KNOWN_EVENTS else "other", status)

    async def _take(
        self, request: web.Request, event: str, body: bytearray
    ) -> web.Response:
        if request.content_type != "application/json":
            why = "set the webhook's content type to application/json"
            raise refusal_with(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why)
        guid = request.headers.get("X-GitHub-Delivery", "")
        if not is_delivery_id(guid):
            why = "X-GitHub-Delivery is missing or is not a valid id"
            raise refusal_with(HTTPStatus.BAD_REQUEST, f"the header {why}")
        try:
            delivery = read_delivery(event, body)
        except ValidationError:
            why = "the body is not a GitHub delivery"
            raise refusal_with(HTTPStatus.BAD_REQUEST, why) from None
        # Who did what where; never the body or a secret header.
        _log.info(
            "delivery=%s event=%.40r action=%.40r repository=%.140r sender=%.80r",
            guid,
            event,
            delivery.action,
            delivery.repository and delivery.repository.full_name,
            delivery.sender and delivery.sender.login,
        )
        if event in ROSTER:
            self.roster_changed()
        served = delivery.repository
        place = self.place(served) if served is not None else None
        if place is None:
            return _answer(HTTPStatus.ACCEPTED, "this repository is not served")
        meant = meaning(event, delivery, place.label, place.login)
        if meant.kept is not None:
            try:
                await self._writer.keep(place.inbox, guid, meant.kept)
            except OSError as error:  # no room; the forge lists the delivery as failed
                _log.error("cannot store delivery %s: %s", guid, error)
                why = "the bot cannot store the delivery now: send it again later"
                raise refusal_with(HTTPStatus.SERVICE_UNAVAILABLE, why) from error
            place.wake.keep()
        if meant.part is not None:
            place.wake.up(meant.part)
        return _answer(HTTPStatus.ACCEPTED, "thank you")
