"""Pushes: judged by the repository's rules, then handed to `git receive-pack`.

The server judges, and no hook: only so can each ref have its own reason in the report
("protected branch hook declined"), where git's own hooks leave one fixed word for each
kind of hook. git gets the refs that are allowed, and its answer is completed with the
others; with `--atomic` it gets none if one is refused. A repository's own hooks are
git's business and run as ever, on what the rules allow.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final

from aiohttp import web

from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.git_process import feed, git_process
from brat.forge.rest.incoming_pack import IncomingPack, incoming_pack
from brat.forge.rest.push_protocol import PushHead, read_head
from brat.forge.service import refusal_words as words
from brat.forge.service.push_judge import Verdict
from brat.forge.storage.git_storage import Move
from brat.forge.storage.token_store import Caller

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service

_UNREAD: Final = "index-pack abnormal exit"
_HIDDEN: Final = "receive.hideRefs=refs/pull"
"""Nobody pushes pull requests. https://git-scm.com/docs/git-config#Documentation/git-config.txt-transferhideRefs"""


async def receive_pack(
    service: "Service", caller: Caller, repo: Repository, request: web.Request
) -> bytes:
    """Take a push as far as the rules allow, and return the answer.

    Raises:
        Refused: 400: it is not a push.
    """
    head = await read_head(request.content)
    bare = service.forge.bare(repo)
    most = repo.settings.limits.pack_bytes
    async with incoming_pack(bare, request.content, most) as pack:
        if pack.size > most:
            failed = {each.ref: "failed" for each in head.commands}
            return head.report(failed, words.large_pack(most), _UNREAD)
        async with service.lock(repo):
            return await _taken(service, caller, repo, head, pack)


async def _taken(
    service: "Service",
    caller: Caller,
    repo: Repository,
    head: PushHead,
    pack: IncomingPack,
) -> bytes:
    bare = service.forge.bare(repo)
    before = {each.ref: bare.ref(each.ref) for each in head.commands}
    asked = [Move(each.ref, before[each.ref], each.after) for each in head.commands]
    verdict = await service.rules.judge_push(repo, caller, asked, pack.objects)
    refused = _rejected(head, verdict)
    if refused.keys() >= before.keys() and asked:
        return head.report(refused, verdict.said)
    args = ("-c", _HIDDEN, "receive-pack", "--stateless-rpc")
    async with git_process(*args, bare=bare.path) as process:
        assert process.stdout is not None  # noqa: S101  it is a pipe
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
        service.pushes.settle(repo, caller.user, moves)
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
