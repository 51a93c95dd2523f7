"""Pushes: judged by the repository's rules, then handed to `git receive-pack`.

The server judges, and no hook: only so can each ref have its own reason in the report
("protected branch hook declined"), where git's own hooks leave one fixed word for each
kind of hook. git gets the refs that are allowed, and its answer is completed with the
others; with `--atomic` it gets none if one is refused. A repository's own hooks are
git's business and run as ever, on what the rules allow.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

from aiohttp import StreamReader

from brat.forge.resources.account_resource import Repository
from brat.forge.rest.git_process import HIDDEN, feed, git_process
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules import refusal_words as words
from tests.world.github_forge.rules.incoming_pack import IncomingPack, incoming_pack
from tests.world.github_forge.rules.push_judge import Verdict
from tests.world.github_forge.rules.push_protocol import PushHead, read_head
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.rules.rule_tables import rules_in

_UNREAD: Final = "index-pack abnormal exit"


async def receive_pack(
    service: Service, caller: Caller, repo: Repository, content: StreamReader
) -> bytes:
    """Take a push as far as the rules allow, and return the answer.

    Raises:
        Refused: 400: it is not a push.
    """
    head = await read_head(content)
    bare = service.forge.bare(repo)
    most = rules_in(service.forge.store).limits(repo).pack_bytes
    async with incoming_pack(bare, content, most) as pack:
        if pack.size > most:
            failed = {each.ref: "failed" for each in head.commands}
            return head.report(failed, words.large_pack(most), _UNREAD)
        async with service.lock(repo):
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
