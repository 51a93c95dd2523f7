"""Repositories and what their owners chose, and how GitHub writes them."""

from functools import lru_cache
from typing import Any, Literal

from msgspec import Raw, Struct, json

from brat.forge.resources.account_resource import Role, User, permissions, user
from brat.forge.resources.resource_record import Record
from brat.forge.wire.urls import Site, node_id
from convoy.model.records import BoxSetting

MergeMethod = Literal["merge", "squash", "rebase"]


class Ci(Struct, frozen=True, kw_only=True):
    """How pushes are judged."""

    command: str | None = None
    """Run by `sh -c` in a fresh checkout; None: pushes are not judged."""
    branches: tuple[str, ...] = ()
    """Patterns (`*` within a name, `**` across slashes) beside brat/queue/**."""
    timeout_s: float = 600.0
    slots: int | None = None
    """How many run at once; None: as many as this machine has cores."""
    checkout: str = ""
    """The owner's own checkout on this machine: copies of submodules, and what their
    relative addresses are relative to; empty: there is none."""
    egress: tuple[str, ...] | None = None
    """The only hosts that the command may reach; None: the public package registries;
    `"*"`: all."""
    box: BoxSetting = "on"
    """Whether it runs in a box; `off`: as the forge's own user."""


class Settings(Struct, frozen=True, kw_only=True):
    """What the owner of a repository may choose."""

    ci: Ci = Ci()
    merge_methods: tuple[MergeMethod, ...] = ("merge", "squash", "rebase")
    """How pull requests may be merged."""


class Repository(Record, frozen=True, kw_only=True):
    """A repository; its bare folder is repos/<owner>/<name>.git."""

    owner: str
    name: str
    default_branch: str
    created_at: str
    updated_at: str
    pushed_at: str
    description: str | None = None
    private: bool = False
    archived: bool = False
    """Everybody may only read it."""
    rights: tuple[tuple[str, Role], ...] = ()
    """Roles by lower-case login; any other account may read a public repository."""
    last_number: int = 0
    """The number of the newest issue or pull request."""
    settings: Settings = Settings()

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


_API = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
    "url": "",
}

_NOTHING: dict[str, Any] = {
    "description": None,
    "fork": False,
    "homepage": None,
    "language": None,
    "license": None,
    "mirror_url": None,
    "forks": 0,
    "forks_count": 0,
    "stargazers_count": 0,
    "watchers": 0,
    "watchers_count": 0,
    "size": 0,
    "topics": [],
    "has_issues": True,
    "has_projects": False,
    "has_wiki": False,
    "has_pages": False,
    "has_downloads": False,
    "has_discussions": False,
    "disabled": False,
    "is_template": False,
    "allow_forking": False,
    "web_commit_signoff_required": False,
}


def _repository(site: Site, repo: Repository, owner: User) -> dict[str, Any]:
    api, page = site.repo(repo.full_name), site.page(repo.full_name)
    return (
        {key: api + end for key, end in _API.items()}
        | _NOTHING
        | {
            "id": repo.id,
            "node_id": node_id("Repository", repo.id),
            "name": repo.name,
            "full_name": repo.full_name,
            "owner": user(site, owner),
            "private": repo.private,
            "archived": repo.archived,
            "visibility": "private" if repo.private else "public",
            "description": repo.description,
            "html_url": page,
            "git_url": f"{page}.git",
            "ssh_url": f"{page}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
            "default_branch": repo.default_branch,
            "open_issues": 0,
            "open_issues_count": 0,
            "pushed_at": repo.pushed_at,
            "created_at": repo.created_at,
            "updated_at": repo.updated_at,
        }
    )


@lru_cache(maxsize=64)
def repository(site: Site, repo: Repository, owner: User) -> Raw:
    """A repository inside another answer, already encoded."""
    return Raw(json.encode(_repository(site, repo, owner)))


def full_repository(
    site: Site, repo: Repository, owner: User, role: Role
) -> dict[str, Any]:
    """The answer of `GET /repos/{owner}/{repo}`."""
    methods = repo.settings.merge_methods
    return _repository(site, repo, owner) | {
        "permissions": permissions(role),
        "subscribers_count": 0,
        "network_count": 0,
        "allow_merge_commit": "merge" in methods,
        "allow_squash_merge": "squash" in methods,
        "allow_rebase_merge": "rebase" in methods,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
    }
