"""Checks, workflow runs and commits, and how GitHub writes them."""

import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pygit2
from msgspec import Raw, Struct

from brat.forge.resources.account_resource import (
    EPOCH,
    Record,
    Repository,
    User,
    app,
    user,
)
from brat.forge.resources.issue_resource import Pull, minimal
from brat.forge.resources.wire import Site, alike, fields, iso, node_id, parse

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
        **fields(one, "id name head_sha status conclusion started_at completed_at"),
        "node_id": node_id("CheckRun", one.id),
        "external_id": one.external_id or "",
        "url": api,
        "html_url": page,
        "details_url": one.details_url or page,
        "output": {
            **fields(one.output, "title summary text"),
            "annotations_count": one.annotations,
            "annotations_url": api + "/annotations",
        },
        "check_suite": {"id": one.id},
        "app": app(site, one.app),
        "pull_requests": minimal(site, repo, pulls),
    }


class Run(Record, frozen=True, kw_only=True):
    """A workflow run and the process that carries it out, in runs/<id>/."""

    repo: int
    number: int
    """Counts the workflow's runs."""
    path: str
    """The workflow's file."""
    title: str
    branch: str
    head_sha: str
    actor: int
    inputs: dict[str, str]
    created_at: str
    updated_at: str
    event: str = "workflow_dispatch"
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    pid: int | None = None
    born: float | None = None
    """The process's creation time: pid and time together name one process for good."""
    payload: str | None = None
    """The event that started the run, as JSON; None: a dispatch with `inputs`."""
    token: int | None = None
    """The run's token, which is removed when the run ends."""
    cancelling: bool = False


class Artifact(Record, frozen=True, kw_only=True):
    """A zip in runs/<run>/artifacts/<name>.zip."""

    run: int
    repo: int
    name: str
    size: int
    digest: str
    """`sha256:` and 64 hex digits."""
    created_at: str


TASK_WORKFLOW = ".github/workflows/brat-task.yml"
"""Always there, whatever the repository holds."""
ARTIFACT_DAYS = 90
JOB_NAME = "session"


def workflow_id(path: str) -> int:
    """The id of a workflow: a number made of its path, the same in each repository."""
    return zlib.crc32(path.encode())


def workflow(site: Site, repo: Repository, path: str) -> dict[str, Any]:
    number = workflow_id(path)
    name = path.rpartition("/")[2]
    api = f"{site.repo(repo.full_name)}/actions/workflows"
    return {
        "id": number,
        "node_id": node_id("Workflow", number),
        "name": name.rpartition(".")[0],
        "path": path,
        "state": "active",
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "url": f"{api}/{number}",
        "html_url": site.page(repo.full_name, "blob", repo.default_branch, path),
        "badge_url": site.page(repo.full_name, "workflows", name, "badge.svg"),
    }


_OF_A_RUN = "jobs", "logs", "artifacts", "cancel", "rerun"


def run(
    site: Site,
    one: Run,
    found: tuple[Repository, Raw],
    actor: User,
    head: pygit2.Commit | None,
) -> dict[str, Any]:
    """A workflow run; `found` are the repository and its encoded form."""
    repo, encoded = found
    api = f"{site.repo(repo.full_name)}/actions"
    mine = f"{api}/runs/{one.id}"
    number = workflow_id(one.path)
    who = user(site, actor)
    return {
        **fields(one, "id head_sha path event status conclusion created_at updated_at"),
        "name": one.path.rpartition("/")[2].rpartition(".")[0],
        "node_id": node_id("WorkflowRun", one.id),
        "check_suite_id": one.id,
        "check_suite_node_id": node_id("CheckSuite", one.id),
        "head_branch": one.branch,
        "display_title": one.title,
        "run_number": one.number,
        "run_attempt": 1,
        "workflow_id": number,
        "workflow_url": f"{api}/workflows/{number}",
        "url": mine,
        "html_url": site.page(repo.full_name, "actions", "runs", one.id),
        "pull_requests": [],
        "referenced_workflows": [],
        "run_started_at": one.started_at or one.created_at,
        "actor": who,
        "triggering_actor": who,
        **{f"{each}_url": f"{mine}/{each}" for each in _OF_A_RUN},
        "check_suite_url": f"{site.repo(repo.full_name)}/check-suites/{one.id}",
        "previous_attempt_url": None,
        "head_commit": simple_commit(head) if head is not None else None,
        "repository": encoded,
        "head_repository": encoded,
    }


def job(
    site: Site, repo: Repository, one: Run, check: CheckRun | None
) -> dict[str, Any]:
    """The one job of a run; its id is the run's. `check` shows it on its commit."""
    api = f"{site.repo(repo.full_name)}/actions"
    shown = check.id if check is not None else one.id
    started = one.status != "queued"
    return {
        **fields(one, "id head_sha status conclusion created_at"),
        "run_id": one.id,
        "run_url": f"{api}/runs/{one.id}",
        "run_attempt": 1,
        "node_id": node_id("Job", one.id),
        "head_branch": one.branch,
        "url": f"{api}/jobs/{one.id}",
        "html_url": site.page(repo.full_name, "actions", "runs", one.id),
        "check_run_url": f"{site.repo(repo.full_name)}/check-runs/{shown}",
        "started_at": one.started_at or one.created_at,
        "completed_at": one.updated_at if one.status == "completed" else None,
        "name": check.name if check is not None else JOB_NAME,
        "steps": [],
        "labels": ["local"],
        "runner_id": 1 if started else None,
        "runner_name": "local" if started else None,
        "runner_group_id": 1 if started else None,
        "runner_group_name": "Default" if started else None,
        "workflow_name": one.path.rpartition("/")[2].rpartition(".")[0],
    }


def artifact(site: Site, repo: Repository, one: Artifact, of: Run) -> dict[str, Any]:
    api = f"{site.repo(repo.full_name)}/actions/artifacts/{one.id}"
    expires = parse(one.created_at) + timedelta(days=ARTIFACT_DAYS)
    return {
        **fields(one, "id name digest created_at"),
        "node_id": node_id("Artifact", one.id),
        "size_in_bytes": one.size,
        "url": api,
        "archive_download_url": api + "/zip",
        "expired": False,
        "updated_at": one.created_at,
        "expires_at": iso(expires),
        "workflow_run": {
            "id": of.id,
            "repository_id": repo.id,
            "head_repository_id": repo.id,
            "head_branch": of.branch,
            "head_sha": of.head_sha,
        },
    }


_UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    **alike("signature payload verified_at"),
}


def when(who: pygit2.Signature) -> str:
    """When someone signed, in UTC."""
    return iso(datetime.fromtimestamp(who.time, UTC))


def simple_commit(one: pygit2.Commit) -> dict[str, Any]:
    """A commit as workflow runs and pushes show it."""
    return {
        "id": str(one.id),
        "tree_id": str(one.tree_id),
        "message": one.message,
        "timestamp": when(one.committer),
        "author": {"name": one.author.name, "email": one.author.email},
        "committer": {"name": one.committer.name, "email": one.committer.email},
    }


def _who(who: pygit2.Signature) -> dict[str, str]:
    return {"name": who.name, "email": who.email, "date": when(who)}


def _parents(
    site: Site, repo: Repository, one: pygit2.Commit, kind: str
) -> list[dict[str, str]]:
    return [
        {
            "sha": str(sha),
            "url": f"{site.repo(repo.full_name)}/{kind}/{sha}",
            "html_url": site.page(repo.full_name, "commit", sha),
        }
        for sha in one.parent_ids
    ]


def git_commit(site: Site, repo: Repository, one: pygit2.Commit) -> dict[str, Any]:
    """A commit of the git database."""
    api = f"{site.repo(repo.full_name)}/git"
    return {
        "sha": str(one.id),
        "node_id": node_id("Commit", str(one.id)),
        "url": f"{api}/commits/{one.id}",
        "html_url": site.page(repo.full_name, "commit", one.id),
        "author": _who(one.author),
        "committer": _who(one.committer),
        "message": one.message,
        "tree": {"sha": str(one.tree_id), "url": f"{api}/trees/{one.tree_id}"},
        "parents": _parents(site, repo, one, "git/commits"),
        "verification": _UNSIGNED,
    }


def commit(site: Site, repo: Repository, one: pygit2.Commit) -> dict[str, Any]:
    """A commit of the repository; its people are not matched with accounts."""
    api = f"{site.repo(repo.full_name)}/commits/{one.id}"
    inner = git_commit(site, repo, one)
    return {
        "sha": str(one.id),
        "node_id": node_id("Commit", str(one.id)),
        "url": api,
        "html_url": inner["html_url"],
        "comments_url": api + "/comments",
        "commit": {
            key: inner[key]
            for key in ("url", "author", "committer", "message", "tree", "verification")
        }
        | {"comment_count": 0},
        "author": None,
        "committer": None,
        "parents": _parents(site, repo, one, "commits"),
    }
