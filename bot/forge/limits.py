"""How long a forge wants to be left alone: the ladder over its 403 and 429 answers.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from http import HTTPStatus
from typing import Final

from bot.forge.clock import ForgeClock, seconds_of
from bot.forge.wire import Reply

SECONDARY_S: Final = 60.0
"""The least to wait when the forge does not say how long."""
SECONDARY_MOST_S: Final = 900.0
HOLD_MOST_S: Final = 3900.0
"""The primary limit's window is an hour; whoever asks for more is asked again then."""
LEAST_S: Final = 1.0
"""The forge names whole seconds."""
SPREAD_S: Final = 5.0
"""Many bots wait for the same moment: each comes up to this much later."""
SPREAD: Final = 0.25
"""The same where the bots choose the moment, as a share of the wait."""
_LIMITING: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_SAYS_SO: Final = (b"rate limit", b"abuse detection")


def wait_s(
    reply: Reply, clock: ForgeClock, *, streak: int, chance: float
) -> float | None:
    """Return how many seconds to wait before asking again.

    Args:
        reply: what the forge answered.
        clock: the forge's; it has learned from this answer already.
        streak: how many such answers came before, one after another.
        chance: from 0 to 1, spreads the waits of many bots.

    Returns:
        None when the answer is no limit: a 403 about permissions is an answer.
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
    """Return the wait that the headers name, if they do."""
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
