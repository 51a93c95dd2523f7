"""Gives each repository of an installation an even share of its requests. Pure.

The forge counts all requests of an installation together: without shares, whatever goes
wrong in one repository would spend what the others need.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

import re
from dataclasses import dataclass, field
from typing import Final

from bot.forge.precedence import Precedence

HOURLY: Final = 5_000
"""What GitHub allows an installation in an hour, at least."""
USED: Final = 0.8
"""How much of that is shared out; the rest is left for the installation itself."""
RESERVE: Final = 0.25
"""The part of a share that is kept for answers to people."""
HOUR_S: Final = 3600.0
_REPOSITORY: Final = re.compile(r"(?:https?://[^/]+(?:/api/v3)?)?/repos/([^/]+/[^/?]+)")


@dataclass
class _Share:
    left: float
    at: float
    """When that much was left, steady seconds."""

    def is_in_use(self, now: float) -> bool:
        """Whether anything was asked of it within the hour."""
        return now - self.at < HOUR_S


@dataclass
class RequestShares:
    """The shares of one installation's repositories.

    A share is half at hand and half refilled over the hour, so that no hour sees more
    than the whole of it.
    """

    hourly: int = HOURLY
    """How many requests the forge allows in an hour."""
    _shares: dict[str, _Share] = field(default_factory=dict)

    def free_at(self, url: str, now: float, precedence: Precedence) -> float:
        """Return when a request may be sent; times are steady seconds."""
        name = repository_of(url)
        if not name:
            return now
        left = self._filled(name, now).left
        kept = self._most * RESERVE if precedence.can_wait else 0.0
        lacks = kept + 1.0 - left
        return now if lacks <= 0 else now + lacks * HOUR_S / self._most

    def spend(self, url: str, now: float, count: int = 1) -> None:
        """Count a request that is sent; with -1, one that the forge did not count."""
        if name := repository_of(url):
            self._filled(name, now).left -= count

    @property
    def _most(self) -> float:
        """How much of a share is at hand at most, and is refilled in an hour."""
        return self.hourly * USED / 2 / max(len(self._shares), 1)

    def _filled(self, name: str, now: float) -> _Share:
        if name not in self._shares:
            used = {
                each: one for each, one in self._shares.items() if one.is_in_use(now)
            }
            self._shares = used | {name: _Share(0.0, now)}
            self._shares[name].left = self._most
        share = self._shares[name]
        refilled = share.left + (now - share.at) * self._most / HOUR_S
        share.left, share.at = min(refilled, self._most), now
        return share


def repository_of(url: str) -> str:
    """Return the repository that a request is about; empty: about none."""
    found = _REPOSITORY.match(url)
    return found[1].casefold() if found else ""
