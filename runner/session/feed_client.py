"""The session's way to the live feed: by HTTP, with deadlines, over a kept connection.

Nothing here may harm a session. It uses no HTTP library, since the runner sits in the
agent's box and must start fast.

For a bot on another machine the job asks the forge for a token that says which run this
is and that only the bot accepts. The bot takes it once and returns the session's token.
https://docs.github.com/actions/reference/security/oidc

With the job's identity token an agent could identify itself as this job to anybody who
trusts the forge: a cloud, a registry. So a process of ours tries here what an agent
could do; only the witness itself is closed to others (`runner.box.processes`). Where an
agent could take the token, the witness does not use the feed.
"""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from grite import outbound
from grite.errors import BratError
from runner.inputs.job_inputs import FeedAddress, FeedRoute, OidcAddress

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
        """Return the feed's answer."""
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
    """Return a connection to the server of an address, by the machine's own way."""
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
    """Make one request and return the object in the answer."""
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


TRY_S: Final = 10.0
_RUNNER: Final = b"Runner."
"""The beginning of the names of the forge's processes, which hold all tokens of a
job."""
_LOOK: Final = "import sys; open(sys.argv[1], 'rb').read(1)"


def why_exposed(token: str, path: str) -> str:
    """Return why an agent here could take the token, or "" if it could not.

    Call it after this process has been hardened.
    """
    if sys.platform != "linux":
        return "this system does not keep processes of one user apart"
    if os.geteuid() == 0:
        return "the job runs as root, and so does its agent"
    # /proc checks the permission on reading, not on opening.
    own = f"/proc/{os.getpid()}/environ"
    if _succeeds([sys.executable, "-I", "-S", "-c", _LOOK, own]):
        return "a process of the job's user can read every other one"
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        if _content(process / "comm").strip().startswith(_RUNNER):
            return "the job runs beside the forge's runner; give it a container"
        if token.encode() in _content(process / "environ"):
            return f"the process {process.name} shows the job's token to its user"
    sudo = shutil.which("sudo", path=path)
    if sudo is not None and _succeeds([sudo, "-n", "true"]):
        return "the job's user becomes root with sudo, and so does its agent"
    return ""


def _succeeds(argv: list[str]) -> bool:
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=TRY_S,
        check=False,
    )
    return done.returncode == 0


def _content(file: Path) -> bytes:
    with contextlib.suppress(OSError):
        return file.read_bytes()
    return b""


PATH = "/feed/v1"


class OidcExchange:
    """A route that gets its token when it is first used; for any thread."""

    def __init__(self, by: OidcAddress) -> None:
        self._lead = by
        self._lock = threading.Lock()
        self._place: FeedAddress | None = None

    def reached(self) -> FeedAddress:
        """Return the feed's address."""
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
    """Return the route to the feed, or None and a sentence on why there is none."""
    if isinstance(given, FeedAddress):
        return given, ""
    why = why_exposed(given.token, path)
    return (None, why) if why else (OidcExchange(given), "")
