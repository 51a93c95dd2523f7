"""Pushes: `git receive-pack` takes them, and what must follow from a moved ref does."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Final

from aiohttp import StreamReader

from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.git_process import feed, git_process
from brat.forge.storage.git_storage import Move
from brat.forge.storage.token_store import Caller
from brat.forge.wire.http_refusals import Refused

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service

Receive = Callable[["Service", Caller, Repository, StreamReader], Awaitable[bytes]]
"""Takes a push and returns the answer; raises `Refused` if it is none."""
HIDDEN: Final = "receive.hideRefs=refs/pull"
"""Nobody pushes pull requests. https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferhideRefs"""
FLUSH: Final = b"0000"
MOST_COMMANDS: Final = 1 << 20
"""Bytes of ref commands in one push."""
_COMMAND: Final = re.compile(rb"[0-9a-f]{40} [0-9a-f]{40} ([^\0\n]+)")


async def receive_pack(
    service: "Service", caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    """Take a push, and return git's answer.

    Raises:
        Refused: 400: it is not a push.
    """
    head, names = await _head(content)
    bare = service.forge.bare(repo)

    async def whole() -> AsyncIterator[bytes]:
        yield head
        async for chunk in content.iter_any():
            yield chunk

    async with service.lock(repo):
        before = {name: bare.ref(name) for name in names}
        args = ("-c", HIDDEN, "receive-pack", "--stateless-rpc")
        async with git_process(*args, bare=bare.path) as process:
            assert process.stdout is not None  # noqa: S101  it is a pipe
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(feed(process, whole()))
                body = await process.stdout.read()
        after = {name: bare.ref(name) for name in names}
        moves = [
            Move(name, before[name], after[name])
            for name in names
            if before[name] != after[name]
        ]
        if moves:
            service.pushes.settle(repo, caller.user, moves)
    return body


async def _head(content: StreamReader) -> tuple[bytes, list[str]]:
    """Read what comes before the objects, and which refs it names."""
    head, names = bytearray(), list[str]()
    try:
        while (size := await content.readexactly(4)) != FLUSH:
            line = await content.readexactly(int(size, 16) - 4)
            head += size + line
            if len(head) > MOST_COMMANDS:
                raise Refused(400, "These are too many refs for one push.")
            if found := _COMMAND.match(line):
                names.append(found[1].decode())
    except (EOFError, ValueError) as error:
        raise Refused(400, "This is not a push.") from error
    return bytes(head + FLUSH), names
