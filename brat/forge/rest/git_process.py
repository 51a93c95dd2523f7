"""One of git's servers as a process, fed by an HTTP request."""

import asyncio
import contextlib
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from brat.forge.service.programs import git_environment

_log: Final = logging.getLogger(__name__)


@asynccontextmanager
async def git_process(
    *args: str, bare: Path, protocol: str = ""
) -> AsyncIterator[Process]:
    """Run `git ARGS` on a bare repository; it is gone when the block ends.

    Args:
        args: the program and its options, without the repository.
        bare: the repository.
        protocol: what the client said of versions, for GIT_PROTOCOL.
    """
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
    """Hand bytes to git, as fast as git takes them."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        async for chunk in chunks:
            process.stdin.write(chunk)
            await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # git ended before it had read everything, and its answer says why; or the
        # client left, and git finds that its input breaks off.
        _log.info("what git was given was cut short")
    finally:
        process.stdin.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.wait_closed()
