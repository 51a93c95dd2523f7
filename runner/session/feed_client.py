"""The session's way to the live feed: by HTTP, with deadlines, over a kept connection.

Nothing here may harm a session: whatever goes wrong is tried again later or dropped,
and nobody waits longer than the few seconds named here. It uses no HTTP library, since
the runner must start fast.

For a bot on another machine the job asks the forge for a token that says which run this
is and that only the bot accepts. The bot takes it once and returns the session's token.
https://docs.github.com/actions/reference/security/oidc

With the job's identity token an agent could identify itself as this job to anybody who
trusts the forge: a cloud, a registry. So a process of ours tries here what an agent
could do. Where an agent could take the token, the witness does not use the feed.
"""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import accumulate, islice, takewhile
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from grite import outbound
from grite.errors import BratError
from runner.inputs.job_inputs import FeedAddress, Message

DEADLINE_S = 5.0
"""For a connection, and for an answer on top of the time the feed may wait."""
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


def connect(url: str) -> HTTPConnection:
    """Return a connection to the server of an address, by the machine's own way."""
    parts, way = urlsplit(url), outbound.here()
    host, port, limit = parts.hostname or "", parts.port, DEADLINE_S
    line = HTTPConnection(host, port, timeout=limit)
    if parts.scheme == "https":  # else it is on this machine: FEED_URL of the bot
        try:
            context, proxy = way.authorities(), way.proxy(url)
        except BratError as error:
            raise FeedError(str(error)) from error
        line = HTTPSConnection(host, port, timeout=limit, context=context)
        if proxy:
            above = urlsplit(proxy)
            if above.scheme != "http":
                raise FeedError("the feed can be reached only through http proxies")
            near = above.hostname or "", above.port or 80
            line = HTTPSConnection(*near, timeout=limit, context=context)
            word = outbound.proxy_word(proxy)
            line.set_tunnel(host, port, {"Proxy-Authorization": word} if word else {})
    line.connect()
    return line


def request(
    line: HTTPConnection,
    method: str,
    path: str,
    authorization: str,
    body: bytes | None = None,
) -> Mapping[str, Any]:
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    line.request(method, path, body, headers)
    answer = line.getresponse()
    said = answer.read(ANSWER_BYTES + 1)
    if answer.status != HTTPStatus.OK or len(said) > ANSWER_BYTES:
        wait_s = bounded(answer.getheader("Retry-After"))
        raise FeedError(f"status {answer.status}", wait_s, answer.status)
    found = json.loads(said)
    if not isinstance(found, dict):
        raise FeedError("the response is not a JSON object")
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
"""Begins the names of the forge's processes, which hold all tokens of a job."""
_LOOK: Final = "import sys; open(sys.argv[1], 'rb').read(1)"


def why_exposed(token: str, path: str) -> str:
    """Return why an agent could take the token of this hardened process, or ""."""
    if sys.platform != "linux":
        return "this system does not isolate one user's processes"
    if os.geteuid() == 0:
        return "the job runs as root, and so does its agent"
    # /proc checks the permission on reading, not on opening.
    own = f"/proc/{os.getpid()}/environ"
    if _succeeds([sys.executable, "-I", "-S", "-c", _LOOK, own]):
        return "each process of the job's user can read all others"
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        if _content(process / "comm").strip().startswith(_RUNNER):
            return "the job runs beside the forge's runner; run it in a container"
        if token.encode() in _content(process / "environ"):
            return f"any process of this user can read the job's token in {process}"
    sudo = shutil.which("sudo", path=path)
    if sudo is not None and _succeeds([sudo, "-n", "true"]):
        return "the job's user can become root with sudo, and so can its agent"
    return ""


def _succeeds(argv: list[str]) -> bool:
    done = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRY_S, check=False
    )
    return done.returncode == 0


def _content(file: Path) -> bytes:
    with contextlib.suppress(OSError):
        return file.read_bytes()
    return b""


class OidcExchange:
    """A way to the feed whose token is got when it is first used; for any thread."""

    def __init__(self, by: FeedAddress) -> None:
        self._by = by
        self._lock = threading.Lock()
        self._place: FeedAddress | None = None

    def reached(self) -> FeedAddress:
        by = self._by
        with self._lock:
            if self._place is None:
                begun = f"{by.asks}{'&' if urlsplit(by.asks).query else '?'}"
                asks = f"{begun}audience={quote(by.bot, safe='')}"
                word = _asked("GET", asks, f"bearer {by.token}").get("value")
                given = _asked("POST", f"{by.url}/token", f"Bearer {word}").get("token")
                if not isinstance(given, str):
                    raise FeedError("the bot returned no token")
                self._place = FeedAddress(by.url, given)
            return self._place

    def lost(self) -> None:
        with self._lock:
            self._place = None


FeedRoute = FeedAddress | OidcExchange


def _asked(method: str, url: str, bearer: str) -> Mapping[str, object]:
    with contextlib.closing(connect(url)) as line:
        path = urlsplit(url)._replace(scheme="", netloc="").geturl()
        return request(line, method, path, bearer)


AGAIN_S = 1.0
AGAIN_MOST_S = 30.0


class _Thread(contextlib.ExitStack):
    """Speaks to the feed in a thread until closed, and tries again what failed."""

    last_s = 0.5
    """How long the end of the session waits for it."""

    def __init__(self, way: FeedRoute) -> None:
        super().__init__()
        self.callback(self._end)
        self._way = way
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._stirred = threading.Event()
        """There is something to do, or the end has come."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._line: HTTPConnection | None = None
        """Kept from one request to the next."""

    def _end(self) -> None:
        """End it; a request that is under way is left alone."""
        self._ending.set()
        self._stirred.set()
        if self._thread.ident is not None:
            self._thread.join(self.last_s)

    def _stir(self) -> None:
        if self._thread.ident is None:
            self._thread.start()
        self._stirred.set()

    def _run(self) -> None:
        again_s = AGAIN_S
        while True:
            self._stirred.wait()
            self._stirred.clear()
            if self._is_over():
                break
            try:
                wait_s, again_s = self._turn(), AGAIN_S
            except FeedError as missed:
                self._stirred.set()
                wait_s = max(again_s, missed.wait_s)
                again_s = min(again_s * 2, AGAIN_MOST_S)
            # The end of the session shortens it, so that its last output is sent.
            if self._ending.wait(wait_s) and not self._is_over():
                time.sleep(min(wait_s, PACE_S / 2))
        self._hang_up()

    @abstractmethod
    def _turn(self) -> float:
        """Do what there is to do; return how long to wait afterwards."""

    def _ask(
        self,
        method: str,
        what: str,
        body: bytes | None = None,
        *,
        patience_s: float = DEADLINE_S,
    ) -> Mapping[str, Any]:
        way = self._way
        try:
            place = way if isinstance(way, FeedAddress) else way.reached()
            if self._line is None:
                self._line = connect(place.url)
            if self._line.sock is not None:
                self._line.sock.settimeout(patience_s)
            path = f"{urlsplit(place.url).path}/{what}"
            return request(self._line, method, path, f"Bearer {place.token}", body)
        except FeedError as missed:
            self._hang_up()
            is_unknown = missed.status == HTTPStatus.UNAUTHORIZED
            if is_unknown and isinstance(way, OidcExchange):
                way.lost()
            raise
        except (OSError, HTTPException, ValueError) as error:
            self._hang_up()
            raise FeedError(str(error) or repr(error)) from error

    def _hang_up(self) -> None:
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.close()
            self._line = None

    def _is_over(self) -> bool:
        return self._ending.is_set()


WAITING_CHARS = 500_000
"""How much output is kept while the feed cannot be reached."""
PIECE_CHARS = 8_000
BATCH_CHARS = 64_000

PACE_S = 0.5


class OutputSender(_Thread):
    """Sends output as it comes; its end waits a moment for the last to arrive."""

    last_s = 2.0

    def __init__(self, way: FeedRoute) -> None:
        super().__init__(way)
        self._waiting: deque[str] = deque()
        self._first = 0
        self._chars = 0

    def show(self, text: str) -> None:
        """Take a piece of output, redacted; returns at once."""
        with self._lock:
            for start in range(0, len(text), PIECE_CHARS):
                self._waiting.append(text[start : start + PIECE_CHARS])
            self._chars += len(text)
            while self._chars > WAITING_CHARS and len(self._waiting) > 1:
                self._drop()
        self._stir()

    def _is_over(self) -> bool:
        return self._ending.is_set() and not self._waiting

    def _turn(self) -> float:
        with self._lock:  # the first pieces; they wait until they arrive
            first, ends = self._first, accumulate(map(len, self._waiting))
            count = sum(1 for _ in takewhile(BATCH_CHARS.__ge__, ends))
            pieces = [*islice(self._waiting, count)]
        if not pieces:
            return 0.0
        body = json.dumps({"first": first, "pieces": pieces}).encode()
        told = self._ask("POST", "output", body)
        next_number = told.get("next")
        if isinstance(next_number, int):
            with self._lock:
                while self._waiting and self._first < next_number:
                    self._drop()
        self._stirred.set()
        return max(PACE_S, bounded(told.get("wait_s")))

    def _drop(self) -> None:
        self._chars -= len(self._waiting.popleft())
        self._first += 1


PATIENCE_S = 30.0
_FOR_GOOD = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,  # a bot that knows of no checkpoints
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    }
)


class WorkSender(_Thread):
    """Sends saved work, of which only the newest counts; the result then holds all."""

    _newest = b""

    def send(self, bundle: bytes) -> None:
        """Send this bundle instead of any that still waits; returns at once."""
        self._newest = bundle
        self._stir()

    def _turn(self) -> float:
        try:
            self._ask("POST", "checkpoint", self._newest, patience_s=PATIENCE_S)
        except FeedError as missed:
            if missed.status not in _FOR_GOOD:
                raise
        return 0.0


WAIT_S = 20.0
GIVEN_S = 10.0
"""How long the engine has to read its messages before the feed is asked again."""


class MessagePoller(_Thread):
    _new: tuple[Message, ...] = ()
    _last = 0
    _heard = 0

    def listen(self, wake: Callable[[], None]) -> None:
        """Begin to ask; `wake` is called in the other thread."""
        self._wake = wake
        self._stir()

    def take(self) -> tuple[Message, ...]:
        with self._lock:
            new, self._new = self._new, ()
        return new

    def heard(self, number: int) -> None:
        """Record that the engine was given the messages up to this one."""
        self._heard = number
        self._stirred.set()

    def _turn(self) -> float:
        what = f"messages?after={self._last}&heard={self._heard}&wait_s={WAIT_S:g}"
        told = self._ask("GET", what, patience_s=WAIT_S + DEADLINE_S)
        new = tuple(
            Message(self._last + number, str(each.get("by")), str(each.get("text")))
            for number, each in enumerate(told.get("messages") or (), 1)
            if isinstance(each, dict)
        )
        if new and not self._ending.is_set():
            with self._lock:
                self._new += new
            self._last += len(new)
            self._wake()
            self._stirred.wait(GIVEN_S)
        self._stirred.set()
        return 0.0


class LiveFeed(contextlib.ExitStack):
    """A session's outputs to its feed, and its inbox there, while the block lasts."""

    def __init__(self, place: FeedAddress) -> None:
        super().__init__()
        way: FeedRoute = OidcExchange(place) if place.asks else place
        self.work = self.enter_context(WorkSender(way))
        self.inbox = self.enter_context(MessagePoller(way))
        self.output = self.enter_context(OutputSender(way))
