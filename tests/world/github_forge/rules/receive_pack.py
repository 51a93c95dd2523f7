"""Pushes: judged by the repository's rules, then handed to `git receive-pack`.

The server judges, and no hook: only so can each ref have its own reason in the report
("protected branch hook declined"), where git's own hooks leave one fixed word for each
kind of hook. git gets the push as it came, or none of it where one of its refs is
refused: the bot pushes all or nothing. A repository's own hooks are git's business and
run as ever, on what the rules allow.

https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, cast

from aiohttp import StreamReader

from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused
from brat.forge.rest import git_http
from brat.forge.rest.git_http import FLUSH, whole_body
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement

_NOTHING: Final = "0" * 40
_BAND_DATA: Final = b"\1"
_BAND_WORDS: Final = b"\2"
_MOST_FRAME: Final = 65515
"""Bytes of one frame of side-band-64k, without its five of length and band."""
_MOST_COMMANDS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PushHead:
    """The part of a push that comes before its objects."""

    read: bytes
    """As it came."""
    wanted: dict[str, str | None]
    """What each ref is to be; None: it is to go."""


async def read_head(stream: StreamReader) -> PushHead:
    """Read what a push asks for; its objects stay in the stream.

    Raises `Refused`: 400: it is not a push as git sends it.
    """
    read, wanted = b"", dict[str, str | None]()
    try:
        while len(read) < _MOST_COMMANDS:
            size = await stream.readexactly(4)
            read += size
            if size == FLUSH:
                return PushHead(read, wanted)
            line = await stream.readexactly(int(size, 16) - 4)
            read += line
            if not line.startswith(b"shallow "):
                told = line.partition(b"\0")[0].decode()
                _, after, ref = told.split(maxsplit=2)
                wanted[ref.strip()] = None if after == _NOTHING else after
    except (asyncio.IncompleteReadError, ValueError):
        pass
    raise Refused(400, "This is not a push as git sends it.")


@dataclass(frozen=True, slots=True)
class Replayed:
    """A push from its beginning, though its head was read."""

    head: PushHead
    content: StreamReader

    def iter_any(self) -> AsyncIterator[bytes]:
        return whole_body(self.head.read, self.content)


def _packet(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


def _banded(band: bytes, data: bytes) -> bytes:
    pieces = range(0, len(data), _MOST_FRAME)
    return b"".join(_packet(band + data[at : at + _MOST_FRAME]) for at in pieces)


async def receive_pack(
    service: Service, caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    """Take a push if the rules allow all of it, and return the answer.

    Raises `Refused`: 400: it is not a push.
    """
    head, bare = await read_head(content), service.forge.bare(repo)
    moves = [Move(ref, bare.ref(ref), after) for ref, after in head.wanted.items()]
    refused, said = RuleEnforcement(service).judge_push(repo, caller.user, moves)
    if not refused:
        whole = cast("StreamReader", Replayed(head, content))
        return await git_http.receive_pack(service, caller, repo, whole)
    async for _ in content.iter_any():
        pass  # git listens once it has sent all of it
    whys = {ref: refused.get(ref, "atomic push failure") for ref in head.wanted}
    lines = [b"unpack ok\n", *(f"ng {r} {why}\n".encode() for r, why in whys.items())]
    report = b"".join(map(_packet, lines)) + FLUSH
    told = _banded(_BAND_WORDS, said.encode())
    return told + _banded(_BAND_DATA, report) + FLUSH
