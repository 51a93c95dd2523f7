"""Decides how long to wait after a 403 or 429 answer.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from http import HTTPStatus
from typing import Final

from bot.forge.forge_clock import ForgeClock, seconds_of
from bot.forge.http_client import Reply

SECONDARY_S: Final = 60.0
"""The least to wait when the forge does not say how long."""
SECONDARY_MOST_S: Final = 900.0
HOLD_MOST_S: Final = 3900.0
"""The longest wait, just over the primary limit's window of an hour."""
LEAST_S: Final = 1.0
"""The forge names whole seconds."""
SPREAD_S: Final = 5.0
"""Many bots wait for the same moment: each waits up to this much longer."""
SPREAD: Final = 0.25
"""The same for waits without a moment named by the forge, as a share of the wait."""
_LIMITING: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_SAYS_SO: Final = (b"rate limit", b"abuse detection")


def wait_s(
    reply: Reply, clock: ForgeClock, *, streak: int, chance: float
) -> float | None:
    """Return how many seconds to wait before asking again.

    Args:
        reply: the forge's answer.
        clock: the forge's clock; it has learned from this answer already.
        streak: how many limits came before, in a row.
        chance: from 0 to 1; spreads the waits of many bots.

    Returns:
        None if the answer is no limit, such as a 403 about permissions.
    """
    if reply.status not in _LIMITING:
        return None
    named = _named(reply, clock)
    if named is not None:
        return min(max(named, LEAST_S) + SPREAD_S * chance, HOLD_MOST_S)
    if not _is_secondary(reply):
        return None
    waits = min(SECONDARY_S * 2.0**streak, SECONDARY_MOST_S)
    return waits * (1 + SPREAD * chance)


def _named(reply: Reply, clock: ForgeClock) -> float | None:
    """Return the wait named in the headers; None: they name none."""
    after = reply.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    moment = seconds_of(after)
    if moment is None and reply.headers.get("x-ratelimit-remaining") == "0":
        reset = reply.headers.get("x-ratelimit-reset", "")
        moment = float(reset) if reset.isdecimal() else None
    return None if moment is None else moment - clock.now()


def _is_secondary(reply: Reply) -> bool:
    said = reply.body[:2000].lower()
    return (
        reply.status == HTTPStatus.TOO_MANY_REQUESTS
        or "retry-after" in reply.headers
        or reply.headers.get("x-ratelimit-remaining") == "0"
        or any(words in said for words in _SAYS_SO)
    )
