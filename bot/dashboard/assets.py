"""What is sent again and again: files that browsers keep, pages kept here for seconds.

A page is shared by everybody who asks for the same one.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.dashboard.access_policy import RepositoryView, Visitor

FRESH_MS: Final = 2000
"""How long a page is reused while the log does not change."""
MOST_PAGES: Final = 64
GZIP_LEVEL: Final = 5
"""The gzip level: above it, pages take longer and are hardly shorter."""

_Key = tuple[str, str, Visitor, int]


@dataclass(frozen=True)
class CachedPage:
    """A page as HTML."""

    text: bytes
    secret: bool
    """Whether it holds a form's token. Then it is never compressed: its length would
    let an attacker with text on the page guess the token (https://www.breachattack.com/).
    """

    @cached_property
    def packed(self) -> bytes:
        """The page as gzip."""
        return gzip.compress(self.text, GZIP_LEVEL, mtime=0)

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


class PageCache:
    """Holds the newest pages; for one event loop."""

    def __init__(self) -> None:
        """Begin with no pages."""
        self._made: dict[_Key, CachedPage] = {}

    def page(
        self,
        request: web.Request,
        view: RepositoryView,
        visitor: Visitor,
        make: Callable[[], str],
    ) -> CachedPage:
        """Return the requested page, rendered again when the log has changed."""
        made = self.known(request, view, visitor)
        if made is None:
            made = CachedPage(make().encode(), secret=bool(visitor.csrf))
            if len(self._made) >= MOST_PAGES:
                self._made.clear()
            self._made[_key(request, view, visitor)] = made
        return made

    def known(
        self, request: web.Request, view: RepositoryView, visitor: Visitor
    ) -> CachedPage | None:
        """Return the requested page if it need not be rendered again."""
        return self._made.get(_key(request, view, visitor))


def _key(request: web.Request, view: RepositoryView, visitor: Visitor) -> _Key:
    mark = view.watcher.mark
    return (request.path_qs, mark, visitor, view.now // FRESH_MS)


def takes_gzip(request: web.Request) -> bool:
    """Whether the browser says that it can read gzip."""
    said = request.headers.get("Accept-Encoding", "").replace(" ", "").lower()
    return "gzip" in said.split(",") or "gzip;q=1" in said


_FOLDER: Final = Path(__file__).with_name("static")
_PREFIX: Final = "/static/"
_KEEP: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
}
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def _address(file: Path) -> str:
    digest = blake2b(file.read_bytes(), digest_size=6).hexdigest()
    return f"{_PREFIX}{digest}/{file.name}"


_FILES: Final = {_address(file): file for file in _FOLDER.iterdir()}
_ADDRESSES: Final = {file.name: address for address, file in _FILES.items()}


def address(name: str) -> str:
    """Return a file's address, which changes with the file's content.

    Raises:
        KeyError: there is no such file.
    """
    return _ADDRESSES[name]


def text(name: str) -> str:
    """Return the content of a text file, for pages that stand alone."""
    return (_FOLDER / name).read_text(encoding="utf-8")


async def give(request: web.Request) -> web.Response:
    """Answer with a file, as gzip if the browser takes it."""
    file = _FILES.get(request.path)
    if file is None or file.suffix not in _TYPES:
        raise web.HTTPNotFound(text="There is no such file.\n")
    headers = {**_KEEP, "Content-Type": _TYPES[file.suffix]}
    plain, packed = _content(file)
    if not takes_gzip(request):
        return web.Response(body=plain, headers=headers)
    return web.Response(body=packed, headers={**headers, "Content-Encoding": "gzip"})


@cache
def _content(file: Path) -> tuple[bytes, bytes]:
    """Return a file's content, plain and as gzip; the few files stay in memory."""
    plain = file.read_bytes()
    return plain, gzip.compress(plain, mtime=0)
