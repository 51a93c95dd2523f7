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

from runner.feed.place import Way

DEADLINE_S = 5.0
"""For a connection, and for each answer beyond what it was asked to wait for."""
ANSWER_BYTES = 262_144
WAIT_MOST_S = 60.0


class Missed(Exception):
    """It did not arrive, or was not taken; the message says why."""

    def __init__(self, why: str, wait_s: float = 0.0, status: int = 0) -> None:
        super().__init__(why)
        self.wait_s = wait_s
        """How long the other side wants to be left alone."""
        self.status = status
        """Of the answer; 0: there was none."""


class Wire:
    """For one thread."""

    def __init__(self, way: Way) -> None:
        self._way = way
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
        place = self._way.reached()
        if self._line is None:
            self._line = connected(place.url)
        if self._line.sock is not None:
            self._line.sock.settimeout(patience_s)
        path = f"{urlsplit(place.url).path}/{what}"
        try:
            return told(self._line, method, path, f"Bearer {place.token}", body)
        except Missed as missed:
            if missed.status == http.HTTPStatus.UNAUTHORIZED:
                self._way.lost()
            raise


def connected(url: str) -> http.client.HTTPConnection:
    """Return a connection to the server of an address.

    Raises:
        OSError: nobody is there.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    line = kind(parts.hostname or "", parts.port, timeout=DEADLINE_S)
    line.connect()
    return line


def told(
    line: http.client.HTTPConnection,
    method: str,
    path: str,
    authorization: str,
    body: bytes | None = None,
) -> Mapping[str, Any]:
    """Return the object that is answered to one request.

    Raises:
        Missed: it is refused, or the answer is no object.
        OSError: and other errors of http.client and json: no answer that makes sense.
    """
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    line.request(method, path, body, headers)
    answer = line.getresponse()
    said = answer.read(ANSWER_BYTES + 1)
    if answer.status != http.HTTPStatus.OK or len(said) > ANSWER_BYTES:
        wait_s = bounded(answer.getheader("Retry-After"))
        raise Missed(f"status {answer.status}", wait_s, answer.status)
    found = json.loads(said)
    if not isinstance(found, dict):
        raise Missed("the answer is no object")
    return found


def bounded(value: object) -> float:
    """Return a time to wait that somebody else named, as far as it makes sense."""
    try:
        wait_s = float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError):
        return 0.0
    return min(max(wait_s, 0.0), WAIT_MOST_S) if math.isfinite(wait_s) else 0.0
