"""One line to the feed: HTTP with deadlines, a connection that is kept while it holds.

No library for it: the runner sits with the agent in its box, and starts in no time.
"""

import contextlib
import http.client
import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from runner.feed.place import Place

DEADLINE_S = 5.0
"""For a connection, and for each answer beyond what it was asked to wait for."""
ANSWER_BYTES = 262_144
WAIT_MOST_S = 60.0


class Missed(Exception):
    """It did not arrive, or was not taken; the message says why."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.wait_s = wait_s
        """How long the other side wants to be left alone."""


class Wire:
    """For one thread."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._line: http.client.HTTPConnection | None = None

    def ask(
        self,
        method: str,
        what: str,
        body: bytes | None = None,
        *,
        patience_s: float = DEADLINE_S,
    ) -> Mapping[str, Any]:
        """Return what the feed answers.

        Raises:
            Missed: it does not, or refuses.
        """
        try:
            return self._asked(method, what, body, patience_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Missed(str(error) or repr(error)) from error
        except Missed:
            self.close()
            raise

    def close(self) -> None:
        """Hang up; safe to call twice."""
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.close()
            self._line = None

    def _asked(
        self, method: str, what: str, body: bytes | None, patience_s: float
    ) -> Mapping[str, Any]:
        line = self._connected()
        if line.sock is not None:
            line.sock.settimeout(patience_s)
        path = urlsplit(self._place.url).path
        headers = {
            "Authorization": f"Bearer {self._place.token}",
            "Content-Type": "application/json",
        }
        line.request(method, f"{path}/{what}", body, headers)
        answer = line.getresponse()
        said = answer.read(ANSWER_BYTES + 1)
        if answer.status != http.HTTPStatus.OK or len(said) > ANSWER_BYTES:
            raise Missed(
                f"status {answer.status}", bounded(answer.getheader("Retry-After"))
            )
        told = json.loads(said)
        if not isinstance(told, dict):
            raise Missed("the answer is no object")
        return told

    def _connected(self) -> http.client.HTTPConnection:
        if self._line is None:
            parts = urlsplit(self._place.url)
            secure = parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            line = kind(parts.hostname or "", parts.port, timeout=DEADLINE_S)
            line.connect()
            self._line = line
        return self._line


def bounded(value: object) -> float:
    """Return a time to wait that somebody else named, as far as it makes sense."""
    try:
        wait_s = float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError):
        return 0.0
    return min(max(wait_s, 0.0), WAIT_MOST_S) if math.isfinite(wait_s) else 0.0
