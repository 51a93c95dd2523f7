"""Pages that were made, kept for all who ask for the same in the same seconds."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aiohttp import web

from bot.dashboard.porch import Sight, Visitor

FRESH_MS: Final = 2000
"""How long a page is given again while the log stands still."""
MOST: Final = 64
LEVEL: Final = 5
"""Of gzip: above it, pages take longer and are hardly shorter."""

_Key = tuple[str, str, Visitor, int]


@dataclass(frozen=True)
class Made:
    """A page as HTML."""

    text: bytes
    secret: bool
    """Whether it holds a form's token. Then it is never compressed: who can put words
    on a page and sees its length could guess the rest (https://www.breachattack.com/).
    """

    @cached_property
    def packed(self) -> bytes:
        """The page as gzip."""
        return gzip.compress(self.text, LEVEL, mtime=0)

    def answer(self, request: web.Request) -> web.Response:
        """Return the page as this browser wants it."""
        if self.secret or not takes_gzip(request):
            return web.Response(
                body=self.text, content_type="text/html", charset="utf-8"
            )
        return web.Response(
            body=self.packed,
            content_type="text/html",
            charset="utf-8",
            headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        )


class Shelf:
    """Holds the newest of them; for one event loop."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[_Key, Made] = {}

    def page(
        self,
        request: web.Request,
        sight: Sight,
        visitor: Visitor,
        make: Callable[[], str],
    ) -> Made:
        """Return the page that was asked for, made anew when the log has moved.

        Args:
            request: its path and query name the page.
            sight: what it is about.
            visitor: whose it is.
            make: makes it.
        """
        key = (request.path_qs, sight.news.mark, visitor, sight.now // FRESH_MS)
        made = self._made.get(key)
        if made is None:
            made = Made(make().encode(), secret=bool(visitor.csrf))
            if len(self._made) >= MOST:
                self._made.clear()
            self._made[key] = made
        return made


def takes_gzip(request: web.Request) -> bool:
    """Whether the browser says that it can read gzip."""
    said = request.headers.get("Accept-Encoding", "").replace(" ", "").lower()
    return "gzip" in said.split(",") or "gzip;q=1" in said
