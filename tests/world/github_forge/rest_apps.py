"""REST: Apps, their installations, and what tokens may do.

A restricted token is an App installation's or a workflow job's. Its permissions count,
and not the role of the account that it acts as.

All but those of `/installation/` take the App's own signed token and no other.

https://docs.github.com/rest/authentication/permissions-required-for-github-apps
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/apps
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from aiohttp import web
from msgspec import field
from msgspec.structs import replace

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    Access,
    Record,
    Repository,
)
from brat.forge.resources.wire import Refused, fields, not_found
from brat.forge.rest.rest_call import (
    NOT_ACCESSIBLE,
    Answer,
    Body,
    Call,
    Route,
    found,
    secret_of,
)
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.record_store import Table
from tests.world.github_forge.apps import App, Apps, Installation
from tests.world.github_forge.endpoint_permissions import Need, needed, written
from tests.world.github_forge.webhooks import (
    Delivery,
    deliveries_in,
    listed,
    shown_config,
)


def app_view(call: Call, one: App) -> dict[str, Any]:
    return {
        **fields(one, "id slug client_id created_at"),
        "owner": call.renderer.user(call.renderer.who(one.owner)),
        "name": one.slug,
        "html_url": f"{call.site.base}/apps/{one.slug}",
        "permissions": dict(one.permissions),
        "events": list(one.events),
        "installations_count": len(Apps(call.service.forge).installations.of(one.id)),
    }


def installation_view(call: Call, one: Installation, app: App) -> dict[str, Any]:
    return {
        **fields(one, "id created_at updated_at suspended_at"),
        "account": call.renderer.user(call.renderer.who(one.owner)),
        "app_id": app.id,
        "app_slug": app.slug,
        "permissions": dict(one.permissions),
        "events": list(app.events),
        "repository_selection": "selected",
    }


def token(secret: str, access: Access, repositories: list[Any]) -> dict[str, Any]:
    """A token of an installation, the one time it is shown."""
    return {
        "token": secret,
        "expires_at": access.expires_at,
        "permissions": dict(access.permissions),
        "repository_selection": "selected",
        "repositories": repositories,
    }


LEVELS: Final = ("none", "read", "write", "admin")
"""In rising order."""
ALWAYS: Final = ("metadata", "read")
"""Every installation has it.

https://docs.github.com/apps/creating-github-apps/registering-a-github-app/choosing-permissions-for-a-github-app
"""
_NEVER_PUBLIC: Final = frozenset({"administration", "repository_hooks", "secrets"})


def grants(access: Access, name: str, level: str) -> bool:
    """Say whether a token has a permission."""
    if (name, level) == ALWAYS:
        return True
    given = dict(access.permissions).get(name, "none")
    return LEVELS.index(given) >= LEVELS.index(level)


def check(access: Access, route: Route, repo: Repository | None) -> None:
    """Check that a token may use a route.

    Raises `Refused`: 403; it names the permissions that would do, if any would.
    """
    if not route.path:
        return  # nothing is there: 404 follows
    needs = needed(route.method, route.path)
    if needs is None:
        raise Refused(403, NOT_ACCESSIBLE)
    is_public = repo is not None and not repo.private and not _is_hidden(needs)
    if is_public and route.method == "GET":
        return
    if not any(all(grants(access, *one) for one in each) for each in needs):
        raise Refused(403, NOT_ACCESSIBLE, headers=accepted(needs))


class TokenPermissions:
    """GitHub's permissions, as the forge's `Extension` asks for them."""

    def check(self, call: Call, route: Route) -> None:
        if call.token.access is not None:
            check(call.token.access, route, call.found)

    def accepted(self, route: Route) -> dict[str, str]:
        """Return the header that names what a route needs."""
        needs = needed(route.method, route.path)
        return accepted(needs) if needs else {}

    def check_git(self, access: Access, level: str) -> None:
        """Check that a restricted token may fetch (`read`) or push (`write`)."""
        if not grants(access, "contents", level):
            raise Refused(403, f"This token may not {level} contents.")


def accepted(needs: Need) -> dict[str, str]:
    """Return the header that names what an endpoint needs."""
    return {"X-Accepted-GitHub-Permissions": written(needs)}


def _is_hidden(needs: Need) -> bool:
    return any(name in _NEVER_PUBLIC for each in needs for name, _ in each)


class Asked(Body):
    default_workflow_permissions: Literal["read", "write"] | None = None
    can_approve_pull_request_reviews: bool | None = None


class JobTokens(Record, frozen=True, kw_only=True):
    """A repository's settings; those of an old one, until somebody changes them."""

    repo: int
    default: str = "write"
    approves: bool = False
    actions: str = "all"
    """Which actions jobs may use; empty: Actions are off."""
    patterns: tuple[str, ...] = ()
    """Those that `selected` ones match."""


def _table(call: Call) -> Table[JobTokens]:
    return Table(call.store, JobTokens, lambda one: one.repo)


def _known(call: Call) -> JobTokens:
    kept = _table(call).of(call.repo.id)
    return kept[0] if kept else JobTokens(id=0, repo=call.repo.id)


async def get_settings(call: Call) -> Answer:
    known = _known(call)
    shown: dict[str, Any] = {
        "default_workflow_permissions": known.default,
        "can_approve_pull_request_reviews": known.approves,
    }
    return Answer(shown)


async def put_settings(call: Call) -> Answer:
    asked = call.body(Asked)
    with call.store.change():
        known = _known(call)
        default = asked.default_workflow_permissions or known.default
        approves = asked.can_approve_pull_request_reviews
        approves = known.approves if approves is None else approves
        number = known.id or call.store.next_id()
        _table(call).put(replace(known, id=number, default=default, approves=approves))
    return Answer(status=204)


async def get_policy(call: Call) -> Answer:
    known = _known(call)
    shown = {"enabled": bool(known.actions), "sha_pinning_required": False}
    return Answer(shown | ({"allowed_actions": known.actions} if known.actions else {}))


async def get_selected(call: Call) -> Answer:
    known = _known(call)
    if known.actions != "selected":
        raise Refused(409, "Conflict")
    shown = {"github_owned_allowed": False, "verified_allowed": False}
    return Answer({**shown, "patterns_allowed": [*known.patterns]})


def allow(forge: Forge, full_name: str, actions: str, *patterns: str) -> None:
    """Let jobs of a repository use only some actions."""
    store, repo = forge.store, forge.known(full_name).id
    table = Table(store, JobTokens, lambda one: one.repo)
    with store.change():
        number = table.of(repo)[0].id if table.of(repo) else store.next_id()
        one = JobTokens(id=number, repo=repo, actions=actions, patterns=patterns)
        table.put(one)


_POLICY: Final = "/repos/{owner}/{repo}/actions/permissions"
_URL: Final = f"{_POLICY}/workflow"
JOB_TOKEN_ROUTES: Final = (
    Route("GET", _POLICY, get_policy, "admin"),
    Route("GET", f"{_POLICY}/selected-actions", get_selected, "admin"),
    Route("GET", _URL, get_settings, "admin"),
    Route("PUT", _URL, put_settings, "admin"),
)


_SUSPENDED: Final = "This installation has been suspended"
_NOT_GRANTED: Final = "The permissions requested are not granted to this installation."
_NOT_COVERED: Final = (
    "There is at least one repository that does not exist or is not accessible to the "
    "parent installation."
)


class NewToken(Body):
    """The body of `POST access_tokens`; what is left out is not reduced."""

    repositories: tuple[str, ...] = ()
    repository_ids: tuple[int, ...] = ()
    permissions: dict[str, str] = field(default_factory=dict)


def _app(call: Call) -> App:
    return Apps(call.service.forge).acting_as(call.user)


def signed_by(service: Service, request: web.Request) -> Caller:
    """Return the account of the App that asks.

    Raises `Refused`: 401, or 404 when nobody knows it.
    """
    signed = secret_of(request)
    if signed is None:
        raise Refused(401, "Requires authentication")
    return Apps(service.forge).caller(signed)


async def get_app(call: Call) -> Answer:
    return Answer(app_view(call, _app(call)))


async def get_public_app(call: Call) -> Answer:
    slug = call.word("app_slug")
    if slug == ACTIONS_APP:
        return Answer({"id": ACTIONS_APP_ID, "slug": slug})
    app = found(next(iter(Apps(call.service.forge).known.of(slug)), None))
    return Answer(app_view(call, app))


async def get_repo_installation(call: Call) -> Answer:
    app = _app(call)
    one = found(Apps(call.service.forge).installed_in(app, call.repo.id))
    return Answer(installation_view(call, one, app))


async def list_installations(call: Call) -> Answer:
    app = _app(call)
    known = Apps(call.service.forge).installations.of(app.id)
    return call.page(known, lambda one: installation_view(call, one, app))


async def list_repositories(call: Call) -> Answer:
    if call.token.access is None:
        raise Refused(403, "This endpoint takes the token of an installation.")
    opened = map(call.store.repositories.get, call.token.access.repos)
    repos = [repo for repo in opened if repo is not None]
    return call.page(repos, call.renderer.repository, "repositories")


async def create_token(call: Call) -> Answer:
    one = found(Apps(call.service.forge).installations.get(call.number("installation")))
    if one.app != _app(call).id:
        raise not_found()
    if one.suspended_at is not None:
        raise Refused(403, _SUSPENDED)
    asked = call.body(NewToken)
    repos = _repos(call, one, asked)
    permissions = _permissions(one, asked.permissions)
    secret, access = Apps(call.service.forge).token(one, repos, permissions)
    faces = [
        call.renderer.repository(found(call.store.repositories.get(repo)))
        for repo in repos
    ]
    return Answer(token(secret, access, faces), 201)


def _repos(call: Call, one: Installation, asked: NewToken) -> tuple[int, ...]:
    """Return the repositories that were asked for.

    Raises `Refused`: 422: one of them is not covered.
    """
    names = {
        repo.name.lower(): repo.id
        for repo in map(call.store.repositories.get, one.repos)
        if repo is not None
    }
    wanted = {*asked.repository_ids}
    wanted |= {names.get(name.lower(), 0) for name in asked.repositories}
    if not wanted <= set(names.values()):
        raise Refused(422, _NOT_COVERED)
    return tuple(sorted(wanted or names.values()))


def _permissions(
    one: Installation, asked: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return the permissions that were asked for.

    Raises `Refused`: 422: one of them was not granted.
    """
    granted = dict(one.permissions)
    for name, level in asked.items():
        given = granted.get(name, LEVELS[0])
        if level not in LEVELS or LEVELS.index(level) > LEVELS.index(given):
            raise Refused(422, _NOT_GRANTED)
    return tuple(sorted((asked or granted).items()))


async def revoke_token(call: Call) -> Answer:
    if call.token.access is None:
        raise Refused(403, "This endpoint takes the token of an installation.")
    with call.store.change():
        call.store.tokens.remove(call.token)
    return Answer(status=204)


# --- deliveries -----------------------------------------------------------------------


def _deliveries(call: Call) -> list[Delivery]:
    """Return all that the App's webhook was sent and that ended, newest first."""
    known = [
        delivery
        for hook in call.store.hooks.of(_app(call).id)
        for delivery in deliveries_in(call.store).of(hook.id)
        if not delivery.pending
    ]
    return sorted(known, key=lambda one: -one.id)


async def get_hook_config(call: Call) -> Answer:
    known = call.store.hooks.of(_app(call).id)
    none = {"content_type": "json", "insecure_ssl": "0"}
    return Answer(shown_config(known[0]) if known else none)


async def list_deliveries(call: Call) -> Answer:
    return listed(call, _deliveries(call))


ROUTES = (
    Route("GET", "/app", get_app, identify=signed_by),
    Route("GET", "/apps/{app_slug}", get_public_app),
    Route("GET", "/app/installations", list_installations, identify=signed_by),
    Route("GET", "/installation/repositories", list_repositories),
    Route(
        "GET",
        "/repos/{owner}/{repo}/installation",
        get_repo_installation,
        identify=signed_by,
    ),
    Route(
        "POST",
        r"/app/installations/{installation:\d+}/access_tokens",
        create_token,
        identify=signed_by,
    ),
    Route("DELETE", "/installation/token", revoke_token),
    Route("GET", "/app/hook/config", get_hook_config, identify=signed_by),
    Route("GET", "/app/hook/deliveries", list_deliveries, identify=signed_by),
)
