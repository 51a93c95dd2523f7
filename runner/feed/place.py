"""Where the feed is and what is shown there; handed over, never in an environment."""

import json
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from grite.shown import without

HANDED_BYTES = 4096
_STANDARD = 2


class Place(Struct, frozen=True):
    """The feed of one session."""

    url: str
    """Of the session, without a slash at the end."""
    token: str

    def __repr__(self) -> str:
        return without(self, "token")

    def reached(self) -> "Place":
        """Return it."""
        return self

    def lost(self) -> None:
        """Go on trying: the token stays the same as long as the session runs."""


class Way(Protocol):
    """How the feed is come to; for any thread."""

    def reached(self) -> Place:
        """Return the feed's place, which may first have to be asked for.

        Raises:
            Missed: it cannot be had now.
        """

    def lost(self) -> None:
        """Ask again the next time: the token is not taken any more."""


def handed(env: Mapping[str, str]) -> Place | None:
    """Return what the descriptor BRAT_FEED_FD holds; None: there is no feed.

    It can be read once, and is closed. What makes no sense there counts as none.
    """
    number = env.get("BRAT_FEED_FD", "").strip()
    if not (number.isascii() and number.isdigit() and int(number) > _STANDARD):
        return None
    try:
        with open(int(number), "rb", buffering=0) as source:  # noqa: PTH123  a descriptor has no path
            told = json.loads(source.read(HANDED_BYTES))
        return Place(_sound(told["url"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sound(url: object) -> str:
    """Return an address that can be sent to.

    Raises:
        ValueError: it is none.
    """
    text = str(url).rstrip("/")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(text)
    return text
