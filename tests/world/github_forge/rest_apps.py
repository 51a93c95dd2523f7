"""REST: what an App asks for itself: who it is, where it is, tokens, deliveries.

All but those of `/installation/` take the App's own signed token and no other.
https://docs.github.com/rest/apps
"""

from collections.abc import Mapping
from typing import Final

from aiohttp import web
from msgspec import field

from brat.forge.resources import account_resource
from brat.forge.resources.account_resource import ACTIONS_APP, Delivery
from brat.forge.resources.wire import Refused, fault, not_found, parse
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, secret_of
from brat.forge.rest.rest_repositories import shown_config
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from tests.world.github_forge import app_views as views
from tests.world.github_forge.app_records import App, Installation
from tests.world.github_forge.apps import Apps
from tests.world.github_forge.rest_hooks import listed
from tests.world.github_forge.token_permissions import LEVELS

_SUSPENDED: Final = "This installation has been suspended"
_NOT_GRANTED: Final = "The permissions requested are not granted to this installation."
_NOT_COVERED: Final = (
    "There is at least one repository that does not exist or is not accessible to the "
    "parent installation."
)


class NewToken(Body):
    """The body of `POST access_tokens`; what is left out is not reduced."""

    repositories: tuple[str, ...] | None = None
    repository_ids: tuple[int, ...] | None = None
    permissions: dict[str, str] = field(default_factory=dict)


def _app(call: Call) -> App:
    return Apps(call.service.forge).acting_as(call.user)


def signed_by(service: Service, request: web.Request) -> Caller:
    """Return the account of the App that asks.

    Raises:
        Refused: 401, or 404 when nobody knows it.
    """
    signed = secret_of(request)
    if signed is None:
        raise Refused(401, "Requires authentication")
    return Apps(service.forge).caller(signed)


async def get_app(call: Call) -> Answer:
    """`GET /app`."""
    app = _app(call)
    owner = call.service.renderer.who(app.owner)
    count = len(Apps(call.service.forge).installations.of(app.id))
    return Answer(views.app(call.site, app, owner, count))


async def get_public_app(call: Call) -> Answer:
    """`GET /apps/{slug}`: any App, for whoever asks."""
    slug = call.word("app_slug")
    if slug == ACTIONS_APP:
        return Answer(account_resource.app(call.site, slug))
    apps = Apps(call.service.forge)
    app = found(next(iter(apps.known.of(slug)), None))
    owner = call.service.renderer.who(app.owner)
    return Answer(views.app(call.site, app, owner, len(apps.installations.of(app.id))))


async def get_repo_installation(call: Call) -> Answer:
    """`GET /repos/{owner}/{repo}/installation`."""
    app = _app(call)
    one = found(Apps(call.service.forge).installed_in(app, call.repo.id))
    owner = call.service.renderer.who(one.owner)
    return Answer(views.installation(call.site, one, app, owner))


async def list_installations(call: Call) -> Answer:
    """`GET /app/installations`."""
    app = _app(call)

    def shown(one: Installation) -> dict[str, object]:
        owner = call.service.renderer.who(one.owner)
        return views.installation(call.site, one, app, owner)

    since = call.asked("since")
    try:
        after = parse(since) if since else None
    except ValueError:
        raise fault("Installation", "since", "invalid") from None
    known = Apps(call.service.forge).installations.of(app.id)
    newer = [one for one in known if not after or parse(one.updated_at) >= after]
    return call.page(newer, shown)


async def list_repositories(call: Call) -> Answer:
    """`GET /installation/repositories`: what the token that is shown opens."""
    if call.token.access is None:
        raise Refused(403, "This endpoint takes the token of an installation.")
    opened = map(call.store.repositories.get, call.token.access.repos)
    repos = [repo for repo in opened if repo is not None]
    return call.page(repos, call.service.renderer.repository, "repositories")


async def create_token(call: Call) -> Answer:
    """`POST /app/installations/{id}/access_tokens`."""
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
        call.service.renderer.repository(found(call.store.repositories.get(repo)))
        for repo in repos
    ]
    return Answer(views.token(secret, access, faces), 201)


def _repos(call: Call, one: Installation, asked: NewToken) -> tuple[int, ...]:
    """Return the repositories that were asked for.

    Raises:
        Refused: 422: one of them is not covered.
    """
    names = {
        repo.name.lower(): repo.id
        for repo in map(call.store.repositories.get, one.repos)
        if repo is not None
    }
    wanted = set(asked.repository_ids or ())
    wanted |= {names.get(name.lower(), 0) for name in asked.repositories or ()}
    if not wanted <= set(names.values()):
        raise Refused(422, _NOT_COVERED)
    return tuple(sorted(wanted or names.values()))


def _permissions(
    one: Installation, asked: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return the permissions that were asked for.

    Raises:
        Refused: 422: one of them was not granted.
    """
    granted = dict(one.permissions)
    for name, level in asked.items():
        given = granted.get(name, LEVELS[0])
        if level not in LEVELS or LEVELS.index(level) > LEVELS.index(given):
            raise Refused(422, _NOT_GRANTED)
    return tuple(sorted((asked or granted).items()))


async def revoke_token(call: Call) -> Answer:
    """`DELETE /installation/token`: the one that is shown."""
    if call.token.access is None:
        raise Refused(403, "This endpoint takes the token of an installation.")
    call.service.forge.keys.drop(call.token)
    return Answer(status=204)


# --- deliveries -----------------------------------------------------------------------


def _deliveries(call: Call) -> list[Delivery]:
    """Return all that the App's webhook was sent and that ended, newest first."""
    known = [
        delivery
        for hook in call.store.hooks.of(_app(call).id)
        for delivery in call.store.deliveries.of(hook.id)
        if not delivery.pending
    ]
    return sorted(known, key=lambda one: -one.id)


async def get_hook_config(call: Call) -> Answer:
    """`GET /app/hook/config`; an App without a webhook has an empty one."""
    known = call.store.hooks.of(_app(call).id)
    none = {"content_type": "json", "insecure_ssl": "0"}
    return Answer(shown_config(known[0]) if known else none)


async def list_deliveries(call: Call) -> Answer:
    """`GET /app/hook/deliveries`."""
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
