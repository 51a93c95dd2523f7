"""Git's smart HTTP: clone, fetch and push against the bare repositories.

`git upload-pack` and `git receive-pack` are run directly, which saves the processes of
git's own CGI program. aiohttp has already decompressed what clients send, so nothing
may say to git that it is compressed. https://git-scm.com/docs/http-protocol
"""

import asyncio
import contextlib
import logging
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiohttp import StreamReader, hdrs, web

from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.request_gate import authenticate, visible
from brat.forge.rest.token_permissions import grants
from brat.forge.service.programs import git_environment
from brat.forge.storage.git_storage import Move
from brat.forge.storage.token_store import Caller
from brat.forge.wire.http_refusals import Refused

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service

_log: Final = logging.getLogger(__name__)
CHUNK: Final = 1 << 16
FLUSH: Final = b"0000"
MOST_COMMANDS: Final = 1 << 20
"""Bytes of ref commands in one push."""
_PATH: Final = r"/{owner}/{repo:[^/]+?}{suffix:(\.git)?}"
_PROTOCOL: Final = re.compile(r"[A-Za-z0-9=:._-]{1,200}")
_V2: Final = "version=2"
_NO_CACHE: Final = {hdrs.CACHE_CONTROL: "no-cache, max-age=0, must-revalidate"}


_Endpoint = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class _Visit:
    """Who wants to do what to which repository."""

    caller: Caller
    repo: Repository
    protocol: str


class GitHttp:
    """The endpoints of the git protocol."""

    def __init__(self, service: "Service") -> None:
        """Serve the repositories of `service`."""
        self._service = service
        self._advertised: dict[int, bytes] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, below the forge's own address."""
        return [
            web.get(_PATH + "/info/refs", self._guarded(self._advertise)),
            web.post(_PATH + "/git-upload-pack", self._guarded(self._upload)),
            web.post(_PATH + "/git-receive-pack", self._guarded(self._receive)),
        ]

    def _guarded(self, endpoint: _Endpoint) -> _Endpoint:
        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                return await endpoint(request)
            except Refused as refused:
                headers = {}
                if refused.status == web.HTTPUnauthorized.status_code:
                    headers[hdrs.WWW_AUTHENTICATE] = 'Basic realm="brat forge"'
                return web.Response(
                    status=refused.status, text=refused.message + "\n", headers=headers
                )

        return answer

    def _visit(self, request: web.Request, program: str) -> _Visit:
        caller = authenticate(self._service, request)
        names = request.match_info
        repo = visible(self._service, caller, f"{names['owner']}/{names['repo']}")
        access = caller.token.access
        level = "write" if program == "git-receive-pack" else "read"
        if access is not None and not grants(access, "contents", level):
            raise Refused(403, f"This token may not {level} contents.")
        if program == "git-receive-pack":
            if caller.token.scope == "read":
                raise Refused(403, "This token may only read.")
            if not self._service.forge.may(repo, caller.user, "write"):
                raise Refused(403, f"{caller.user.login} may not push here.")
        protocol = request.headers.get("Git-Protocol", "")
        if not _PROTOCOL.fullmatch(protocol):
            protocol = ""
        return _Visit(caller, repo, protocol)

    async def _advertise(self, request: web.Request) -> web.Response:
        program = request.query.get("service", "")
        if program not in {"git-upload-pack", "git-receive-pack"}:
            raise Refused(403, "This forge speaks git's smart protocol only.")
        visit = self._visit(request, program)
        newer = program == "git-upload-pack" and _V2 in visit.protocol
        # With version 2 it lists what git can do and no ref: it never changes.
        body = self._advertised.get(visit.repo.id) if newer else None
        if body is None:
            args = ("--http-backend-info-refs",)
            async with self._program(visit, program, args) as process:
                body, _ = await process.communicate()
            if newer:
                self._advertised[visit.repo.id] = body
        line = f"# service={program}\n".encode()
        head = b"" if newer else b"%04x" % (len(line) + 4) + line + FLUSH
        return web.Response(
            body=head + body,
            headers=_NO_CACHE
            | {hdrs.CONTENT_TYPE: f"application/x-{program}-advertisement"},
        )

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        visit = self._visit(request, "git-upload-pack")
        answer = web.StreamResponse(
            headers=_NO_CACHE
            | {hdrs.CONTENT_TYPE: "application/x-git-upload-pack-result"}
        )
        await answer.prepare(request)
        try:
            async with (
                self._program(visit, "git-upload-pack") as process,
                asyncio.TaskGroup() as tasks,
            ):
                tasks.create_task(_feed(process, request, b""))
                assert process.stdout is not None  # noqa: S101  it is a pipe
                while chunk := await process.stdout.read(CHUNK):
                    await answer.write(chunk)
            await answer.write_eof()
        except* ConnectionResetError:
            _log.info("a client left while it fetched from %s", visit.repo.full_name)
        return answer

    async def _receive(self, request: web.Request) -> web.Response:
        visit = self._visit(request, "git-receive-pack")
        commands, names = await _commands(request.content)
        bare = self._service.forge.bare(visit.repo)
        async with self._service.lock(visit.repo):
            before = {name: bare.ref(name) for name in names}
            async with self._program(visit, "git-receive-pack") as process:
                body = await _exchange(process, request, commands)
            after = {name: bare.ref(name) for name in names}
            moves = [
                Move(name, before[name], after[name])
                for name in names
                if before[name] != after[name]
            ]
            if moves:
                self._service.pushes.settle(visit.repo, visit.caller.user, moves)
        return web.Response(
            body=body,
            headers=_NO_CACHE
            | {hdrs.CONTENT_TYPE: "application/x-git-receive-pack-result"},
        )

    @asynccontextmanager
    async def _program(
        self, visit: _Visit, program: str, args: tuple[str, ...] = ()
    ) -> AsyncIterator[Process]:
        """Run one of git's servers; it is gone when the block ends."""
        path = self._service.forge.bare(visit.repo).path
        env = git_environment()
        if visit.protocol:
            env["GIT_PROTOCOL"] = visit.protocol
        process = await asyncio.create_subprocess_exec(
            "git",
            program.removeprefix("git-"),
            "--stateless-rpc",
            *args,
            str(path),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=env,
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


async def _commands(stream: StreamReader) -> tuple[bytes, list[str]]:
    """Read the part of a push that names the refs.

    Returns the bytes as they came, and the refs.

    Raises:
        Refused: 400: it is not a push.
    """
    read, names = b"", list[str]()
    try:
        while len(read) < MOST_COMMANDS:
            size = await stream.readexactly(4)
            read += size
            if size == FLUSH:
                return read, names
            line = await stream.readexactly(int(size, 16) - 4)
            read += line
            words = line.split(b"\0")[0].decode().split(maxsplit=2)
            if len(words) == 3:  # noqa: PLR2004  old, new, ref; "shallow" has two
                names.append(words[2].strip())
    except (asyncio.IncompleteReadError, ValueError):
        pass
    raise Refused(400, "This is not a push as git sends it.")


async def _feed(process: Process, request: web.Request, first: bytes) -> None:
    """Hand a request's body to git, as fast as git takes it."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        if first:
            process.stdin.write(first)
        async for chunk in request.content.iter_any():
            process.stdin.write(chunk)
            await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # git ended before it had read everything, and its answer says why; or the
        # client left, and git finds that its input breaks off.
        _log.info("%s was cut short", request.path)
    finally:
        process.stdin.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.wait_closed()


async def _exchange(process: Process, request: web.Request, first: bytes) -> bytes:
    """Hand everything to git and return all it answers."""
    assert process.stdout is not None  # noqa: S101  it is a pipe
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_feed(process, request, first))
        body = await process.stdout.read()
    await process.wait()
    return body
