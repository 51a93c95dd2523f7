"""Asks the feed by HTTP, with deadlines, over a connection that is kept open.

It uses no HTTP library, since the runner sits in the agent's box and must start fast.
"""

import contextlib
import json
import math
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from grite import outbound
from grite.errors import BratError
from runner.inputs.feed_address import FeedRoute

DEADLINE_S = 5.0
"""For a connection, and for each answer on top of the time the feed is asked to
wait."""
ANSWER_BYTES = 262_144
WAIT_MOST_S = 60.0


class FeedError(Exception):
    """The feed did not get or did not take a request; the message says why."""

    def __init__(self, why: str, wait_s: float = 0.0, status: int = 0) -> None:
        super().__init__(why)
        self.wait_s = wait_s
        """How long the other side wants no requests."""
        self.status = status
        """The status of the answer; 0: there was no answer."""


class FeedClient:
    """A client for one thread."""

    def __init__(self, way: FeedRoute) -> None:
        self._way = way
        self._line: HTTPConnection | None = None

    def ask(
        self,
        method: str,
        what: str,
        body: bytes | None = None,
        *,
        patience_s: float = DEADLINE_S,
    ) -> Mapping[str, Any]:
        """Return the feed's answer.

        Raises:
            FeedError: the feed does not answer, or refuses.
        """
        try:
            return self._asked(method, what, body, patience_s)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            raise FeedError(str(error) or repr(error)) from error
        except FeedError:
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
            self._line = connect(place.url)
        if self._line.sock is not None:
            self._line.sock.settimeout(patience_s)
        path = f"{urlsplit(place.url).path}/{what}"
        try:
            return request(self._line, method, path, f"Bearer {place.token}", body)
        except FeedError as missed:
            if missed.status == HTTPStatus.UNAUTHORIZED:
                self._way.lost()
            raise


def connect(url: str) -> HTTPConnection:
    """Return a connection to the server of an address, by the machine's own way.

    Raises:
        OSError: nobody is there.
        FeedError: the machine's settings name no way that can be gone.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    line = HTTPConnection(host, parts.port, timeout=DEADLINE_S)
    if parts.scheme == "https":  # else it is on this machine: FEED_URL of the bot
        line = _secured(url, host, parts.port)
    line.connect()
    return line


def _secured(url: str, host: str, port: int | None) -> HTTPSConnection:
    way = outbound.here()
    try:
        context, proxy = way.authorities(), way.proxy(url)
    except BratError as error:
        raise FeedError(str(error)) from error
    if not proxy:
        return HTTPSConnection(host, port, timeout=DEADLINE_S, context=context)
    above = urlsplit(proxy)
    if above.scheme != "http":
        raise FeedError("the feed is reached by proxies of the kind http only")
    line = HTTPSConnection(
        above.hostname or "", above.port or 80, timeout=DEADLINE_S, context=context
    )
    word = outbound.proxy_word(proxy)
    line.set_tunnel(host, port, {"Proxy-Authorization": word} if word else {})
    return line


def request(
    line: HTTPConnection,
    method: str,
    path: str,
    authorization: str,
    body: bytes | None = None,
) -> Mapping[str, Any]:
    """Make one request and return the object in the answer.

    Raises:
        FeedError: the request is refused, or the answer is not an object.
        OSError: and other errors of http.client and json: there is no valid answer.
    """
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    line.request(method, path, body, headers)
    answer = line.getresponse()
    said = answer.read(ANSWER_BYTES + 1)
    if answer.status != HTTPStatus.OK or len(said) > ANSWER_BYTES:
        wait_s = bounded(answer.getheader("Retry-After"))
        raise FeedError(f"status {answer.status}", wait_s, answer.status)
    found = json.loads(said)
    if not isinstance(found, dict):
        raise FeedError("the answer is no object")
    return found


def bounded(value: object) -> float:
    """Return the seconds that somebody else asks us to wait, within bounds."""
    try:
        wait_s = float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError):
        return 0.0
    return min(max(wait_s, 0.0), WAIT_MOST_S) if math.isfinite(wait_s) else 0.0
