"""Git's smart HTTP: clone, fetch and push, and what follows from a push.

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
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aiohttp import StreamReader, hdrs, web
from aiohttp.typedefs import Handler

from bot.repository.near_server import packet_of, packets
from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Extension, authenticate, visible
from brat.forge.service.programs import git_environment
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Bare, Move

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service

_log: Final = logging.getLogger(__name__)
CHUNK: Final = 1 << 16
_PATH: Final = r"/{owner}/{repo:[^/]+?}{suffix:(\.git)?}"
_PROTOCOL: Final = re.compile(r"[A-Za-z0-9=:._-]{1,200}")
_NO_CACHE: Final = {hdrs.CACHE_CONTROL: "no-cache, max-age=0, must-revalidate"}


FLUSH: Final = b"0000"


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


HIDDEN: Final = "receive.hideRefs=refs/pull"
"""Nobody pushes pull requests. https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferhideRefs"""
_NO_OTHERS: Final = "core.alternateRefsCommand=true"
"""Objects just taken in borrow from the repository itself, whose refs git knows.

It would list them in a process. https://git-scm.com/docs/git-receive-pack#_quarantine_environment
"""


async def receive_pack(
    service: "Service", caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    bare = service.forge.bare(repo)
    async with service.lock(repo):
        before = bare.refs()
        args = ("-c", HIDDEN, "-c", _NO_OTHERS, "receive-pack", "--stateless-rpc")
        async with git_process(*args, bare=bare.path) as process:
            assert process.stdout is not None  # noqa: S101  it is a pipe
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(feed(process, content.iter_any()))
                body = await process.stdout.read()
        after = bare.refs()
        moves = [
            Move(name, before.get(name), after.get(name))
            for name in {**before, **after}
            if before.get(name) != after.get(name)
        ]
        if moves:
            service.settle(repo, caller.user, moves)
    if process.returncode:
        raise Refused(400, "This is not a push.")
    return body


_ABLE: Final = re.compile(rb"\0([^\n]+)\n")


def _listed(refs: Mapping[str, str], able: bytes) -> bytes:
    """Return refs as `git receive-pack` lists them, the first with what git can do.

    https://git-scm.com/docs/gitprotocol-pack#_reference_discovery
    """
    named = [f"{at} {ref}" for ref, at in refs.items()]
    named = named or [f"{'0' * 40} capabilities^{{}}"]
    named[0] += f"\0{able.decode()}"
    return _lines(named)


_LS_REFS: Final = b"command=ls-refs"
_MOST_ASKED: Final = CHUNK
"""Bytes of a request for refs that are read before git reads the rest."""


def _asked(body: bytes) -> list[str] | None:
    """Return the lines of a whole request for refs; None: git is to read it.

    https://git-scm.com/docs/gitprotocol-v2#_ls_refs
    """
    if not (body[4:].startswith(_LS_REFS) and body.endswith(FLUSH)):
        return None
    try:
        return [line.decode(errors="replace").strip() for line in packets(body)]
    except ValueError:
        return None


def _told(bare: Bare, asked: Collection[str]) -> bytes | None:
    """Answer as `git upload-pack` does; None: a tag is to be peeled, which git does."""
    begins = tuple(
        each.removeprefix("ref-prefix ")
        for each in asked
        if each.startswith("ref-prefix ")
    )
    refs, head = bare.refs(), bare.head
    if "peel" in asked and any(
        name.startswith("refs/tags/") and name.startswith(begins or "") for name in refs
    ):
        return None
    shown = {"HEAD": refs[head]} | refs if head in refs else refs
    lines = [
        f"{at} {name}"
        + f" symref-target:{head}" * (name == "HEAD" and "symrefs" in asked)
        for name, at in shown.items()
        if name.startswith(begins or "")
    ]
    if head not in refs and "unborn" in asked and "HEAD".startswith(begins or ""):
        lines.insert(0, f"unborn HEAD symref-target:{head}")
    return _lines(lines)


def _lines(lines: Iterable[str]) -> bytes:
    return b"".join(packet_of(f"{line}\n") for line in lines) + FLUSH


def _protocol(request: web.Request) -> str:
    asked = request.headers.get("Git-Protocol", "")
    return asked if _PROTOCOL.fullmatch(asked) else ""


class GitHttp:
    def __init__(self, service: "Service", extension: Extension) -> None:
        self._service = service
        self._take = extension.receive or receive_pack
        self._permissions = extension.permissions
        self._advertised: dict[int, bytes] = {}
        self._able: dict[int, bytes] = {}
        """What git can do with a push to each repository."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(_PATH + "/info/refs", self._guarded(self._advertise)),
            web.post(_PATH + "/git-upload-pack", self._guarded(self._upload)),
            web.post(_PATH + "/git-receive-pack", self._guarded(self._receive)),
        ]

    def _guarded(self, endpoint: Handler) -> Handler:
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

    def _visit(self, request: web.Request, program: str) -> tuple[Caller, Repository]:
        caller = authenticate(self._service, request)
        names = request.match_info
        repo = visible(self._service, caller, f"{names['owner']}/{names['repo']}")
        access = caller.token.access
        level = "write" if program == "git-receive-pack" else "read"
        if access is not None and self._permissions is not None:
            self._permissions.check_git(access, level)
        if program == "git-receive-pack":
            if caller.token.scope == "read":
                raise Refused(403, "This token is read-only.")
            if not self._service.forge.may(repo, caller.user, "write"):
                raise Refused(403, f"{caller.user.login} may not push here.")
        return caller, repo

    async def _advertise(self, request: web.Request) -> web.Response:
        program = request.query.get("service", "")
        if program not in {"git-upload-pack", "git-receive-pack"}:
            raise Refused(403, "This forge supports only git's smart protocol.")
        _, repo = self._visit(request, program)
        bare, protocol = self._service.forge.bare(repo), _protocol(request)
        newer = program == "git-upload-pack" and "version=2" in protocol
        # With version 2 it lists what git can do and no ref: it never changes. Before a
        # push the refs are listed here, and after the first what git says it can do.
        body = self._advertised.get(repo.id) if newer else None
        able = self._able.get(repo.id) if program == "git-receive-pack" else None
        if able is not None:
            body = _listed(bare.refs(), able)
        if body is None:
            args = (
                *(program.removeprefix("git-"), "--stateless-rpc"),
                "--http-backend-info-refs",
            )
            asked = git_process(*args, bare=bare.path, protocol=protocol)
            async with asked as process:
                body, _ = await process.communicate()
            if newer:
                self._advertised[repo.id] = body
            elif program == "git-receive-pack" and (found := _ABLE.search(body)):
                self._able[repo.id] = found[1]
        head = b"" if newer else _lines([f"# service={program}"])
        return web.Response(
            body=head + body,
            headers=_NO_CACHE
            | {hdrs.CONTENT_TYPE: f"application/x-{program}-advertisement"},
        )

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        _, repo = self._visit(request, "git-upload-pack")
        bare, protocol = self._service.forge.bare(repo), _protocol(request)
        kind = {hdrs.CONTENT_TYPE: "application/x-git-upload-pack-result"}
        first = await request.content.readany()
        if "version=2" in protocol and first[4:].startswith(_LS_REFS):
            while len(first) < _MOST_ASKED and not request.content.at_eof():
                first += await request.content.readany()
            asked = _asked(first)
            told = None if asked is None else _told(bare, asked)
            if told is not None:
                return web.Response(body=told, headers=_NO_CACHE | kind)
        answer = web.StreamResponse(headers=_NO_CACHE | kind)
        await answer.prepare(request)
        try:
            args = ("upload-pack", "--stateless-rpc")
            served = git_process(*args, bare=bare.path, protocol=protocol)
            async with served as process, asyncio.TaskGroup() as tasks:
                tasks.create_task(feed(process, whole_body(first, request.content)))
                assert process.stdout is not None  # noqa: S101  it is a pipe
                while chunk := await process.stdout.read(CHUNK):
                    await answer.write(chunk)
            await answer.write_eof()
        except* ConnectionResetError:
            _log.info("a client hung up while fetching from %s", repo.full_name)
        return answer

    async def _receive(self, request: web.Request) -> web.Response:
        caller, repo = self._visit(request, "git-receive-pack")
        body = await self._take(self._service, caller, repo, request.content)
        return web.Response(
            body=body,
            headers=_NO_CACHE
            | {hdrs.CONTENT_TYPE: "application/x-git-receive-pack-result"},
        )
