"""REST: Apps, their installations, and what tokens may do.

A restricted token is an App installation's or a workflow job's. Its permissions count,
and not the role of the account that it acts as.

All but those of `/installation/` take the App's own signed token and no other.

https://docs.github.com/rest/authentication/permissions-required-for-github-apps
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/apps
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from aiohttp import web
from msgspec import field
from msgspec.structs import asdict

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    Access,
    Owned,
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
    shows,
)
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.apps import App, Apps, Installation
from tests.world.github_forge.endpoint_permissions import needed, read
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.webhooks import deliveries_in


def app_view(call: Call, one: App) -> dict[str, Any]:
    page = f"{call.site.base}/apps/{one.new.slug}"
    return {
        "id": one.id,
        "html_url": page,
        **fields(one.new, "slug permissions events"),
    }


def installation_view(call: Call, one: Installation) -> dict[str, Any]:
    account = call.renderer.user(call.renderer.who(one.owner))
    return fields(one, "id suspended_at") | {"account": account}


LEVELS: Final = ("none", "read", "write", "admin")
"""In rising order."""
ALWAYS: Final = ("metadata", "read")
"""Every installation has it.

https://docs.github.com/apps/creating-github-apps/registering-a-github-app/choosing-permissions-for-a-github-app
"""
_NEVER_PUBLIC: Final = frozenset({"administration", "repository_hooks", "secrets"})


def covers(granted: Mapping[str, str], name: str, level: str) -> bool:
    """Say whether what is granted has a permission."""
    given = granted.get(name, "none")
    return (name, level) == ALWAYS or LEVELS.index(given) >= LEVELS.index(level)


class TokenPermissions:
    """GitHub's permissions, as the forge's `Extension` asks for them."""

    def check(self, call: Call, route: Route) -> None:
        """Refuse with the permissions that would do, if any would."""
        access, need = call.token.access, needed(route.method, route.path)
        if access is None or not route.path:
            return  # nothing is there: 404 follows
        if need is None:
            raise Refused(403, NOT_ACCESSIBLE)
        needs, granted = read(need), dict(access.permissions)
        hidden = any(name in _NEVER_PUBLIC for each in needs for name, _ in each)
        is_public = call.found is not None and not call.found.private
        if route.method == "GET" and is_public and not hidden:
            return
        if not any(all(covers(granted, *one) for one in each) for each in needs):
            raise Refused(403, NOT_ACCESSIBLE, headers=self.accepted(route))

    def accepted(self, route: Route) -> dict[str, str]:
        """Return the header that names what a route needs."""
        need = needed(route.method, route.path)
        return {"X-Accepted-GitHub-Permissions": need} if need else {}

    def check_git(self, access: Access, level: str) -> None:
        """Check that a restricted token may fetch (`read`) or push (`write`)."""
        if not covers(dict(access.permissions), "contents", level):
            raise Refused(403, f"This token may not {level} contents.")


class Asked(Body):
    default_workflow_permissions: Literal["read", "write"] | None = None
    can_approve_pull_request_reviews: bool | None = None


class JobTokens(Owned, frozen=True, kw_only=True):
    """A repository's settings; those of an old one, until somebody changes them."""

    default_workflow_permissions: str = "write"
    can_approve_pull_request_reviews: bool = False
    actions: str = "all"
    """Which actions jobs may use; empty: Actions are off."""
    patterns: tuple[str, ...] = ()
    """Those that `selected` ones match."""


_settings = per_store(lambda store: Table(store, JobTokens, lambda one: one.repo))


def _known(store: Store, repo: int) -> JobTokens:
    kept = _settings(store)
    return next(iter(kept.of(repo)), None) or kept.add(JobTokens(repo=repo))


async def get_settings(call: Call) -> Answer:
    names = " ".join(Asked.__struct_fields__)
    return Answer(fields(_known(call.store, call.repo.id), names))


async def put_settings(call: Call) -> Answer:
    asked = asdict(call.body(Asked))
    changes = {name: value for name, value in asked.items() if value is not None}
    _settings(call.store).change(_known(call.store, call.repo.id), **changes)
    return Answer(status=204)


async def get_policy(call: Call) -> Answer:
    allowed = _known(call.store, call.repo.id).actions
    shown = {"enabled": bool(allowed)}
    return Answer(shown | ({"allowed_actions": allowed} if allowed else {}))


async def get_selected(call: Call) -> Answer:
    known = _known(call.store, call.repo.id)
    if known.actions != "selected":
        raise Refused(409, "Conflict")
    return Answer({"patterns_allowed": known.patterns})


def allow(forge: Forge, full_name: str, actions: str, *patterns: str) -> None:
    """Let jobs of a repository use only some actions."""
    known = _known(forge.store, forge.known(full_name).id)
    _settings(forge.store).change(known, actions=actions, patterns=patterns)


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


async def get_public_app(call: Call) -> Answer:
    slug = call.word("app_slug")
    if slug == ACTIONS_APP:
        return Answer({"id": ACTIONS_APP_ID, "slug": slug})
    app = found(next(iter(Apps(call.service.forge).known.of(slug)), None))
    return Answer(app_view(call, app))


async def get_repo_installation(call: Call) -> Answer:
    one = Apps(call.service.forge).installed_in(_app(call), call.repo.id)
    return Answer(installation_view(call, found(one)))


async def list_installations(call: Call) -> Answer:
    known = Apps(call.service.forge).installations.of(_app(call).id)
    return call.page(known, lambda one: installation_view(call, one))


def _of_installation(call: Call) -> Access:
    if call.token.access is None:
        raise Refused(403, "This endpoint takes the token of an installation.")
    return call.token.access


def _repositories(call: Call, numbers: Iterable[int]) -> list[Repository]:
    return [found(call.store.repositories.get(number)) for number in numbers]


async def list_repositories(call: Call) -> Answer:
    repos = _repositories(call, _of_installation(call).repos)
    return call.page(repos, call.renderer.repository, "repositories")


async def create_token(call: Call) -> Answer:
    one = found(Apps(call.service.forge).installations.get(call.number("installation")))
    app, asked = _app(call), call.body(NewToken)
    if one.app != app.id:
        raise not_found()
    if one.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    ids = {repo.name.lower(): repo.id for repo in _repositories(call, one.repos)}
    wanted = {ids.get(name.lower(), 0) for name in asked.repositories}
    wanted |= {*asked.repository_ids}
    if not wanted <= {*one.repos}:
        raise Refused(422, "A repository is not accessible to the parent installation.")
    asked_for = asked.permissions or app.new.permissions
    if not all(covers(app.new.permissions, *each) for each in asked_for.items()):
        raise Refused(422, "The permissions requested are not granted.")
    secret, access = Apps(call.service.forge).token(
        app, tuple(sorted(wanted or one.repos)), tuple(sorted(asked_for.items()))
    )
    return Answer({"token": secret, "expires_at": access.expires_at}, 201)


async def revoke_token(call: Call) -> Answer:
    _of_installation(call)
    with call.store.change():
        call.store.tokens.remove(call.token)
    return Answer(status=204)


async def get_hook_config(call: Call) -> Answer:
    """Show where the deliveries of an App's webhook go; the secret is never shown."""
    known = call.store.hooks.of(_app(call).id)
    url = {"url": known[0].url} if known else {}
    return Answer({**url, "content_type": "json", "insecure_ssl": "0"})


async def list_deliveries(call: Call) -> Answer:
    known = [
        delivery
        for hook in call.store.hooks.of(_app(call).id)
        for delivery in deliveries_in(call.store).of(hook.id)
        if not delivery.pending
    ]
    return call.page(known[::-1], lambda one: fields(one, "id status_code"))


_POLICY: Final = "/repos/{owner}/{repo}/actions/permissions"
ROUTES = (
    Route("GET", _POLICY, get_policy, "admin"),
    Route("GET", _POLICY + "/selected-actions", get_selected, "admin"),
    Route("GET", _POLICY + "/workflow", get_settings, "admin"),
    Route("PUT", _POLICY + "/workflow", put_settings, "admin"),
    Route("GET", "/app", shows(lambda c: app_view(c, _app(c))), identify=signed_by),
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
