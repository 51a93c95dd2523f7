"""GitHub's rate limits, in forges that were given them.

They lie in a file of the forge's folder, so that a story reaches the forge whether it
is served in the same process or as the CLI's child (tests/world/extended.py). Requests
at the same moment and CPU time, which GitHub limits too, are not counted.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from collections import defaultdict, deque
from pathlib import Path
from typing import Final, Literal

from aiohttp import hdrs
from msgspec import Struct, json

from brat.forge.resources.wire import API, Refused
from brat.forge.rest.rest_call import Call
from brat.forge.storage.forge_state import Forge

Limiting = Literal[403, 429]
HOUR_S: Final = 3600
WRITE_POINTS: Final = 5
READS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
_FILE: Final = "rate-limits.json"
_COUNTED: Final = "rate-limits-counted.jsonl"
_DOCS: Final = (
    "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
)
_SPENT: Final = "API rate limit exceeded for user ID {}."
_HASTY: Final = (
    "You have exceeded a secondary rate limit. "
    "Please wait a few minutes before you try again."
)
_WORDY: Final = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from "
    "content creation. Please retry your request again later."
)


class Allowance(Struct, frozen=True, kw_only=True):
    """How much an account may do; what GitHub documents, unless a story says less."""

    requests_an_hour: int = 5000
    requests_of_a_job: int = 1000
    """In an hour, of the token that a workflow's job gets in its repository."""
    points_a_minute: int = 900
    content_a_minute: int = 80
    content_an_hour: int = 500
    minute_s: float = 60.0
    """Shorter where a story shall not last."""
    content_spent: bool = False
    """Whether whoever comes first has used up a minute's content already."""
    status: Limiting = 403
    """GitHub answers with either."""
    says_when: bool = True
    """Whether a secondary limit comes with `Retry-After`: on GitHub not always."""


def limit(folder: Path, allowance: Allowance | None = None) -> None:
    """Refuse from now on whoever asks too often of the forge in `folder`.

    Args:
        folder: the forge's, which is there already.
        allowance: None: GitHub's.
    """
    new = folder / f"{_FILE}.new"
    new.write_bytes(json.encode(allowance or Allowance()))
    new.replace(folder / _FILE)


class Counted(Struct, frozen=True, kw_only=True):
    """A write to a forge with limits."""

    user: int
    method: str
    path: str
    at: float
    """Unix seconds by the forge's clock."""
    wait_s: int
    """For how long it was refused; 0: it was let through."""


def counted(folder: Path) -> list[Counted]:
    """Return every write to the forge in `folder` since it has limits, oldest first."""
    try:
        return json.Decoder(Counted).decode_lines((folder / _COUNTED).read_bytes())
    except FileNotFoundError:
        return []


class _Window:
    """How much was used in the last `seconds`."""

    def __init__(self) -> None:
        self._entries: deque[tuple[float, int]] = deque()

    def wait(self, now: float, points: int, most: int, seconds: float) -> float:
        """Return in how many seconds `points` more would fit; 0: now."""
        while self._entries and self._entries[0][0] <= now - seconds:
            self._entries.popleft()
        used, until = sum(each for _, each in self._entries), 0.0
        for at, each in self._entries:
            if used + points <= most:
                break
            used, until = used - each, at + seconds - now
        return until

    def use(self, now: float, points: int) -> None:
        """Note that `points` were used."""
        self._entries.append((now, points))


class _Account:
    """What one caller used."""

    def __init__(self) -> None:
        self.used = 0
        self.resets = 0.0
        """When the hour ends that began with its first request; Unix seconds."""
        self.points = _Window()
        self.content = (_Window(), _Window())
        self.is_new = True
        """Whether it has made no content yet."""

    def hour(self, now: float) -> None:
        """Begin a new hour if the last one is over."""
        if now >= self.resets:
            self.used, self.resets = 0, now + HOUR_S


class Limits:
    """Counts calls, and refuses those that are too many."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._accounts: dict[object, _Account] = defaultdict(_Account)

    def count(self, call: Call) -> dict[str, str]:
        """Count one call and return the headers that tell what is left.

        Raises:
            Refused: 403 or 429: the forge is limited, and the share is used up.
        """
        now, given = self._forge.clock().timestamp(), self._given()
        allowed = given or Allowance()
        is_job = call.token.access is not None and call.token.repo is not None
        account = self._accounts[call.user.id, call.token.repo if is_job else None]
        account.hour(now)
        most = allowed.requests_of_a_job if is_job else allowed.requests_an_hour
        if given and account.used >= most:
            said = _SPENT.format(call.user.id)
            headers = _told(account, most)
            raise Refused(allowed.status, said, headers=headers, docs=_DOCS)
        account.used += 1
        headers = _told(account, most)
        if given:
            self._hurry(call, account, given, headers)
        return headers

    def _hurry(
        self, call: Call, account: _Account, most: Allowance, told: dict[str, str]
    ) -> None:
        """Count a call against the secondary limits.

        Raises:
            Refused: they are used up. What is refused counts against none of them.
        """
        now, minute = self._forge.clock().timestamp(), most.minute_s
        points = 1 if call.request.method in READS else WRITE_POINTS
        windows = [(account.points, points, most.points_a_minute, minute)]
        if _is_content(call):
            short, long = account.content
            if most.content_spent and account.is_new:
                short.use(now, most.content_a_minute)
            account.is_new = False
            windows.append((short, 1, most.content_a_minute, minute))
            windows.append((long, 1, most.content_an_hour, HOUR_S))
        waits = [
            window.wait(now, each, top, seconds)
            for window, each, top, seconds in windows
        ]
        wait_s = int(max(waits)) + 1 if any(waits) else 0
        self._note(call, now, wait_s)
        if wait_s:
            said = _WORDY if any(waits[1:]) else _HASTY
            later = {"Retry-After": str(wait_s)} if most.says_when else {}
            raise Refused(most.status, said, headers=told | later, docs=_DOCS)
        for window, each, _, _ in windows:
            window.use(now, each)

    def _note(self, call: Call, now: float, wait_s: int) -> None:
        if call.request.method in READS:
            return
        line = Counted(
            user=call.user.id,
            method=call.request.method,
            path=call.request.path.removeprefix(API),
            at=now,
            wait_s=wait_s,
        )
        with (self._forge.folder / _COUNTED).open("ab") as file:
            file.write(json.encode(line) + b"\n")

    def _given(self) -> Allowance | None:
        try:
            told = (self._forge.folder / _FILE).read_bytes()
        except FileNotFoundError:
            return None
        return json.decode(told, type=Allowance)


def _is_content(call: Call) -> bool:
    """Say whether a call makes content.

    The documentation of endpoints warns of this limit where they notify people:
    creating issues, comments, pull requests and reviews, and merging. As it does not
    say that others are free, each POST to a repository counts.
    """
    method, path = call.request.method, call.request.path
    merges = method == hdrs.METH_PUT and path.endswith("/merge")
    return call.found is not None and (method == hdrs.METH_POST or merges)


def _told(account: _Account, most: int) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(most),
        "X-RateLimit-Remaining": str(max(most - account.used, 0)),
        "X-RateLimit-Used": str(account.used),
        "X-RateLimit-Reset": str(int(account.resets)),
        "X-RateLimit-Resource": "core",
    }
