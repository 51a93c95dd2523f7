"""The way to the feed of a bot elsewhere: the forge's word on this job, for a token.

The job asks the forge for a token that says which run it is, made for the bot alone;
the bot takes it once and gives the session's token for it.
https://docs.github.com/actions/reference/security/oidc
"""

import contextlib
import threading
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from runner.feed.lead import Lead
from runner.feed.place import Place
from runner.feed.wire import Missed, connected, told

PATH = "/feed/v1"


class Exchange:
    """A way that asks when it is gone for the first time; for any thread."""

    def __init__(self, by: Lead) -> None:
        self._lead = by
        self._lock = threading.Lock()
        self._place: Place | None = None

    def reached(self) -> Place:
        """Return the feed's place.

        Raises:
            Missed: the forge or the bot refuses.
            OSError: and other errors of http.client and json: one does not answer.
        """
        with self._lock:
            if self._place is None:
                self._place = self._exchanged()
            return self._place

    def lost(self) -> None:
        """Ask again the next time."""
        with self._lock:
            self._place = None

    def _exchanged(self) -> Place:
        by = self._lead
        parts = urlsplit(by.asks)
        query = f"{parts.query}&" if parts.query else ""
        path = f"{parts.path}?{query}audience={quote(by.bot, safe='')}"
        word = _asked("GET", by.asks, path, f"bearer {by.token}").get("value")
        url = f"{by.bot}{PATH}/{by.session}"
        bearer = f"Bearer {word}"
        given = _asked("POST", url, f"{urlsplit(url).path}/token", bearer).get("token")
        if not isinstance(given, str):
            raise Missed("the bot gave no token")
        return Place(url, given)


def _asked(method: str, url: str, path: str, bearer: str) -> Mapping[str, object]:
    with contextlib.closing(connected(url)) as line:
        return told(line, method, path, bearer)
