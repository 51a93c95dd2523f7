"""Tells a Slack-compatible webhook that something waits or has landed.

Each notification has a key in the log, so it is sent once; it is repeated only if the
bot dies between sending and noting it, for a webhook cannot be asked what it received.
A failed notification is retried a few times, later each time, and then given up.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/
"""

import logging
from http import HTTPStatus
from typing import Final

import httpx

from bot.context.bot_context import BotContext
from bot.context.item_failures import NotYet
from bot.context.process_memory import Delay
from bot.forge import transport
from bot.text.notices import notification_text
from convoy.model.state import Convoy
from convoy.model.work import Intent

TOLD, GIVEN_UP = 1, 0
TRIES: Final = 5
FIRST_S: Final = 2.0
"""The wait before the second try; each later wait is four times as long."""
DEADLINE_S: Final = 10.0
_AGAIN: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})

_log: Final = logging.getLogger(__name__)


async def send(context: BotContext, convoy: Convoy, intent: Intent) -> int:
    """Notify the webhook; return 1, or 0 without a webhook or when giving up.

    Raises:
        NotYet: the notification did not arrive; it is tried again later.
    """
    url = context.settings.notify_url
    if not url:
        return GIVEN_UP
    before = context.memory.delays.get(intent.key, Delay(0, 0))
    if context.clock() < before.next_at:
        raise NotYet(before.why)
    fault, lasting = await _post(
        url, notification_text(context.settings, convoy, intent)
    )
    if not fault:
        context.memory.delays.pop(intent.key, None)
        return TOLD
    tries = before.tries + 1
    if lasting or tries >= TRIES or context.settings.once:
        context.memory.delays.pop(intent.key, None)
        _log.warning("%s was given up: the webhook %s", intent.key, fault)
        return GIVEN_UP
    wait_s = FIRST_S * 4 ** (tries - 1)
    why = f"{intent.key}: the webhook {fault}; tried again later"
    next_at = context.clock() + round(wait_s * 1000)
    context.memory.delays[intent.key] = Delay(tries, next_at, why)
    raise NotYet(why)


async def _post(url: str, text: str) -> tuple[str, bool]:
    """Send the text once; return the fault, if any, and whether it is permanent.

    No redirect is followed, and the fault's text does not contain the address.
    """
    message = {"text": text, "unfurl_links": False}
    try:
        async with transport.async_client(DEADLINE_S) as client:
            answer = await client.post(url, json=message)
    except httpx.HTTPError as error:
        return f"did not answer ({type(error).__name__})", False
    status = answer.status_code
    if answer.is_success:
        return "", False
    again = status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return f"answered {status}", not again
