"""Telling a Slack-compatible webhook that something waits, or has landed.

It was announced in the log under a key, so it is told once: again only if the bot dies
between telling it and noting that, for a webhook cannot be asked what it was told.
What does not arrive is tried again a few times, later each time, and then given up.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/
"""

import logging
from http import HTTPStatus
from typing import Final

import httpx

from bot.desk import Delay, Desk
from convoy.state import Convoy, Intent
from convoy.text.plaintext import clean, shortened
from convoy.text.redaction import redacted
from grite.errors import Unavailable

TOLD, GIVEN_UP = 1, 0
TRIES: Final = 5
FIRST_S: Final = 2.0
"""Until the second try; each later wait is four times as long."""
DEADLINE_S: Final = 10.0
CHARS: Final = 3000
_AGAIN: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_LITERAL: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_log: Final = logging.getLogger(__name__)


async def send(desk: Desk, convoy: Convoy, intent: Intent) -> int:
    """Tell the webhook; return 1, or 0 when there is none or it was given up.

    Raises:
        Unavailable: it did not take it; there is another try, later.
    """
    url = desk.settings.notify_url
    if not url:
        return GIVEN_UP
    before = desk.delays.get(intent.key, Delay(0, 0))
    if desk.clock() < before.next_at:
        raise Unavailable(before.why)
    fault, lasting = await _post(url, _text(desk, convoy, intent))
    if not fault:
        desk.delays.pop(intent.key, None)
        return TOLD
    tries = before.tries + 1
    if lasting or tries >= TRIES or desk.settings.once:
        desk.delays.pop(intent.key, None)
        _log.warning("%s was given up: the webhook %s", intent.key, fault)
        return GIVEN_UP
    wait_s = FIRST_S * 4 ** (tries - 1)
    why = f"{intent.key}: the webhook {fault}; tried again later"
    next_at = desk.clock() + round(wait_s * 1000)
    desk.delays[intent.key] = Delay(tries, next_at, why)
    raise Unavailable(why)


async def _post(url: str, text: str) -> tuple[str, bool]:
    """Send it once; return what went wrong, if anything, and whether for good.

    No redirect is followed, and what is said of a fault does not hold the address.
    """
    message = {"text": text, "unfurl_links": False}
    try:
        async with httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False) as client:
            answer = await client.post(url, json=message)
    except httpx.HTTPError as error:
        return f"did not answer ({type(error).__name__})", False
    status = answer.status_code
    if answer.is_success:
        return "", False
    again = status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return f"answered {status}", not again


def _text(desk: Desk, convoy: Convoy, intent: Intent) -> str:
    """Return what is said: everybody's text stays text, and calls nobody.

    https://docs.slack.dev/messaging/formatting-message-text/#escaping
    """
    settings = desk.settings
    where = f"{settings.repository}#{convoy.issue}"
    page = f"{settings.git_url}/{settings.repository}/issues/{convoy.issue}"
    head = where if settings.sole else f"<{page}|{where}>"
    merged = sum(task.state == "merged" for task in convoy.tasks)
    told = intent.text or (
        f"landed: {merged} of {len(convoy.tasks)} tasks merged, "
        f"as {(convoy.landed or '')[:10]}"
    )
    begins = "waits for a person:\n" if intent.text else "has "
    said = shortened(redacted(clean(f"{convoy.name} {begins}{told}")), CHARS)
    return f"{head} {said.translate(_LITERAL)}"
