"""Accounts, their tokens and rights, and how GitHub writes them."""

from typing import Any, Literal
from urllib.parse import quote

from msgspec import Struct

from brat.forge.resources.resource_record import Record
from brat.forge.wire.urls import Site, node_id

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
    """A simple user."""
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
        "company": None,
        "blog": None,
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
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
    return {
        "permission": older,
        "role_name": role,
        "user": user(site, who) | more,
    }


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
