"""git's servers as processes that HTTP requests feed, and what follows from a push."""

import asyncio
import contextlib
import logging
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiohttp import StreamReader

from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused
from brat.forge.service.programs import git_environment
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service


_log: Final = logging.getLogger(__name__)


@asynccontextmanager
async def git_process(
    *args: str, bare: Path, protocol: str = ""
) -> AsyncIterator[Process]:
    """Run `git ARGS` on a bare repository; it is gone when the block ends."""
    env = git_environment()
    if protocol:
        env["GIT_PROTOCOL"] = protocol
    process = await asyncio.create_subprocess_exec(
        "git", *args, str(bare), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=env
    )
    try:
        yield process
    except BaseException:
        # Not `process.terminate()`: that reaps, and asyncio's own watcher then
        # finds nobody. Not SIGKILL: git is to remove its lock files.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
        raise
    finally:
        # Reading to the end lets the transport close its pipes.
        await process.communicate()


async def feed(process: Process, chunks: AsyncIterator[bytes]) -> None:
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        async for chunk in chunks:
            process.stdin.write(chunk)
            await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # git ended before it had read everything, and its answer says why; or the
        # client left, and git finds that its input breaks off.
        _log.info("git's input was cut short")
    finally:
        process.stdin.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.wait_closed()


async def whole_body(first: bytes, content: StreamReader) -> AsyncIterator[bytes]:
    """Yield what was read of a body, and then the rest of it."""
    if first:
        yield first
    async for chunk in content.iter_any():
        yield chunk


Receive = Callable[["Service", Caller, Repository, StreamReader], Awaitable[bytes]]
"""Takes a push and returns the answer; raises `Refused` if it is none."""
HIDDEN: Final = "receive.hideRefs=refs/pull"
"""Nobody pushes pull requests. https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferhideRefs"""
_NO_OTHERS: Final = "core.alternateRefsCommand=true"
"""Objects just taken in borrow from the repository itself, whose refs git knows.

It would list them in a process. https://git-scm.com/docs/git-receive-pack#_quarantine_environment
"""
FLUSH: Final = b"0000"
MOST_COMMANDS: Final = 1 << 20
"""Bytes of ref commands in one push."""
_COMMAND: Final = re.compile(rb"[0-9a-f]{40} [0-9a-f]{40} ([^\0\n]+)")


async def receive_pack(
    service: "Service", caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    head, names = await _head(content)
    bare = service.forge.bare(repo)

    async with service.lock(repo):
        before = {name: bare.ref(name) for name in names}
        settings = ("-c", HIDDEN, "-c", _NO_OTHERS)
        args = (*settings, "receive-pack", "--stateless-rpc")
        async with git_process(*args, bare=bare.path) as process:
            assert process.stdout is not None  # noqa: S101  it is a pipe
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(feed(process, whole_body(head, content)))
                body = await process.stdout.read()
        after = {name: bare.ref(name) for name in names}
        moves = [
            Move(name, before[name], after[name])
            for name in names
            if before[name] != after[name]
        ]
        if moves:
            service.settle(repo, caller.user, moves)
    return body


async def _head(content: StreamReader) -> tuple[bytes, list[str]]:
    """Read what comes before the objects, and which refs it names."""
    head, names = bytearray(), list[str]()
    try:
        while (size := await content.readexactly(4)) != FLUSH:
            line = await content.readexactly(int(size, 16) - 4)
            head += size + line
            if len(head) > MOST_COMMANDS:
                raise Refused(400, "Too many refs for one push.")
            if found := _COMMAND.match(line):
                names.append(found[1].decode())
    except (EOFError, ValueError) as error:
        raise Refused(400, "This is not a push.") from error
    return bytes(head + FLUSH), names
