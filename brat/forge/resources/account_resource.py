"""Accounts, tokens, rights, repositories and hooks, and how GitHub writes them."""

import zlib
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote

from msgspec import Raw, Struct, json

from brat.forge.resources.wire import Site, alike, fields, node_id
from convoy.model.records import BoxSetting


class Record(Struct, frozen=True, kw_only=True):
    """What every record has."""

    id: int


class Sequence(Record, frozen=True, kw_only=True):
    """The last id that was given; there is one, with the id 0."""

    last: int


Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
"""Rising: each role may do what those before it may."""

Scope = Literal["read", "write"]
Kind = Literal["User", "Bot"]


class User(Record, frozen=True, kw_only=True):
    """An account; `slug[bot]` is a bot's login."""

    login: str
    kind: Kind
    created_at: str


Permissions = tuple[tuple[str, str], ...]
"""Pairs of a permission's name and `read` or `write`."""


class Access(Struct, frozen=True, kw_only=True):
    """The limits of a restricted token: repositories, permissions, expiry."""

    repos: tuple[int, ...]
    permissions: Permissions
    expires_at: str


class Token(Record, frozen=True, kw_only=True):
    """A caller's token; only its digest is kept."""

    user: int
    scope: Scope
    digest: str
    """SHA-256 of the secret, hex."""
    repo: int | None = None
    """The one repository it opens; None: every repository its user may see."""
    access: Access | None = None
    """Set when the token may do less than its user, as a run's token."""


EPOCH = "2008-01-01T00:00:00Z"
ACTIONS_APP = "github-actions"
ACTIONS_APP_ID = 15368
"""GitHub's own id of that app."""


def user(site: Site, who: User) -> dict[str, Any]:
    api = f"{site.api}/users/{quote(who.login)}"
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id("User", who.id),
        "avatar_url": f"{site.base}/avatars/u/{who.id}",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{site.base}/{who.login.replace('[bot]', '')}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": who.kind,
        "site_admin": False,
        "user_view_type": "public",
    }


def public_user(site: Site, who: User) -> dict[str, Any]:
    """The answer of `GET /user`."""
    return user(site, who) | {
        "name": who.login,
        **alike("company blog location email hireable bio"),
        **alike("public_repos public_gists followers following", 0),
        "created_at": who.created_at,
        "updated_at": who.created_at,
    }


def permissions(role: Role) -> dict[str, bool]:
    """What a role may do, by GitHub's five flags."""
    rank = ROLES.index(role)
    flags = ("pull", "triage", "push", "maintain", "admin")
    return {flag: rank >= place for place, flag in enumerate(flags, start=1)}


def collaborator(site: Site, who: User, role: Role) -> dict[str, Any]:
    """The answer of `GET collaborators/{user}/permission`."""
    older = {"triage": "read", "maintain": "write"}.get(role, role)
    more = {"permissions": permissions(role), "role_name": role}
    return {"permission": older, "role_name": role, "user": user(site, who) | more}


def app_number(slug: str) -> int:
    """An app's id. The forge keeps no apps: only GitHub's own has one."""
    return ACTIONS_APP_ID if slug == ACTIONS_APP else 0


def app(site: Site, slug: str) -> dict[str, Any]:
    """An app by its slug. The forge keeps no apps: the rest follows from the slug."""
    owner = User(id=9919, login="github", kind="User", created_at=EPOCH)
    return {
        "id": app_number(slug),
        "slug": slug,
        "node_id": node_id("App", slug),
        "owner": user(site, owner),
        "name": "GitHub Actions" if slug == ACTIONS_APP else slug,
        "description": None,
        "external_url": site.base,
        "html_url": f"{site.base}/apps/{slug}",
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "permissions": {"checks": "write", "contents": "read", "metadata": "read"},
        "events": [],
    }


class Hook(Record, frozen=True, kw_only=True):
    """A webhook."""

    repo: int
    """The id of the repository or other record that the hook belongs to."""
    url: str
    secret: str
    events: tuple[str, ...]
    """`*` stands for all."""
    created_at: str
    updated_at: str
    active: bool = True


class Delivery(Record, frozen=True, kw_only=True):
    """One payload on its way to one hook."""

    hook: int
    repo: int
    guid: str
    event: str
    created_at: str
    action: str | None = None
    installation: int | None = None
    pending: bool = True
    status: str = "pending"
    status_code: int = 0
    duration_s: float = 0.0


class Payload(Record, frozen=True, kw_only=True):
    """What a delivery carries; its id is the delivery's."""

    hook: int
    body: str = ""
    """As earlier versions kept it."""
    packed: bytes = b""
    """The body, compressed: it says much twice."""

    @property
    def data(self) -> bytes:
        """The body's bytes."""
        return zlib.decompress(self.packed) if self.packed else self.body.encode()


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


_BELOW = """\
archive=/{archive_format}{/ref} assignees=/assignees{/user}
blobs=/git/blobs{/sha} branches=/branches{/branch}
collaborators=/collaborators{/collaborator} comments=/comments{/number}
commits=/commits{/sha} compare=/compare/{base}...{head}
contents=/contents/{+path} contributors=/contributors deployments=/deployments
downloads=/downloads events=/events forks=/forks git_commits=/git/commits{/sha}
git_refs=/git/refs{/sha} git_tags=/git/tags{/sha} hooks=/hooks
issue_comment=/issues/comments{/number} issue_events=/issues/events{/number}
issues=/issues{/number} keys=/keys{/key_id} labels=/labels{/name}
languages=/languages merges=/merges milestones=/milestones{/number}
notifications=/notifications{?since,all,participating} pulls=/pulls{/number}
releases=/releases{/id} stargazers=/stargazers statuses=/statuses/{sha}
subscribers=/subscribers subscription=/subscription tags=/tags teams=/teams
trees=/git/trees{/sha}
"""
_API = dict(pair.split("=") for pair in _BELOW.split())
"""The addresses below a repository, by their names."""
_NOTHING: dict[str, Any] = {
    **alike("description homepage language license mirror_url"),
    **alike("forks forks_count stargazers_count watchers", 0),
    **alike("watchers_count size open_issues open_issues_count", 0),
    **alike("fork has_projects has_wiki has_pages has_downloads", value=False),
    **alike("has_discussions disabled is_template", value=False),
    **alike("allow_forking web_commit_signoff_required", value=False),
    "topics": [],
    "has_issues": True,
}


def _repository(site: Site, repo: Repository, owner: User) -> dict[str, Any]:
    api, page = site.repo(repo.full_name), site.page(repo.full_name)
    return (
        {f"{name}_url": api + end for name, end in _API.items()}
        | _NOTHING
        | fields(repo, "id name full_name private archived description default_branch")
        | fields(repo, "pushed_at created_at updated_at")
        | {
            "url": api,
            "node_id": node_id("Repository", repo.id),
            "owner": user(site, owner),
            "visibility": "private" if repo.private else "public",
            "html_url": page,
            "git_url": f"{page}.git",
            "ssh_url": f"{page}.git",
            "clone_url": f"{page}.git",
            "svn_url": page,
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
