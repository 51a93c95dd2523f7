"""GitHub's rate limits, in repositories that were given them.

The figures: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from collections import defaultdict, deque
from typing import Final
from weakref import WeakKeyDictionary

from brat.forge.resources.resource_record import Record
from brat.forge.rest.rest_call import Call
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.record_store import Store, Table
from brat.forge.wire.http_refusals import Refused

HOUR_S: Final = 3600
MINUTE_S: Final = 60
REQUESTS_AN_HOUR: Final = 5000
POINTS_A_MINUTE: Final = 900
WRITE_POINTS: Final = 5
CONTENT_A_MINUTE: Final = 80
CONTENT_AN_HOUR: Final = 500


class _Window:
    """How much was used in the last `seconds`."""

    def __init__(self, most: int, seconds: int) -> None:
        self.most = most
        self.seconds = seconds
        self.used = 0
        self._entries: deque[tuple[float, int]] = deque()

    def wait(self, now: float, points: int) -> int:
        """Return in how many seconds `points` more would fit; 0: now."""
        while self._entries and self._entries[0][0] <= now - self.seconds:
            self.used -= self._entries.popleft()[1]
        if self.used + points <= self.most:
            return 0
        return max(int(self._entries[0][0] + self.seconds - now), 1)

    def use(self, now: float, points: int) -> None:
        """Note that `points` were used."""
        self._entries.append((now, points))
        self.used += points


class _Account:
    """The windows of one caller."""

    def __init__(self) -> None:
        self.primary = _Window(REQUESTS_AN_HOUR, HOUR_S)
        self.points = _Window(POINTS_A_MINUTE, MINUTE_S)
        self.content = (
            _Window(CONTENT_A_MINUTE, MINUTE_S),
            _Window(CONTENT_AN_HOUR, HOUR_S),
        )


class Limited(Record, frozen=True, kw_only=True):
    """A repository that has GitHub's limits; its id is the repository's."""


_TABLES: Final = WeakKeyDictionary[Store, Table[Limited]]()


def _table(forge: Forge) -> Table[Limited]:
    if forge.store not in _TABLES:
        _TABLES[forge.store] = Table(forge.store, Limited, lambda _: None)
    return _TABLES[forge.store]


def limit(forge: Forge, full_name: str) -> None:
    """Refuse in a repository, as GitHub does, whoever asks too often."""
    with forge.store.change():
        _table(forge).put(Limited(id=forge.known(full_name).id))


class Limits:
    """Counts calls, and refuses those that are too many."""

    def __init__(self, forge: Forge) -> None:
        """Start with nothing used."""
        self._forge = forge
        self._accounts: dict[int, _Account] = defaultdict(_Account)

    def count(self, call: Call) -> dict[str, str]:
        """Count one call and return the headers that tell what is left.

        Raises:
            Refused: 403: the repository has GitHub's limits and they are used up.
        """
        now = self._forge.clock().timestamp()
        method, repo = call.request.method, call.found
        writes = method != "GET"
        limited = repo is not None and _table(self._forge).get(repo.id) is not None
        account = self._accounts[call.user.id]
        headers = {
            "X-RateLimit-Limit": str(REQUESTS_AN_HOUR),
            "X-RateLimit-Remaining": str(REQUESTS_AN_HOUR - account.primary.used),
            "X-RateLimit-Used": str(account.primary.used),
            "X-RateLimit-Reset": str(int(now) + HOUR_S),
            "X-RateLimit-Resource": "core",
        }
        if not limited:
            return headers
        if account.primary.wait(now, 1):
            gone = headers | {"X-RateLimit-Remaining": "0"}
            raise Refused(403, "API rate limit exceeded.", headers=gone)
        windows = [
            (account.primary, 1),
            (account.points, WRITE_POINTS if writes else 1),
        ]
        if method == "POST":
            windows += [(window, 1) for window in account.content]
        later = max(window.wait(now, points) for window, points in windows)
        if later:
            raise Refused(
                403,
                "You have exceeded a secondary rate limit.",
                headers=headers | {"Retry-After": str(later)},
            )
        for window, points in windows:
            window.use(now, points)
        return headers
