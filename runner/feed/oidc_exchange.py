"""Gets the token for the feed of a bot on another machine.

The job asks the forge for a token that says which run this is and that only the bot
accepts. The bot takes it once and returns the session's token.
https://docs.github.com/actions/reference/security/oidc
"""

import contextlib
import threading
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from runner.feed.feed_client import FeedError, connect, request
from runner.feed.token_exposure import why_exposed
from runner.inputs.feed_address import FeedAddress, FeedRoute
from runner.inputs.oidc_address import OidcAddress

PATH = "/feed/v1"


class OidcExchange:
    """A route that gets its token when it is first used; for any thread."""

    def __init__(self, by: OidcAddress) -> None:
        self._lead = by
        self._lock = threading.Lock()
        self._place: FeedAddress | None = None

    def reached(self) -> FeedAddress:
        """Return the feed's address.

        Raises:
            FeedError: the forge or the bot refuses.
            OSError: and other errors of http.client and json: either does not answer.
        """
        with self._lock:
            if self._place is None:
                self._place = self._exchanged()
            return self._place

    def lost(self) -> None:
        """Ask for a new token the next time."""
        with self._lock:
            self._place = None

    def _exchanged(self) -> FeedAddress:
        by = self._lead
        parts = urlsplit(by.asks)
        query = f"{parts.query}&" if parts.query else ""
        path = f"{parts.path}?{query}audience={quote(by.bot, safe='')}"
        word = _asked("GET", by.asks, path, f"bearer {by.token}").get("value")
        url = f"{by.bot}{PATH}/{by.session}"
        bearer = f"Bearer {word}"
        given = _asked("POST", url, f"{urlsplit(url).path}/token", bearer).get("token")
        if not isinstance(given, str):
            raise FeedError("the bot gave no token")
        return FeedAddress(url, given)


def _asked(method: str, url: str, path: str, bearer: str) -> Mapping[str, object]:
    with contextlib.closing(connect(url)) as line:
        return request(line, method, path, bearer)


def route_of(
    given: FeedAddress | OidcAddress, path: str
) -> tuple[FeedRoute | None, str]:
    """Return the route to the feed, or None and a sentence that says why there is none.

    Args:
        given: what the job was told of the feed.
        path: where programs are looked for.
    """
    if isinstance(given, FeedAddress):
        return given, ""
    why = why_exposed(given.token, path)
    return (None, why) if why else (OidcExchange(given), "")
