"""Pushes: judged by the repository's rules, then handed to `git receive-pack`.

The server judges, and no hook: only so can each ref have its own reason in the report
("protected branch hook declined"), where git's own hooks leave one fixed word for each
kind of hook. git gets the push as it came, or none of it where one of its refs is
refused: the bot pushes all or nothing. A repository's own hooks are git's business and
run as ever, on what the rules allow.

https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, cast

from aiohttp import StreamReader

from bot.repository.near_server import packets
from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused
from brat.forge.rest import git_http
from brat.forge.rest.git_http import FLUSH
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement

_NOTHING: Final = "0" * 40
_BAND_DATA: Final = b"\1"
_BAND_WORDS: Final = b"\2"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A push from its beginning, though it was read."""

    data: bytes

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield self.data


def _packet(data: bytes) -> bytes:
    return b"%04x%s" % (len(data) + 4, data)


def _wanted(pushed: bytes) -> list[tuple[str, str]]:
    """Return what each ref is to be.

    Raises `Refused`: 400: it is not a push as git sends it.
    """
    head = pushed.partition(FLUSH + b"PACK")[0]
    try:
        told = [line.partition(b"\0")[0].decode().split() for line in packets(head)]
    except ValueError:
        raise Refused(400, "This is not a push as git sends it.") from None
    return [(each[2], each[1]) for each in told if each[0] != "shallow"]


async def receive_pack(
    service: Service, caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    """Take a push if the rules allow all of it, and return the answer."""
    pushed, bare = await content.read(), service.forge.bare(repo)
    moves = [
        Move(ref, bare.ref(ref), None if after == _NOTHING else after)
        for ref, after in _wanted(pushed)
    ]
    refused, said = RuleEnforcement(service).judge_push(repo, caller.user, moves)
    if not refused:
        whole = cast("StreamReader", Replayed(pushed))
        return await git_http.receive_pack(service, caller, repo, whole)
    whys = {move.ref: refused.get(move.ref, "atomic push failure") for move in moves}
    lines = [b"unpack ok\n", *(f"ng {r} {why}\n".encode() for r, why in whys.items())]
    report = b"".join(map(_packet, lines)) + FLUSH
    told = _packet(_BAND_WORDS + said.encode())
    return told + _packet(_BAND_DATA + report) + FLUSH
