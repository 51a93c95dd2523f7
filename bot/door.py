"""The webhook door: check, freeze, wake, answer. Nothing else happens in the request.

Any delivery may be lost, doubled or reordered: it only says which part of the world to
look at again.
"""

import hashlib
import hmac
from typing import Final

from aiohttp import web
from pydantic import ValidationError

from bot.inbox import Inbox, Kept, Remark, Request
from bot.payloads import Delivery
from bot.wake import Wake

PATH: Final = "/webhooks/github"
BODY_BYTES: Final = 25_000_000
"""GitHub sends no larger payload: https://docs.github.com/webhooks."""

_LOOK_AT: Final = {
    "issues": "issues",
    "issue_comment": "issues",
    "workflow_run": "runs",
    "check_run": "checks",
    "check_suite": "checks",
    "push": "refs",
}
_KEPT: Final = frozenset({"issues", "issue_comment"})


def signed(secret: str, body: bytes, signature: str) -> bool:
    """Whether `signature` (X-Hub-Signature-256) is that of `body`, in constant time."""
    mac = hmac.new(secret.encode(), body, hashlib.sha256)
    given = signature.encode(errors="replace")  # as text it would have to be ASCII
    return hmac.compare_digest(f"sha256={mac.hexdigest()}".encode(), given)


class Door:
    """The routes of the bot."""

    def __init__(
        self, *, secret: str, repository: str, label: str, inbox: Inbox, wake: Wake
    ) -> None:
        if not secret:
            raise ValueError("the webhook secret is empty: set one, on both sides")
        self._secret = secret
        self._repository = repository.casefold()  # as GitHub tells names apart
        self._label = label
        self._inbox = inbox
        self._wake = wake

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_post(PATH, self._deliver)
        app.router.add_get("/healthz", self._health)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _deliver(self, request: web.Request) -> web.Response:
        try:
            body = await request.read()
        except web.RequestPayloadError:
            return _answer(400, "the body cannot be read")
        signature = request.headers.get("X-Hub-Signature-256", "")
        if not signed(self._secret, body, signature):
            return _answer(401, "the signature does not fit the body")
        try:
            delivery = Delivery.model_validate_json(body)
        except ValidationError:
            return _answer(400, "the body is not a GitHub delivery")
        repository = delivery.repository
        if repository is None or repository.full_name.casefold() != self._repository:
            return _answer(202, "not a repository of this bot")
        event = request.headers.get("X-GitHub-Event", "")
        if event in _KEPT:
            guid = request.headers.get("X-GitHub-Delivery", "")
            try:
                self._freeze(guid, delivery)
            except ValueError as error:
                return _answer(400, str(error))
        if part := _LOOK_AT.get(event):
            self._wake.up(part)
        return _answer(202, "thank you")

    def _freeze(self, guid: str, delivery: Delivery) -> None:
        """Keep what asks for something; an edit of a comment never does."""
        kept: Kept | None
        match delivery.action:
            case "labeled":
                kept = self._labelled(delivery)
            case "created":
                kept = _commented(delivery)
            case _:
                kept = None
        if kept is not None:
            self._inbox.put(guid, kept)

    def _labelled(self, delivery: Delivery) -> Request | None:
        issue, label, sender = delivery.issue, delivery.label, delivery.sender
        if issue is None or label is None or sender is None:
            return None
        if label.name != self._label or issue.pull_request is not None:
            return None
        text = issue.body or ""
        return Request(
            issue=issue.number, title=issue.title, text=text, by=sender.login
        )


def _commented(delivery: Delivery) -> Remark | None:
    """Return a comment that may hold commands; what a bot says is never one."""
    issue, comment, sender = delivery.issue, delivery.comment, delivery.sender
    if issue is None or comment is None or sender is None or sender.type == "Bot":
        return None
    text = comment.body or ""
    if "/brat" not in text.casefold():
        return None
    return Remark(
        issue=issue.number,
        comment=comment.id,
        text=text,
        by=sender.login,
        on_pull=issue.pull_request is not None,
    )


def _answer(status: int, message: str) -> web.Response:
    return web.json_response({"message": message}, status=status)
