"""Check runs and commit statuses, and how GitHub writes them."""

from collections.abc import Iterable, Set as AbstractSet
from typing import Any, Literal

from msgspec import Raw, Struct

from brat.forge.resources.account_resource import User, app, user
from brat.forge.resources.pull_resource import Pull, minimal
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.resource_record import Record
from brat.forge.wire.urls import Site, node_id

Conclusion = Literal[
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "stale",
    "timed_out",
    "action_required",
]
Progress = Literal["queued", "in_progress", "completed"]


class Output(Struct, frozen=True, kw_only=True):
    """What a check run says."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None


class Action(Struct, frozen=True, kw_only=True):
    """A button that the app of a check asks for."""

    label: str
    description: str
    identifier: str


class Job(Struct, frozen=True, kw_only=True):
    """The CI job behind a check run of the forge's own."""

    ref: str
    pid: int | None = None
    born: float | None = None
    """The process's creation time: pid and time together name one process for good."""


class CheckRun(Record, frozen=True, kw_only=True):
    """A check run on one commit."""

    repo: int
    head_sha: str
    name: str
    app: str
    """The slug of the app that made it."""
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: Output = Output()
    annotations: int = 0
    actions: tuple[Action, ...] = ()
    job: Job | None = None


class CommitStatus(Record, frozen=True, kw_only=True):
    """A commit status; the newest of a context counts."""

    repo: int
    sha: str
    state: str
    context: str
    creator: int
    created_at: str
    description: str | None = None
    target_url: str | None = None


def check_run(
    site: Site, repo: Repository, one: CheckRun, pulls: Iterable[Pull]
) -> dict[str, Any]:
    """A check run; `pulls` are the open ones whose head it judges."""
    api = f"{site.repo(repo.full_name)}/check-runs/{one.id}"
    page = site.page(repo.full_name, "runs", one.id)
    return {
        "id": one.id,
        "node_id": node_id("CheckRun", one.id),
        "head_sha": one.head_sha,
        "external_id": one.external_id or "",
        "url": api,
        "html_url": page,
        "details_url": one.details_url or page,
        "status": one.status,
        "conclusion": one.conclusion,
        "started_at": one.started_at,
        "completed_at": one.completed_at,
        "output": {
            "title": one.output.title,
            "summary": one.output.summary,
            "text": one.output.text,
            "annotations_count": one.annotations,
            "annotations_url": api + "/annotations",
        },
        "name": one.name,
        "check_suite": {"id": one.id},
        "app": app(site, one.app),
        "pull_requests": minimal(site, repo, pulls),
    }


def status(
    site: Site, repo: Repository, one: CommitStatus, creator: User
) -> dict[str, Any]:
    """A commit status."""
    who = user(site, creator)
    return {
        "id": one.id,
        "node_id": node_id("StatusContext", one.id),
        "url": f"{site.repo(repo.full_name)}/statuses/{one.sha}",
        "avatar_url": who["avatar_url"],
        "state": one.state,
        "description": one.description,
        "target_url": one.target_url,
        "context": one.context,
        "created_at": one.created_at,
        "updated_at": one.created_at,
        "creator": who,
    }


def combined(
    site: Site, found: tuple[Repository, Raw], sha: str, states: AbstractSet[str]
) -> dict[str, Any]:
    """The combined status: red if one is, else pending if one is or there is none.

    Its statuses are beside it.
    """
    repo, encoded = found
    if states & {"failure", "error"}:
        state = "failure"
    else:
        state = "success" if states == {"success"} else "pending"
    api = f"{site.repo(repo.full_name)}/commits/{sha}"
    return {
        "state": state,
        "sha": sha,
        "repository": encoded,
        "commit_url": api,
        "url": api + "/status",
    }
