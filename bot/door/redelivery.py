"""Asks the forge to send lost deliveries again.

GitHub never repeats a delivery by itself, and keeps deliveries for three days.
https://docs.github.com/webhooks/using-webhooks/handling-failed-webhook-deliveries
https://docs.github.com/rest/apps/webhooks
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from pydantic import AwareDatetime

from bot.door.delivery_meaning import LOOK_AT, ROSTER
from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest

KEPT: Final = timedelta(days=3)
TRIES: Final = 3
"""After this many tries a delivery is given up: the cause is not the bot's absence."""
AT_ONCE: Final = 100
LISTED: Final = 2_000
"""The most deliveries examined."""
_PATH: Final = "/app/hook/deliveries"
_WANTED: Final = frozenset(LOOK_AT) | ROSTER


class Sent(Payload):
    id: int
    guid: str
    """The delivery's id, which all its tries share."""
    delivered_at: AwareDatetime
    status_code: int
    event: str

    @property
    def arrived(self) -> bool:
        return 200 <= self.status_code < 300  # noqa: PLR2004  HTTP's


async def ask_again(app: Rest, now: datetime) -> int:
    """Request every delivery again that never arrived; return how many those were.

    Safe to call twice: a repeated delivery changes nothing. `app` has the App's own
    token, and `now` is by the forge's clock.
    """
    listed: list[Sent] = []
    async for sent in app.each(Sent, f"{_PATH}?per_page=100"):
        if sent.delivered_at < now - KEPT or len(listed) >= LISTED:
            break
        listed.append(sent)
    asked = 0
    for sent in missed(listed)[:AT_ONCE]:
        try:
            await app.write("POST", f"{_PATH}/{sent.id}/attempts")
        except Refused:
            continue  # too old by now, or gone
        asked += 1
    return asked


def missed(listed: Iterable[Sent]) -> list[Sent]:
    """Return the newest try of each delivery that never arrived, oldest first.

    The tries are listed newest first.
    """
    tries: dict[str, list[Sent]] = {}
    for sent in listed:
        if sent.event in _WANTED:
            tries.setdefault(sent.guid, []).append(sent)
    lost = [
        each[0]
        for each in tries.values()
        if len(each) < TRIES and not any(sent.arrived for sent in each)
    ]
    return lost[::-1]
