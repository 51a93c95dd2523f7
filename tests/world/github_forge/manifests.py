"""Apps made from manifests: the form's address, and the exchange of its code.

https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from aiohttp import web
from msgspec import DecodeError, Struct, ValidationError, field, json

from brat.forge.resources.wire import not_found
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.record_store import Store
from tests.world.app_key import pair
from tests.world.github_forge import app_views
from tests.world.github_forge.app_events import manifest_faults
from tests.world.github_forge.app_records import App
from tests.world.github_forge.apps import Apps, NewApp, app_itself
from tests.world.github_forge.sign_in import signed_in
from tests.world.given_secrets import given

_REFUSED: Final = (
    "Invalid GitHub App configuration\n"
    "The configuration does not appear to be a valid GitHub App manifest.\n"
)


class Hooked(Struct):
    """Where an App's webhook delivers to."""

    url: str
    active: bool = True


class Manifest(Struct):
    """What is known of an App before it is made."""

    name: str
    url: str
    redirect_url: str
    hook_attributes: Hooked | None = None
    callback_urls: tuple[str, ...] = ()
    default_permissions: dict[str, str] = field(default_factory=dict)
    default_events: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Made:
    """What a code stands for, once."""

    app: App
    shown: dict[str, str]
    """The secrets, the one time they are shown."""


_CODES: Final = WeakKeyDictionary[Store, dict[str, _Made]]()


def _codes(service: Service) -> dict[str, _Made]:
    return _CODES.setdefault(service.forge.store, {})


class Manifests:
    """Where the form of a manifest is posted to."""

    def __init__(self, service: Service) -> None:
        """Make Apps of `service`'s accounts."""
        self._service = service

    def routes(self) -> list[web.RouteDef]:
        """Return the addresses for a person and for an organisation."""
        return [
            web.post("/settings/apps/new", self._new),
            web.post("/organizations/{owner}/settings/apps/new", self._new),
        ]

    async def _new(self, request: web.Request) -> web.Response:
        user = signed_in(self._service.forge, request)
        if user is None:
            raise web.HTTPUnauthorized(text="Nobody is signed in at this forge.\n")
        form = await request.post()
        try:
            told = json.decode(str(form.get("manifest", "")), type=Manifest)
        except (DecodeError, ValidationError) as error:
            return _refused([str(error)])
        faults = manifest_faults(told.default_permissions, told.default_events)
        if faults:
            return _refused(faults)
        made = self._made(told, request.match_info.get("owner", user.login))
        code = secrets.token_hex(20)
        _codes(self._service)[code] = made
        back = {"code": code, "state": request.query.get("state", "")}
        raise web.HTTPFound(f"{told.redirect_url}?{urlencode(back)}")

    def _made(self, told: Manifest, owner: str) -> _Made:
        slug = re.sub(r"[^a-z0-9]+", "-", told.name.lower()).strip("-")
        private, public = pair(slug)
        secret, hook_secret = (given(secrets.token_hex(20)) for _ in range(2))
        hook = told.hook_attributes
        new = NewApp(
            slug=slug,
            owner=owner,
            public_key=public,
            permissions=told.default_permissions,
            events=told.default_events,
            hook=(hook.url, hook_secret) if hook is not None else None,
            client_secret=secret,
            callbacks=told.callback_urls,
        )
        app = Apps(self._service.forge).add(new)
        shown = {"pem": private, "client_secret": secret, "webhook_secret": hook_secret}
        return _Made(app, shown)


def _refused(faults: list[str]) -> web.Response:
    said = "".join(f"Error: {fault}\n" for fault in faults)
    return web.Response(status=HTTPStatus.UNPROCESSABLE_ENTITY, text=_REFUSED + said)


def by_code(service: Service, request: web.Request) -> Caller:
    """Return the account of the App that a code stands for.

    Raises:
        Refused: 404: the code was used, or is none.
    """
    made = _codes(service).get(request.match_info["code"])
    if made is None:
        raise not_found()
    return app_itself(service.forge, made.app)


async def convert(call: Call) -> Answer:
    """`POST /app-manifests/{code}/conversions`: once."""
    made = _codes(call.service).pop(call.word("code"))
    owner = call.service.renderer.who(made.app.owner)
    shown: dict[str, Any] = app_views.app(call.site, made.app, owner, 0)
    return Answer(shown | made.shown, 201)


ROUTES = (
    Route("POST", "/app-manifests/{code}/conversions", convert, identify=by_code),
)
