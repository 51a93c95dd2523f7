"""Delivers webhook payloads to the addresses of a repository's hooks, in background.

Headers, signature and the ten seconds a receiver has are GitHub's; nothing is tried
twice by itself. What was waiting when the forge died is sent when it starts again.
https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import asyncio
import hashlib
import hmac
import zlib
from collections.abc import Callable
from datetime import timedelta
from itertools import takewhile
from typing import Any, Final
from uuid import uuid4

import aiohttp
import pygit2
from msgspec import json
from msgspec.structs import replace
from pygit2.enums import DeltaStatus

from brat.forge.resources import run_resource
from brat.forge.resources.account_resource import (
    Delivery,
    Hook,
    Payload,
    Repository,
    User,
)
from brat.forge.resources.issue_resource import Comment, Issue, Label, Pull
from brat.forge.resources.run_resource import CheckRun, Run, simple_commit
from brat.forge.resources.wire import Site, iso, parse
from brat.forge.service.renderer import ForgeContext, Renderer, signature
from brat.forge.storage.git_storage import Bare, Move
from brat.forge.storage.record_store import Store

Kind = tuple[str, str | None]
"""An event and its action."""
Hear = Callable[[Repository, User, Kind, dict[str, Any]], None]
_STEPS = {"requested": "queued"}
"""What happens to a job where something else is said of its run."""


class Events:
    """Announces what changed to a repository's webhooks.

    Called inside `Store.change`, so that a change and its deliveries are kept together.
    """

    def __init__(self, context: ForgeContext, renderer: Renderer) -> None:
        self._context = context
        self._forge = context.forge
        self.renderer = renderer
        self.heard_by: list[Hear] = []
        """Each is called in turn, inside the same `Store.change`."""

    @property
    def store(self) -> Store:
        """The forge's records."""
        return self._forge.store

    def issue(
        self,
        repo: Repository,
        actor: User,
        action: str,
        issue: Issue,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """An issue was opened, edited, closed or reopened; pulls are left out."""
        if not issue.pull:
            body = {"issue": self.renderer.issue(repo, issue)} | more
            self.send(repo, actor, ("issues", action), body)

    def labelled(
        self, repo: Repository, actor: User, action: str, found: tuple[Issue, Label]
    ) -> None:
        """A label was put on or taken off."""
        issue, label = found
        face = self.renderer.label(repo, label)
        self.either(repo, actor, action, issue, label=face)

    def either(
        self,
        repo: Repository,
        actor: User,
        action: str,
        issue: Issue,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """What issues and pull requests have in common was changed."""
        pull = self.store.pulls.get(issue.id)
        if pull is not None:
            self.pull(repo, actor, action, pull, **more)
        else:
            self.issue(repo, actor, action, issue, **more)

    def comment(
        self,
        repo: Repository,
        actor: User,
        action: str,
        found: tuple[Issue, Comment],
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """A comment was created, edited or deleted."""
        issue, comment = found
        body = {
            "issue": self.renderer.issue(repo, issue),
            "comment": self.renderer.comment(repo, comment),
        }
        self.send(repo, actor, ("issue_comment", action), body | more)

    def pull(
        self,
        repo: Repository,
        actor: User,
        action: str,
        pull: Pull,
        **more: Any,  # noqa: ANN401  JSON
    ) -> None:
        """A pull request was opened, closed, reopened, edited, or its head moved."""
        body = {
            "number": pull.number,
            "pull_request": self.renderer.announced_pull(repo, pull),
        }
        self.send(repo, actor, ("pull_request", action), body | more)

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved, came or went; other refs are not told of."""
        if not told(move.ref):
            return
        found = (repo, self._forge.bare(repo))
        body = push(self._context.site, found, actor, move)
        self.send(repo, actor, ("push", None), body)
        also = coming_or_going(repo, move)
        if also is not None:
            event, body = also
            self.send(repo, actor, (event, None), body)

    def check_run(
        self,
        repo: Repository,
        actor: User,
        action: str,
        check: CheckRun,
        pressed: str = "",
    ) -> None:
        """A check run was created or completed, or somebody pressed its button."""
        body: dict[str, Any] = {"check_run": self.renderer.check_run(repo, check)}
        if pressed:
            body["requested_action"] = {"identifier": pressed}
        self.send(repo, actor, ("check_run", action), body)

    def run(self, repo: Repository, actor: User, action: str, run: Run) -> None:
        """A workflow run was requested, is in progress, or completed; so is its job."""
        body = {
            "workflow_run": self.renderer.run(repo, run),
            "workflow": run_resource.workflow(self._context.site, repo, run.path),
        }
        self.send(repo, actor, ("workflow_run", action), body)
        job = run_resource.job(self._context.site, repo, run, None)
        step = _STEPS.get(action, action)
        self.send(repo, actor, ("workflow_job", step), {"workflow_job": job})

    def send(
        self, repo: Repository, actor: User, kind: Kind, body: dict[str, Any]
    ) -> None:
        """Something happened: tell it as `body`, with what every payload has."""
        action = kind[1]
        common: dict[str, Any] = {
            "repository": self.renderer.repository(repo),
            "sender": self.renderer.user(actor),
        }
        if action is not None:
            common["action"] = action
        for hear in self.heard_by:
            hear(repo, actor, kind, body | common)


DEADLINE_S: Final = 10.0
KEPT: Final = 500
"""How many deliveries of one hook are kept."""
KEPT_FOR: Final = timedelta(days=3)
"""https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries"""
CARRIERS: Final = 4
"""How many deliveries are under way at once: a dead receiver may hold up only them."""

PRESSED: Final = frozenset(
    {("check_run", "rerequested"), ("check_run", "requested_action")}
)
"""What only the App hears that made the check."""


def body_signature(secret: str, body: bytes) -> str:
    """Return the value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class WebhookSender:
    """Takes payloads, keeps them, and delivers them."""

    def __init__(self, context: ForgeContext) -> None:
        self._context = context
        self._store = context.forge.store
        # Unbounded, but an entry is only a number, and a hook keeps KEPT deliveries.
        self._waiting: asyncio.Queue[int] = asyncio.Queue()

    def start(self) -> None:
        """Begin to deliver, starting with the deliveries an earlier process left."""
        for delivery in self._store.deliveries.all():
            if delivery.pending:
                self._waiting.put_nowait(delivery.id)
        for place in range(CARRIERS):
            self._context.spawn(self._carry(), f"carrier {place}")

    def post(
        self, repo: Repository, _actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        """Keep a payload for each hook that wants it; only inside `Store.change`.

        That a check's button was pressed, only the App hears that made it.
        https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
        """
        if kind in PRESSED:
            return
        for hook in self._store.hooks.of(repo.id):
            self.send(hook, repo, kind, payload)

    def send(
        self,
        hook: Hook,
        repo: Repository,
        kind: Kind,
        payload: dict[str, Any],
        *,
        installation: int | None = None,
    ) -> None:
        """Keep a payload that the hook wants; only inside `Store.change`."""
        event, action = kind
        if hook.active and {event, "*"} & {*hook.events}:
            like = Delivery(
                id=self._store.next_id(),
                hook=hook.id,
                repo=repo.id,
                guid=str(uuid4()),
                event=event,
                action=action,
                installation=installation,
                created_at=self._context.forge.now(),
            )
            self.keep(like, json.encode(payload))

    def keep(self, delivery: Delivery, body: bytes) -> None:
        """Keep a payload and deliver it; only inside `Store.change`."""
        packed = zlib.compress(body)
        payload = Payload(id=delivery.id, hook=delivery.hook, packed=packed)
        self._store.payloads.put(payload)
        self._store.deliveries.put(delivery)
        self._waiting.put_nowait(delivery.id)
        kept = self._store.deliveries.of(delivery.hook)
        since = iso(parse(self._context.forge.now()) - KEPT_FOR)
        late = takewhile(lambda one: one.created_at < since, kept)
        for old in {one.id: one for one in (*kept[:-KEPT], *late)}.values():
            self._store.deliveries.remove(old)
            if (carried := self._store.payloads.get(old.id)) is not None:
                self._store.payloads.remove(carried)

    async def _carry(self) -> None:
        limit = aiohttp.ClientTimeout(total=DEADLINE_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                number = await self._waiting.get()
                delivery = self._store.deliveries.get(number)
                payload = self._store.payloads.get(number)
                hook = self._store.hooks.get(delivery.hook) if delivery else None
                if delivery and payload and hook:
                    await self._deliver(session, (hook, delivery), payload.data)

    async def _deliver(
        self, session: aiohttp.ClientSession, found: tuple[Hook, Delivery], body: bytes
    ) -> None:
        hook, delivery = found
        started = asyncio.get_running_loop().time()
        status, code = "OK", 0
        try:
            async with session.post(
                hook.url, data=body, headers=_headers(hook, delivery, body)
            ) as answer:
                code = answer.status
                status = answer.reason or str(code)
        except TimeoutError:
            status = "timed out"
        except aiohttp.ClientError:
            status = "failed to connect to host"
        took = asyncio.get_running_loop().time() - started
        if self._store.deliveries.get(delivery.id) is None:
            return  # pushed out by newer ones in the meantime
        with self._store.change():
            self._store.deliveries.put(
                replace(
                    delivery,
                    pending=False,
                    status=status,
                    status_code=code,
                    duration_s=round(took, 3),
                )
            )


def _headers(hook: Hook, delivery: Delivery, body: bytes) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/brat",
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Hook-ID": str(hook.id),
        "X-GitHub-Hook-Installation-Target-Type": "repository"
        if hook.repo == delivery.repo
        else "integration",
        "X-GitHub-Hook-Installation-Target-ID": str(hook.repo),
    }
    if hook.secret:
        headers["X-Hub-Signature-256"] = body_signature(hook.secret, body)
    return headers


NO_COMMIT = "0" * 40
MOST_COMMITS = 2048
MOST_WITH_FILES = 100
"""Of how many commits, the newest, the files are told: each takes a millisecond."""
_KINDS = {"refs/heads/": "branch", "refs/tags/": "tag"}
_LISTS = {DeltaStatus.ADDED: "added", DeltaStatus.DELETED: "removed"}


def told(ref: str) -> bool:
    """Say whether webhooks hear of a ref: only branches and tags, as on GitHub."""
    return ref.startswith(tuple(_KINDS))


def push(
    site: Site, found: tuple[Repository, Bare], actor: User, move: Move
) -> dict[str, Any]:
    """A push, for one of the refs that it moved."""
    repo, bare = found
    before, after = move.before, move.after
    head = bare.commit(after) if after else None
    news = bare.news(move.ref, str(head.id)) if head is not None else []
    pushed = news
    if head is not None and before and bare.commit(before):
        pushed = bare.between(before, str(head.id))
    distinct = {one.id for one in news}
    with_files = {one.id for one in pushed[-MOST_WITH_FILES:]}

    def shown(one: pygit2.Commit) -> dict[str, Any]:
        where = site.page(repo.full_name, "commit", one.id)
        face = simple_commit(one) | {"url": where, "distinct": one.id in distinct}
        return face | (_files(one) if one.id in with_files else {})

    span = f"{before[:12]}...{after[:12]}" if before and after else str(after)
    return {
        "ref": move.ref,
        "before": before or NO_COMMIT,
        "after": after or NO_COMMIT,
        "created": before is None,
        "deleted": after is None,
        "forced": bool(before and after and not bare.reaches(after, before)),
        "base_ref": None,
        "compare": site.page(repo.full_name, "compare", span),
        "commits": [shown(one) for one in pushed[-MOST_COMMITS:]],
        "head_commit": shown(head) | _files(head) if head is not None else None,
        "pusher": {"name": actor.login, "email": signature(actor).email},
    }


def _files(one: pygit2.Commit) -> dict[str, list[str]]:
    """Return the files that a commit touches, beside its first parent."""
    lists: dict[str, list[str]] = {"added": [], "removed": [], "modified": []}
    if one.parents:
        change = one.parents[0].tree.diff_to_tree(one.tree)
    else:
        change = one.tree.diff_to_tree(swap=True)
    for delta in change.deltas:
        lists[_LISTS.get(delta.status, "modified")].append(delta.new_file.path)
    return lists


def coming_or_going(repo: Repository, move: Move) -> tuple[str, dict[str, Any]] | None:
    """The event `create` or `delete` of a branch or tag; None: it only moved."""
    for folder, kind in _KINDS.items():
        if move.ref.startswith(folder) and None in {move.before, move.after}:
            name = move.ref.removeprefix(folder)
            body = {"ref": name, "ref_type": kind, "pusher_type": "user"}
            if move.after is None:
                return "delete", body
            default, said = repo.default_branch, repo.description
            return "create", body | {"master_branch": default, "description": said}
    return None
