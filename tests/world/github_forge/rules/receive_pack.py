"""Pushes: judged by the repository's rules, then handed to `git receive-pack`.

They are spooled to disk and indexed in a folder of their own beside the repository's
objects, which `git receive-pack` calls quarantine and does once more for what it is
given. https://git-scm.com/docs/git-receive-pack#_quarantine_environment

The server judges, and no hook: only so can each ref have its own reason in the report
("protected branch hook declined"), where git's own hooks leave one fixed word for each
kind of hook. git gets the refs that are allowed, and its answer is completed with the
others; with `--atomic` it gets none if one is refused. A repository's own hooks are
git's business and run as ever, on what the rules allow.

https://git-scm.com/docs/gitprotocol-pack#_pushing_data_to_a_server
"""

import asyncio
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from aiohttp import StreamReader

from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused
from brat.forge.rest.git_http import FLUSH, HIDDEN, feed, git_process
from brat.forge.service.programs import git_environment
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Bare, Move
from tests.world.github_forge.rules import refusal_words as words
from tests.world.github_forge.rules.push_judge import Verdict
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement

_NOTHING: Final = "0" * 40
_BAND_DATA: Final = b"\1"
_BAND_WORDS: Final = b"\2"
_MOST_FRAME: Final = 65515
"""Bytes of one frame of side-band-64k, without its five of length and band."""
_MOST_COMMANDS: Final = 1 << 20


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
    offered: bytes
    """The capabilities as they came: git's, with side bands and reports."""
    shallow: tuple[bytes, ...] = ()
    """Lines about commits whose parents the sender does not have."""

    @property
    def is_atomic(self) -> bool:
        """Whether all refs are to move, or none."""
        return b"atomic" in self.offered.split()

    def encoded(self, leaving_out: Mapping[str, str]) -> bytes:
        """Write it again without some of its refs."""
        lines = [*self.shallow]
        kept = [each.line for each in self.commands if each.ref not in leaving_out]
        if kept:
            kept[0] += b"\0" + self.offered
        return b"".join(map(_packet, lines + kept)) + FLUSH

    def report(self, refused: Mapping[str, str], said: str) -> bytes:
        """Answer a push of which nothing is taken."""
        lines = [b"unpack ok\n", *_rejections(refused)]
        return _framed(said, b"".join(map(_packet, lines)) + FLUSH)

    def completed(self, body: bytes, refused: Mapping[str, str], said: str) -> bytes:
        """Add to git's own report on a push the refs that it never saw."""
        if not refused:
            return _banded(_BAND_WORDS, said.encode()) + body
        bands = list(_frames(body))
        report = b"".join(data for band, data in bands if band == _BAND_DATA)
        other = b"".join(
            _packet(band + data) for band, data in bands if band != _BAND_DATA
        )
        more = b"".join(map(_packet, _rejections(refused)))
        return other + _framed(said, report.removesuffix(FLUSH) + more + FLUSH)


async def read_head(stream: StreamReader) -> PushHead:
    """Read what a push asks for; its objects stay in the stream.

    Raises `Refused`: 400: it is not a push as git sends it.
    """
    read, shallow, commands, offered = 0, list[bytes](), list[Command](), b""
    try:
        while read < _MOST_COMMANDS:
            size = await stream.readexactly(4)
            if size == FLUSH:
                return PushHead(tuple(commands), offered, tuple(shallow))
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


def _framed(said: str, report: bytes) -> bytes:
    return _banded(_BAND_WORDS, said.encode()) + _banded(_BAND_DATA, report) + FLUSH


def _frames(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield band and data of each frame until the flush."""
    at = 0
    while at + 4 <= len(body) and body[at : at + 4] != FLUSH:
        size = int(body[at : at + 4], 16)
        yield body[at + 4 : at + 5], body[at + 5 : at + size]
        at += size


CHUNK: Final = 1 << 16
_HEADER: Final = 12
"""Bytes: `PACK`, its version, and how many objects it has."""


@dataclass(frozen=True, slots=True)
class IncomingPack:
    """What came with a push, on disk."""

    file: Path
    objects: Path | None
    """The folder of its objects; None: it brings none, or git cannot read them."""

    async def chunks(self) -> AsyncIterator[bytes]:
        with self.file.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


@asynccontextmanager
async def incoming_pack(
    bare: Bare, stream: StreamReader
) -> AsyncIterator[IncomingPack]:
    """Read a push to its end; what came is gone when the block ends."""
    with TemporaryDirectory(prefix="incoming-", dir=bare.path) as folder:
        file, objects = (_below(folder, name) for name in ("pack", "objects"))
        with file.open("wb") as spool:
            async for chunk in stream.iter_any():
                spool.write(chunk)
        is_read = False  # else receive-pack will say in its own words why
        if await asyncio.to_thread(_has_objects, file):
            objects.mkdir()
            is_read = await _is_indexed(bare.path, file, objects)
        yield IncomingPack(file, objects if is_read else None)


def _below(folder: str, name: str) -> Path:
    return Path(folder) / name


def _has_objects(file: Path) -> bool:
    with file.open("rb") as spool:
        return int.from_bytes(spool.read(_HEADER)[8:]) > 0


async def _is_indexed(bare: Path, file: Path, objects: Path) -> bool:
    """Index a pack in a folder of its own; say whether git could read it."""
    env = git_environment() | {
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(bare / "objects"),
    }
    with file.open("rb") as pack:
        process = await asyncio.create_subprocess_exec(
            *("git", "index-pack", "--stdin", "--fix-thin"),
            cwd=bare,
            stdin=pack,
            stdout=DEVNULL,
            stderr=DEVNULL,
            env=env,
        )
    return await process.wait() == 0


async def receive_pack(
    service: Service, caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    """Take a push as far as the rules allow, and return the answer.

    Raises `Refused`: 400: it is not a push.
    """
    head = await read_head(content)
    bare = service.forge.bare(repo)
    async with incoming_pack(bare, content) as pack, service.lock(repo):
        return await _taken(service, caller, repo, head, pack)


async def _taken(
    service: Service,
    caller: Caller,
    repo: Repository,
    head: PushHead,
    pack: IncomingPack,
) -> bytes:
    bare = service.forge.bare(repo)
    before = {each.ref: bare.ref(each.ref) for each in head.commands}
    asked = [Move(each.ref, before[each.ref], each.after) for each in head.commands]
    verdict = await RuleEnforcement(service).judge_push(
        repo, caller, asked, pack.objects
    )
    refused = _rejected(head, verdict)
    if refused.keys() >= before.keys() and asked:
        return head.report(refused, verdict.said)
    args = ("-c", HIDDEN, "receive-pack", "--stateless-rpc")
    async with git_process(*args, bare=bare.path) as process:
        assert process.stdout is not None
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(feed(process, _body(head, refused, pack)))
            body = await process.stdout.read()
    after = {name: bare.ref(name) for name in before}
    moves = [
        Move(name, before[name], after[name])
        for name in before
        if before[name] != after[name]
    ]
    if moves:
        service.settle(repo, caller.user, moves)
    return head.completed(body, refused, verdict.said)


def _rejected(head: PushHead, verdict: Verdict) -> dict[str, str]:
    """Return every ref that is not to be tried, with its reason."""
    refused = dict(verdict.refused)
    if refused and head.is_atomic:
        for each in head.commands:
            refused.setdefault(each.ref, words.ATOMIC)
    return refused


async def _body(
    head: PushHead, refused: Mapping[str, str], pack: IncomingPack
) -> AsyncIterator[bytes]:
    yield head.encoded(refused)
    async for chunk in pack.chunks():
        yield chunk
