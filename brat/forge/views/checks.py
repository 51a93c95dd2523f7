"""Check runs and commit statuses as GitHub writes them."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from brat.forge.records import CheckRun, CommitStatus, Pull, Repository, User
from brat.forge.urls import Site, node_id
from brat.forge.views.accounts import app, user
from brat.forge.views.pulls import minimal


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
    site: Site, found: tuple[Repository, Raw], sha: str, statuses: Sequence[Any]
) -> dict[str, Any]:
    """The combined status: red if one is, else pending if one is or there is none."""
    repo, encoded = found
    states = {one["state"] for one in statuses}
    if states & {"failure", "error"}:
        state = "failure"
    else:
        state = "success" if states == {"success"} else "pending"
    api = f"{site.repo(repo.full_name)}/commits/{sha}"
    return {
        "state": state,
        "statuses": statuses,
        "sha": sha,
        "total_count": len(statuses),
        "repository": encoded,
        "commit_url": api,
        "url": api + "/status",
    }
