"""Issues, pull requests, what is said of them, and how GitHub writes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from brat.forge.resources.account_resource import (
    Record,
    Repository,
    User,
    repository,
    user,
)
from brat.forge.resources.wire import Site, fields, node_id

CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


class Label(Record, frozen=True, kw_only=True):
    """A label of a repository."""

    repo: int
    name: str
    color: str
    description: str | None = None


class Issue(Record, frozen=True, kw_only=True):
    """An issue, or the side of a pull request that is one."""

    repo: int
    number: int
    title: str
    author: int
    created_at: str
    updated_at: str
    body: str | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: str | None = None
    closed_by: int | None = None
    labels: tuple[int, ...] = ()
    comments: int = 0
    pull: bool = False
    assignees: tuple[int, ...] = ()
    locked: bool = False
    lock_reason: str | None = None


class IssueEvent(Record, frozen=True, kw_only=True):
    """Something that was done to an issue: `labeled`, `closed`, ..."""

    issue: int
    actor: int
    event: str
    created_at: str
    label: tuple[str, str] | None = None
    """Name and colour as they were then."""
    assignee: int | None = None
    commit: str | None = None


class Comment(Record, frozen=True, kw_only=True):
    """A comment on an issue or a pull request."""

    repo: int
    issue: int
    number: int
    author: int
    body: str
    created_at: str
    updated_at: str


class Reaction(Record, frozen=True, kw_only=True):
    """A reaction to the issue or comment whose id is `subject`."""

    subject: int
    user: int
    content: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Facts:
    """The other records that are needed to show an issue or comment."""

    repo: Repository
    author: User
    association: str
    reactions: tuple[Reaction, ...] = ()
    assignees: tuple[User, ...] = ()


def label(site: Site, repo: Repository, one: Label) -> dict[str, Any]:
    return {
        **fields(one, "id name color description"),
        "node_id": node_id("Label", one.id),
        "url": f"{site.repo(repo.full_name)}/labels/{quote(one.name, safe='')}",
        "default": False,
        "archived_at": None,
        "archived_by": None,
    }


def rollup(url: str, reactions: Iterable[Reaction]) -> dict[str, Any]:
    """How often each reaction was given."""
    given = [reaction.content for reaction in reactions]
    counts = {content: given.count(content) for content in CONTENTS}
    return {"url": url + "/reactions", "total_count": len(given), **counts}


def assigned(site: Site, people: Sequence[User]) -> dict[str, Any]:
    """Who is assigned: all of them, and the first for older clients."""
    faces = [user(site, who) for who in people]
    return {"assignee": faces[0] if faces else None, "assignees": faces}


def issue(
    site: Site, one: Issue, facts: Facts, labels: Iterable[Label], closer: User | None
) -> dict[str, Any]:
    """An issue; a pull request too, as the issues API shows it."""
    repo = facts.repo
    api = f"{site.repo(repo.full_name)}/issues/{one.number}"
    kind = "pull" if one.pull else "issues"
    shape: dict[str, Any] = {
        **fields(one, "id number title body state state_reason locked comments"),
        **fields(one, "created_at updated_at"),
        "closed_at": one.closed_at,
        "node_id": node_id("Issue", one.id),
        "url": api,
        "repository_url": site.repo(repo.full_name),
        "labels_url": api + "/labels{/name}",
        "comments_url": api + "/comments",
        "events_url": api + "/events",
        "timeline_url": api + "/timeline",
        "html_url": site.page(repo.full_name, kind, one.number),
        "user": user(site, facts.author),
        "author_association": facts.association,
        "labels": [label(site, repo, each) for each in labels],
        "active_lock_reason": one.lock_reason,
        **assigned(site, facts.assignees),
        "milestone": None,
        "closed_by": user(site, closer) if closer else None,
        "performed_via_github_app": None,
        "reactions": rollup(api, facts.reactions),
    }
    if one.pull:
        page = site.page(repo.full_name, "pull", one.number)
        shape["pull_request"] = {
            "url": f"{site.repo(repo.full_name)}/pulls/{one.number}",
            "html_url": page,
            "diff_url": page + ".diff",
            "patch_url": page + ".patch",
        }
    return shape


def comment(site: Site, one: Comment, facts: Facts, *, on_pull: bool) -> dict[str, Any]:
    api = f"{site.repo(facts.repo.full_name)}/issues"
    where = "pull" if on_pull else "issues"
    page = site.page(facts.repo.full_name, where, one.number)
    return {
        **fields(one, "id body created_at updated_at"),
        "node_id": node_id("IssueComment", one.id),
        "url": f"{api}/comments/{one.id}",
        "html_url": f"{page}#issuecomment-{one.id}",
        "issue_url": f"{api}/{one.number}",
        "user": user(site, facts.author),
        "author_association": facts.association,
        "performed_via_github_app": None,
        "reactions": rollup(f"{api}/comments/{one.id}", facts.reactions),
    }


def event(
    site: Site, repo: Repository, one: IssueEvent, people: tuple[User, User | None]
) -> dict[str, Any]:
    """Something that was done to an issue, by the first, maybe to the second."""
    actor, assignee = people
    shape = {
        **fields(one, "id event created_at"),
        "node_id": node_id("IssueEvent", one.id),
        "url": f"{site.repo(repo.full_name)}/issues/events/{one.id}",
        "actor": user(site, actor),
        "commit_id": one.commit,
        "commit_url": one.commit
        and f"{site.repo(repo.full_name)}/commits/{one.commit}",
        "performed_via_github_app": None,
    }
    if one.label is not None:
        shape["label"] = {"name": one.label[0], "color": one.label[1]}
    if assignee is not None:
        shape["assignee"], shape["assigner"] = user(site, assignee), user(site, actor)
    return shape


def reaction(site: Site, one: Reaction, by: User) -> dict[str, Any]:
    return {
        **fields(one, "id content created_at"),
        "node_id": node_id("Reaction", one.id),
        "user": user(site, by),
    }


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
class PullFacts:
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


def _side(site: Site, facts: PullFacts, branch: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{facts.repo.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": user(site, facts.owner),
        "repo": repository(site, facts.repo, facts.owner),
    }


def _links(site: Site, facts: PullFacts, one: Pull) -> dict[str, str]:
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


def pull(site: Site, one: Pull, facts: PullFacts) -> dict[str, Any]:
    """A pull request as lists and webhooks show it."""
    links = _links(site, facts, one)
    issue = facts.issue
    return {
        **fields(one, "id number merged_at draft"),
        **fields(issue, "state locked title body created_at updated_at closed_at"),
        "node_id": node_id("PullRequest", one.id),
        **{f"{name}_url": address for name, address in links.items() if name != "self"},
        "url": links["self"],
        "diff_url": links["html"] + ".diff",
        "patch_url": links["html"] + ".patch",
        "_links": {name: {"href": address} for name, address in links.items()},
        "active_lock_reason": issue.lock_reason,
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
        "merge_commit_sha": one.merge_commit,
        "auto_merge": None,
        "head": _side(site, facts, one.head, one.head_sha),
        "base": _side(site, facts, one.base, one.base_sha),
    }


def full_pull(site: Site, one: Pull, facts: PullFacts, size: Size) -> dict[str, Any]:
    """The answer of `GET pulls/{number}`."""
    return pull(site, one, facts) | {
        **fields(size, "mergeable commits deletions"),
        "review_comments": size.review_comments,
        "additions": size.additions,
        "merged": one.merged_at is not None,
        "rebaseable": size.mergeable,
        "mergeable_state": size.state,
        "merged_by": user(site, size.merger) if size.merger else None,
        "comments": facts.issue.comments,
        "maintainer_can_modify": False,
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
