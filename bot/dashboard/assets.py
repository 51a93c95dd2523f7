"""Serves the files that pages need (style, icon, scripts); browsers keep them."""

import gzip
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.dashboard.page_cache import takes_gzip

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
    """Answer with a file, as gzip if the browser takes it.

    Raises:
        HTTPNotFound: there is no file at this address.
    """
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
