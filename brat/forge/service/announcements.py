"""Records as callers see them, and the webhooks that tell of their changes.

An answer has the fields that brat reads, by GitHub's names; webhooks show the same. A
delivery is a hint: it is tried once, and what is lost the receiver's next look finds.
https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import asyncio
import hashlib
import hmac
from collections import defaultdict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import aiohttp
from msgspec import json

from brat.forge.resources.forge_records import (
    EPOCH,
    JOB_NAME,
    Artifact,
    CheckRun,
    Comment,
    Hook,
    Issue,
    IssueEvent,
    Label,
    Pull,
    Reaction,
    Repository,
    Run,
    User,
    app_number,
)
from brat.forge.resources.wire import Site, fields
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Move

Face = dict[str, Any]
"""A record as JSON."""
Kind = tuple[str, str | None]
"""An event and its action."""
About = Issue | Comment | Pull | CheckRun | Run
Hear = Callable[[Repository, User, Kind, Face], None]
GHOST: Final = User(id=10137, login="ghost", kind="User", created_at=EPOCH)
"""The account that stands in for deleted accounts."""


class ForgeContext:
    """A forge's state, where it is reached, and what runs in the background."""

    def __init__(self, forge: Forge, tasks: asyncio.TaskGroup) -> None:
        self.forge = forge
        self.site = Site()
        self.renderer = Renderer(self)
        self.events = Events(self)
        self._tasks = tasks
        self._running: set[asyncio.Task[object]] = set()
        self._locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, repo: Repository) -> asyncio.Lock:
        """The lock under which refs of a repository move."""
        return self._locks[repo.id]

    def spawn(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Run something in the background until it ends or the forge stops."""
        task = self._tasks.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def stop(self) -> None:
        """End all background work; workflow runs live on. Safe to call twice."""
        for task in self._running:
            task.cancel()


class Renderer:
    def __init__(self, context: ForgeContext) -> None:
        self._context = context
        self._forge = context.forge
        self._store = context.forge.store

    def who(self, number: int | None) -> User:
        known = self._store.users.get(number) if number is not None else None
        return known or GHOST

    def owner(self, repo: Repository) -> User:
        return self._forge.user(repo.owner) or GHOST

    def user(self, who: User) -> Face:
        return {"login": who.login, "id": who.id, "type": who.kind}

    def repository(self, repo: Repository) -> object:
        shown = fields(repo, "id name full_name private archived default_branch")
        page = self._context.site.page(repo.full_name)
        return shown | {"owner": self.user(self.owner(repo)), "html_url": page}

    # --- issues and pull requests ---------------------------------------------------

    def labels(self, one: Issue) -> tuple[Label, ...]:
        known = (self._store.labels.get(number) for number in one.labels)
        return tuple(label for label in known if label is not None)

    def label(self, _: Repository, one: Label) -> Face:
        return fields(one, "id name color description")

    def issue(self, repo: Repository, one: Issue) -> Face:
        site, name = self._context.site, repo.full_name
        shape = {
            **fields(one, "id number title body state state_reason locked comments"),
            **fields(one, "created_at updated_at"),
            "closed_at": one.closed_at,
            "closed_by": self.user(self.who(one.closed_by)) if one.closed_by else None,
            "url": f"{site.repo(name)}/issues/{one.number}",
            "repository_url": site.repo(name),
            "html_url": site.page(name, "pull" if one.pull else "issues", one.number),
            "user": self.user(self.who(one.author)),
            "labels": [self.label(repo, each) for each in self.labels(one)],
            "assignees": [self.user(self.who(number)) for number in one.assignees],
        }
        if one.pull:
            url = f"{site.repo(name)}/pulls/{one.number}"
            shape["pull_request"] = {"url": url, "html_url": shape["html_url"]}
        return shape

    def comment(self, repo: Repository, one: Comment) -> Face:
        site, name = self._context.site, repo.full_name
        issue = self._store.issues.get(one.issue)
        kind = "pull" if issue is not None and issue.pull else "issues"
        api = f"{site.repo(name)}/issues"
        return {
            **fields(one, "id body created_at updated_at"),
            "node_id": f"IssueComment:{one.id}",
            "url": f"{api}/comments/{one.id}",
            "issue_url": f"{api}/{one.number}",
            "html_url": f"{site.page(name, kind, one.number)}#issuecomment-{one.id}",
            "user": self.user(self.who(one.author)),
        }

    def issue_event(self, _: Repository, one: IssueEvent) -> Face:
        actor = self.user(self.who(one.actor))
        shape = fields(one, "id event created_at") | {"actor": actor}
        if one.label is not None:
            shape["label"] = {"name": one.label[0], "color": one.label[1]}
        return shape

    def reaction(self, one: Reaction) -> Face:
        return fields(one, "id content") | {"user": self.user(self.who(one.user))}

    def pull(self, repo: Repository, one: Pull) -> Face:
        """A pull request as lists and webhooks show it."""
        site, name = self._context.site, repo.full_name
        issue, encoded = self._forge.issue_of(one), self.repository(repo)
        return {
            **fields(one, "id number draft merged_at"),
            **fields(issue, "title body state created_at updated_at closed_at"),
            "url": f"{site.repo(name)}/pulls/{one.number}",
            "html_url": site.page(name, "pull", one.number),
            "user": self.user(self.who(issue.author)),
            "merged": one.merged_at is not None,
            "merge_commit_sha": one.merge_commit,
            "head": {"ref": one.head, "sha": one.head_sha, "repo": encoded},
            "base": {"ref": one.base, "sha": one.base_sha, "repo": encoded},
        }

    def full_pull(self, repo: Repository, one: Pull) -> Face:
        """A pull request when it alone is asked for."""
        return self.pull(repo, one)

    # --- checks and runs ------------------------------------------------------------

    def check_run(self, repo: Repository, one: CheckRun) -> Face:
        site, name = self._context.site, repo.full_name
        return {
            **fields(one, "id name head_sha status conclusion started_at completed_at"),
            "external_id": one.external_id or "",
            "url": f"{site.repo(name)}/check-runs/{one.id}",
            "html_url": site.page(name, "runs", one.id),
            "output": fields(one.output, "title summary text")
            | {"annotations_count": one.annotations},
            "app": {"id": app_number(one.app), "slug": one.app},
        }

    def run(self, repo: Repository, one: Run) -> Face:
        site, name = self._context.site, repo.full_name
        return {
            **fields(one, "id path event status conclusion head_sha"),
            **fields(one, "created_at updated_at"),
            "head_branch": one.branch,
            "display_title": one.title,
            "run_attempt": 1,
            "url": f"{site.repo(name)}/actions/runs/{one.id}",
            "html_url": site.page(name, "actions", "runs", one.id),
        }

    def job(self, repo: Repository, one: Run, check: CheckRun | None) -> Face:
        """The one job of a run; its id is the run's. `check` shows it on its commit."""
        shown = check.id if check is not None else one.id
        name = check.name if check is not None else JOB_NAME
        url = f"{self._context.site.repo(repo.full_name)}/check-runs/{shown}"
        facts = fields(one, "id status conclusion")
        return facts | {"run_id": one.id, "name": name, "check_run_url": url}

    def artifact(self, _: Repository, one: Artifact, __: Run) -> Face:
        shown = fields(one, "id name digest created_at")
        return shown | {"size_in_bytes": one.size, "expired": False}


class Events:
    """Announces what changed; called inside `Store.change`."""

    def __init__(self, context: ForgeContext) -> None:
        self._context = context
        self.heard_by: list[Hear] = []
        """Each is called in turn, inside the same `Store.change`."""

    def tell(
        self, repo: Repository, actor: User, action: str, about: About, **more: object
    ) -> None:
        """Something was done to a record; an issue's pull request is told of as one."""
        event, body = self.told(repo, about)
        self.send(repo, actor, (event, action), body | more)

    def told(self, repo: Repository, about: About) -> tuple[str, Face]:
        """Return the event that tells of a record, and what the event shows."""
        show, store = self._context.renderer, self._context.forge.store
        match about:
            case Issue():
                if pull := store.pulls.get(about.id):
                    return self.told(repo, pull)
                return "issues", {"issue": show.issue(repo, about)}
            case Comment():
                issue = store.issues.get(about.issue)
                whose = {"issue": show.issue(repo, issue)} if issue else {}
                return "issue_comment", whose | {"comment": show.comment(repo, about)}
            case Pull():
                return "pull_request", {"pull_request": show.pull(repo, about)}
            case CheckRun():
                return "check_run", {"check_run": show.check_run(repo, about)}
            case Run():
                return "workflow_run", {"workflow_run": show.run(repo, about)}

    def push(self, repo: Repository, actor: User, move: Move) -> None:
        """A branch or tag moved, came or went; other refs are not told of."""
        if move.ref.startswith(("refs/heads/", "refs/tags/")):
            self.send(repo, actor, ("push", None), {"ref": move.ref})

    def send(self, repo: Repository, actor: User, kind: Kind, body: Face) -> None:
        """Something happened: tell it as `body`, with what every payload has."""
        common: Face = {
            "repository": self._context.renderer.repository(repo),
            "sender": self._context.renderer.user(actor),
        }
        if kind[1] is not None:
            common["action"] = kind[1]
        for hear in self.heard_by:
            hear(repo, actor, kind, body | common)


DEADLINE_S: Final = 10.0
CARRIERS: Final = 4
"""How many deliveries are under way at once: a dead receiver may hold up only them."""
KNOWN: Final = frozenset(
    {
        *(("issue_comment", "created"), ("issue_comment", "edited")),
        *(("check_run", "created"), ("check_run", "completed")),
        *(("pull_request", "opened"), ("pull_request", "synchronize")),
        *(("workflow_run", "requested"), ("workflow_run", "in_progress")),
    }
)
"""What the bot need not be told that did it: a push tells its other processes."""


class WebhookSender:
    def __init__(self, context: ForgeContext) -> None:
        self._context = context
        self._store = context.forge.store
        self._waiting: asyncio.Queue[tuple[int, Kind, bytes]] = asyncio.Queue()
        self._pushed: set[int] = set()
        """The hooks for which a push waits: one stands for all refs."""
        context.events.heard_by.append(self.post)

    def start(self) -> None:
        for place in range(CARRIERS):
            self._context.spawn(self._carry(), f"carrier {place}")

    def post(self, repo: Repository, actor: User, kind: Kind, payload: Face) -> None:
        if actor.kind == "Bot" and kind in KNOWN:
            return
        for hook in self._store.hooks.of(repo.id):
            if kind[0] == "push":
                if hook.id in self._pushed:
                    continue
                self._pushed.add(hook.id)
            self._waiting.put_nowait((hook.id, kind, json.encode(payload)))

    async def _carry(self) -> None:
        limit = aiohttp.ClientTimeout(total=DEADLINE_S)
        async with aiohttp.ClientSession(timeout=limit) as session:
            while True:
                number, kind, body = await self._waiting.get()
                if kind[0] == "push":
                    self._pushed.discard(number)
                hook = self._store.hooks.get(number)
                if hook is not None:
                    headers = delivery_headers(hook, kind[0], str(uuid4()), body)
                    with suppress(TimeoutError, aiohttp.ClientError):
                        async with session.post(hook.url, data=body, headers=headers):
                            pass


def delivery_headers(hook: Hook, event: str, guid: str, body: bytes) -> dict[str, str]:
    """Return the headers of a delivery, signed where the hook has a secret."""
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": guid,
    }
    if hook.secret:
        made = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
        headers["X-Hub-Signature-256"] = f"sha256={made}"
    return headers
