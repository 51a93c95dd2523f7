"""GitHub's rate limits, in forges that were given them.

Requests at the same moment and CPU time, which GitHub limits too, are not counted.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from collections import defaultdict, deque
from pathlib import Path
from typing import Final

from aiohttp import hdrs

from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Call
from brat.forge.storage.forge_state import Forge

MINUTE_S: Final = 60
HOUR_S: Final = 3600
REQUESTS_AN_HOUR: Final = 5000
REQUESTS_OF_A_JOB: Final = 1000
"""In an hour, of the token that a workflow's job gets in its repository."""
POINTS_A_MINUTE: Final = 900
WRITE_POINTS: Final = 5
CONTENT_A_MINUTE: Final = 80
CONTENT_AN_HOUR: Final = 500
READS: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS})
_FILE: Final = "rate-limits"
_DOCS: Final = (
    "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
)
_HASTY: Final = (
    "You have exceeded a secondary rate limit. "
    "Please wait a few minutes before you try again."
)
_WORDY: Final = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from "
    "content creation. Please retry your request again later."
)


def limit(folder: Path) -> None:
    """Refuse from now on whoever asks too often of the forge in `folder`."""
    (folder / _FILE).touch()


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
        self._entries.append((now, points))


class _Account:
    """What one caller used."""

    def __init__(self) -> None:
        self.used = 0
        self.resets = 0.0
        """When the hour ends that began with its first request; Unix seconds."""
        self.points = _Window()
        self.content = (_Window(), _Window())


class Limits:
    """Counts calls, and refuses those that are too many."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._accounts: dict[object, _Account] = defaultdict(_Account)

    def count(self, call: Call) -> dict[str, str]:
        """Count one call and return the headers that tell what is left.

        Raises:
            Refused: the forge is limited, and a secondary limit is used up.
        """
        now = self._forge.clock().timestamp()
        is_job = call.token.access is not None and call.token.repo is not None
        account = self._accounts[call.user.id, call.token.repo if is_job else None]
        if now >= account.resets:
            account.used, account.resets = 0, now + HOUR_S
        account.used += 1
        most = REQUESTS_OF_A_JOB if is_job else REQUESTS_AN_HOUR
        headers = {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(max(0, most - account.used)),
            "X-RateLimit-Used": str(account.used),
            "X-RateLimit-Reset": str(int(account.resets)),
            "X-RateLimit-Resource": "core",
        }
        if (self._forge.folder / _FILE).exists():
            _hurry(call, account, now, headers)
        return headers


def _hurry(call: Call, account: _Account, now: float, told: dict[str, str]) -> None:
    """Count a call against the secondary limits.

    The documentation of endpoints warns of the limit of content where they notify
    people: creating issues, comments, pull requests and reviews, and merging. As it
    does not say that others are free, each POST to a repository counts.

    Raises:
        Refused: they are used up. What is refused counts against none of them.
    """
    method, path = call.request.method, call.request.path
    points = 1 if method in READS else WRITE_POINTS
    windows = [(account.points, points, POINTS_A_MINUTE, MINUTE_S)]
    merges = method == hdrs.METH_PUT and path.endswith("/merge")
    if call.found is not None and (method == hdrs.METH_POST or merges):
        short, long = account.content
        windows.append((short, 1, CONTENT_A_MINUTE, MINUTE_S))
        windows.append((long, 1, CONTENT_AN_HOUR, HOUR_S))
    waits = [
        window.wait(now, each, top, seconds) for window, each, top, seconds in windows
    ]
    if any(waits):
        said = _WORDY if any(waits[1:]) else _HASTY
        later = {"Retry-After": str(int(max(waits)) + 1)}
        raise Refused(403, said, headers=told | later, docs=_DOCS)
    for window, each, _, _ in windows:
        window.use(now, each)
