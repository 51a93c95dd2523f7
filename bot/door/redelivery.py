"""Deliveries that the forge could not hand over: it is asked to send them again.

GitHub never does so by itself, and keeps them for three days.
https://docs.github.com/webhooks/using-webhooks/handling-failed-webhook-deliveries
https://docs.github.com/rest/apps/webhooks
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.door.triage import LOOK_AT, ROSTER
from bot.forge.rest import Refused, Rest

KEPT: Final = timedelta(days=3)
TRIES: Final = 3
"""What failed so often fails for another reason than a bot that was away."""
AT_ONCE: Final = 100
LISTED: Final = 2_000
"""Deliveries that are looked through at most."""
_PATH: Final = "/app/hook/deliveries"
_WANTED: Final = frozenset(LOOK_AT) | ROSTER


class Sent(BaseModel):
    """One try to deliver something."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: int
    guid: str
    """The same for each try."""
    delivered_at: AwareDatetime
    status_code: int
    event: str

    @property
    def arrived(self) -> bool:
        """Whether the bot took it."""
        return 200 <= self.status_code < 300  # noqa: PLR2004  HTTP's


async def ask_again(app: Rest, now: datetime) -> int:
    """Ask for everything again that was never taken; return how much that was.

    Safe to call twice: what comes twice changes nothing.

    Args:
        app: shows the App's own token.
        now: by the forge's clock.

    Raises:
        Unavailable: the forge did not answer.
        Refused: it does not know the App.
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

    Args:
        listed: newest first.
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
