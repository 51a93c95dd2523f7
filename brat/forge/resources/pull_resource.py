"""Pull requests and reviews, and how GitHub writes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from brat.forge.resources.account_resource import (
    Record,
    Repository,
    User,
    repository,
    user,
)
from brat.forge.resources.issue_resource import Issue, Label, assigned, label
from brat.forge.resources.wire import Site, node_id


class Pull(Record, frozen=True, kw_only=True):
    """A pull request's own fields, beyond its issue; both branches are in one repo."""

    repo: int
    number: int
    head: str
    """A branch, without refs/heads/."""
    base: str
    head_sha: str
    """Follows the branch while the pull request is open."""
    base_sha: str
    """The base branch's tip when it was last looked at before the merge."""
    draft: bool = False
    merged_at: str | None = None
    merged_by: int | None = None
    merge_commit: str | None = None
    merge_signed: bool = False
    """Whether the forge made that commit; it signs what it makes, but no rebase."""


class Review(Record, frozen=True, kw_only=True):
    """A review; `state` as GitHub writes it: PENDING, APPROVED, ..."""

    pull: int
    user: int
    body: str
    state: str
    commit: str
    submitted_at: str | None = None
    """None while it is a draft."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The other records that are needed to show a pull request."""

    repo: Repository
    owner: User
    issue: Issue
    author: User
    association: str
    labels: tuple[Label, ...]
    assignees: tuple[User, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """The fields that only the answer for a single pull request has."""

    mergeable: bool | None
    state: str
    """clean, dirty, blocked, draft or unknown."""
    merger: User | None
    commits: int
    additions: int
    deletions: int
    files: int
    review_comments: int = 0


def _side(site: Site, facts: Facts, branch: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{facts.repo.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user(site, facts.owner),
        "repo": repository(site, facts.repo, facts.owner),
    }


def _links(site: Site, facts: Facts, one: Pull) -> dict[str, str]:
    api = site.repo(facts.repo.full_name)
    pull, issue = f"{api}/pulls/{one.number}", f"{api}/issues/{one.number}"
    return {
        "self": pull,
        "html": site.page(facts.repo.full_name, "pull", one.number),
        "issue": issue,
        "comments": issue + "/comments",
        "review_comments": pull + "/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": pull + "/commits",
        "statuses": f"{api}/statuses/{one.head_sha}",
    }


def pull(site: Site, one: Pull, facts: Facts) -> dict[str, Any]:
    """A pull request as lists and webhooks show it."""
    links = _links(site, facts, one)
    issue = facts.issue
    return {
        "id": one.id,
        "node_id": node_id("PullRequest", one.id),
        "url": links["self"],
        "html_url": links["html"],
        "diff_url": links["html"] + ".diff",
        "patch_url": links["html"] + ".patch",
        "issue_url": links["issue"],
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": links["statuses"],
        "_links": {name: {"href": address} for name, address in links.items()},
        "number": one.number,
        "state": issue.state,
        "locked": issue.locked,
        "active_lock_reason": issue.lock_reason,
        "title": issue.title,
        "body": issue.body,
        "user": user(site, facts.author),
        "author_association": facts.association,
        "labels": [
            label(site, facts.repo, each) | {"description": each.description or ""}
            for each in facts.labels
        ],
        "milestone": None,
        **assigned(site, facts.assignees),
        "requested_reviewers": [],
        "requested_teams": [],
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "merged_at": one.merged_at,
        "merge_commit_sha": one.merge_commit,
        "draft": one.draft,
        "auto_merge": None,
        "head": _side(site, facts, one.head, one.head_sha),
        "base": _side(site, facts, one.base, one.base_sha),
    }


def full_pull(site: Site, one: Pull, facts: Facts, size: Size) -> dict[str, Any]:
    """The answer of `GET pulls/{number}`."""
    return pull(site, one, facts) | {
        "merged": one.merged_at is not None,
        "mergeable": size.mergeable,
        "rebaseable": size.mergeable,
        "mergeable_state": size.state,
        "merged_by": user(site, size.merger) if size.merger else None,
        "comments": facts.issue.comments,
        "review_comments": size.review_comments,
        "maintainer_can_modify": False,
        "commits": size.commits,
        "additions": size.additions,
        "deletions": size.deletions,
        "changed_files": size.files,
    }


def minimal(site: Site, repo: Repository, pulls: Iterable[Pull]) -> list[Any]:
    """Pull requests as check runs and workflow runs name them."""
    where = {"id": repo.id, "url": site.repo(repo.full_name), "name": repo.name}
    return [
        {
            "id": one.id,
            "number": one.number,
            "url": f"{site.repo(repo.full_name)}/pulls/{one.number}",
            "head": {"ref": one.head, "sha": one.head_sha, "repo": where},
            "base": {"ref": one.base, "sha": one.base_sha, "repo": where},
        }
        for one in pulls
    ]
