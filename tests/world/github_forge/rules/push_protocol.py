"""A push on the wire: the refs it asks for, and the report it is answered with.

https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aiohttp import StreamReader

from brat.forge.resources.wire import Refused
from brat.forge.rest.git_process import FLUSH, MOST_COMMANDS

_NOTHING: Final = "0" * 40
_BAND_DATA: Final = b"\1"
_BAND_WORDS: Final = b"\2"
_MOST_FRAME: Final = 65515
"""Bytes of one frame of side-band-64k, without its five of length and band."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a push asks of one ref."""

    line: bytes
    """As it came, without capabilities."""
    ref: str
    after: str | None
    """None: to delete it."""


@dataclass(frozen=True, slots=True)
class PushHead:
    """The part of a push that comes before its objects."""

    commands: tuple[Command, ...]
    capabilities: frozenset[bytes]
    offered: bytes
    """The capabilities as they came."""
    shallow: tuple[bytes, ...] = ()
    """Lines about commits whose parents the sender does not have."""

    @property
    def is_atomic(self) -> bool:
        """Whether all refs are to move, or none."""
        return b"atomic" in self.capabilities

    def encoded(self, leaving_out: Mapping[str, str]) -> bytes:
        """Write it again without some of its refs."""
        lines = [*self.shallow]
        kept = [each.line for each in self.commands if each.ref not in leaving_out]
        if kept:
            kept[0] += b"\0" + self.offered
        return b"".join(map(_packet, lines + kept)) + FLUSH

    def report(
        self, refused: Mapping[str, str], said: str, unpacked: str = "ok"
    ) -> bytes:
        """Answer a push of which nothing is taken."""
        lines = [f"unpack {unpacked}\n".encode(), *_rejections(refused)]
        return self._framed(said, b"".join(map(_packet, lines)) + FLUSH)

    def completed(self, body: bytes, refused: Mapping[str, str], said: str) -> bytes:
        """Add to git's own report on a push the refs that it never saw."""
        if not refused:
            return self._words(said) + body
        if not self._is_banded:
            return _extended(body, refused)
        bands = list(_frames(body))
        report = b"".join(data for band, data in bands if band == _BAND_DATA)
        other = b"".join(
            _packet(band + data) for band, data in bands if band != _BAND_DATA
        )
        return other + self._framed(said, _extended(report, refused))

    @property
    def _is_banded(self) -> bool:
        return b"side-band-64k" in self.capabilities

    def _framed(self, said: str, report: bytes) -> bytes:
        if not self.capabilities & {b"report-status", b"report-status-v2"}:
            report = b""
        if not self._is_banded:
            return report
        return self._words(said) + _banded(_BAND_DATA, report) + FLUSH

    def _words(self, said: str) -> bytes:
        return _banded(_BAND_WORDS, said.encode()) if self._is_banded else b""


async def read_head(stream: StreamReader) -> PushHead:
    """Read what a push asks for; its objects stay in the stream.

    Raises:
        Refused: 400: it is not a push as git sends it.
    """
    read, shallow, commands, offered = 0, list[bytes](), list[Command](), b""
    try:
        while read < MOST_COMMANDS:
            size = await stream.readexactly(4)
            if size == FLUSH:
                known = frozenset(offered.split())
                return PushHead(tuple(commands), known, offered, tuple(shallow))
            line = await stream.readexactly(int(size, 16) - 4)
            read += len(line) + 4
            if line.startswith(b"shallow "):
                shallow.append(line)
                continue
            line, _, found = line.partition(b"\0")
            offered = found or offered
            _, after, ref = line.decode().split(maxsplit=2)
            gone = after == _NOTHING
            commands.append(
                Command(line.rstrip(b"\n"), ref.strip(), None if gone else after)
            )
    except (asyncio.IncompleteReadError, ValueError):
        pass
    raise Refused(400, "This is not a push as git sends it.")


def _packet(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


def _banded(band: bytes, data: bytes) -> bytes:
    pieces = range(0, len(data), _MOST_FRAME)
    return b"".join(_packet(band + data[at : at + _MOST_FRAME]) for at in pieces)


def _rejections(refused: Mapping[str, str]) -> list[bytes]:
    return [f"ng {ref} {reason}\n".encode() for ref, reason in refused.items()]


def _extended(report: bytes, refused: Mapping[str, str]) -> bytes:
    more = b"".join(map(_packet, _rejections(refused)))
    return report.removesuffix(FLUSH) + more + FLUSH


def _frames(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield band and data of each frame until the flush."""
    at = 0
    while at + 4 <= len(body) and body[at : at + 4] != FLUSH:
        size = int(body[at : at + 4], 16)
        yield body[at + 4 : at + 5], body[at + 5 : at + size]
        at += size
