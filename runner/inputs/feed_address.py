"""The address of the feed and the token for it, handed over by a descriptor."""

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from grite.errors import repr_without

HANDED_BYTES = 4096
_STANDARD = 2


class FeedAddress(Struct, frozen=True):
    """The feed of one session."""

    url: str
    """The session's address, without a slash at the end."""
    token: str

    def __repr__(self) -> str:
        return repr_without(self, "token")

    def reached(self) -> "FeedAddress":
        """Return this address itself."""
        return self

    def lost(self) -> None:
        """Do nothing: the token stays the same as long as the session runs."""


class FeedRoute(Protocol):
    """A way to get the feed's address; for any thread."""

    def reached(self) -> FeedAddress:
        """Return the feed's address; the first call may have to ask for it.

        Raises:
            Missed: the address is not available now.
        """

    def lost(self) -> None:
        """Ask for a new token the next time: this one is no longer accepted."""


def handed(env: Mapping[str, str]) -> FeedAddress | None:
    """Return the address from the descriptor BRAT_FEED_FD; None: there is no feed.

    The descriptor can be read once, and is closed. An invalid address counts as none.
    """
    number = env.get("BRAT_FEED_FD", "").strip()
    if not (number.isascii() and number.isdigit() and int(number) > _STANDARD):
        return None
    try:
        with open(int(number), "rb", buffering=0) as source:  # noqa: PTH123  a descriptor has no path
            told = json.loads(source.read(HANDED_BYTES))
        return FeedAddress(_sound(told["url"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sound(url: object) -> str:
    """Return the address, if it is one that requests can be sent to.

    Raises:
        ValueError: requests cannot be sent to it.
    """
    text = str(url).rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(text)
    return text
