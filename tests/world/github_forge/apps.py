"""Apps: who they are, where they are installed, and what they show.

From GitHub's own descriptions of its webhooks, as the npm package
`@octokit/openapi-webhooks` has them; tests/forge/test_published.py compares.

https://docs.github.com/webhooks/webhook-events-and-payloads
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace as with_fields
from datetime import timedelta
from functools import cache
from typing import Any, Final

import jwt

from brat.forge.resources.forge_records import (
    Access,
    Hook,
    Permissions,
    Record,
    Repository,
    Token,
    User,
)
from brat.forge.resources.wire import Refused, iso
from brat.forge.rest.rest_call import found
from brat.forge.service.announcements import Kind
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.record_store import Store, Table
from tests.contract.openapi import described
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.shapes import node_id
from tests.world.github_forge.webhooks import PRESSED, KeptWebhooks
from tests.world.given_secrets import given


@dataclass(frozen=True, kw_only=True)
class NewApp:
    slug: str
    owner: str
    public_key: str
    """PEM; the private half stays with the App."""
    permissions: Mapping[str, str]
    events: tuple[str, ...] = ()
    """What its webhook hears of; `*` stands for all."""
    hook: tuple[str, str] | None = None
    """Where that goes, and the secret."""
    client_secret: str = ""
    """With which people sign in; empty: nobody can."""
    callbacks: tuple[str, ...] = ()
    """Where they may be sent back to."""


class App(Record, frozen=True, kw_only=True):
    new: NewApp
    bot: int
    """The account that it acts as."""

    @property
    def client_id(self) -> str:
        return f"Iv1.{self.new.slug}"


class Installation(Record, frozen=True, kw_only=True):
    """What one account lets an App do in some of its repositories: all that it asks."""

    app: int
    owner: int
    repos: tuple[int, ...]
    suspended_at: str | None = None


EVENT_NEEDS: Final = {
    "check_run": "checks",
    "check_suite": "checks",
    "issue_comment": "issues",
    "issue_dependencies": "issues",
    "issues": "issues",
    "pull_request": "pull_requests",
    "pull_request_review": "pull_requests",
    "pull_request_review_comment": "pull_requests",
    "push": "contents",
    "repository": "metadata",
    "status": "statuses",
    "sub_issues": "issues",
    "workflow_job": "actions",
    "workflow_run": "actions",
}
"""What is sent or subscribed to, with the permission that it takes, to read."""


@cache
def _levels() -> dict[str, list[str]]:
    """Return the levels of each permission that GitHub has."""
    own = described()["components"]["schemas"]["app-permissions"]["properties"]
    unlisted = {name: ["read", "write"] for name in EVENT_NEEDS.values()}
    return unlisted | {name: one["enum"] for name, one in own.items()}


def may_hear(event: str, permissions: Mapping[str, str]) -> bool:
    return EVENT_NEEDS.get(event) in {*permissions, "metadata"}


def manifest_faults(permissions: Mapping[str, str], events: Iterable[str]) -> list[str]:
    """Return why GitHub makes no App of a manifest; empty: it does."""
    levels = _levels()
    faults = [
        f"Default permissions unsupported: {name}={level}"
        for name, level in permissions.items()
        if level not in levels.get(name, ())
    ]
    return faults + [
        f"Default events are not supported by permissions: {event}"
        for event in events
        if not may_hear(event, permissions)
    ]


TOKEN_LASTS: Final = timedelta(hours=1)
JWT_LASTS_S: Final = 600


class _Tables:
    """What a forge's file holds of Apps; read once, however many look at it."""

    def __init__(self, store: Store) -> None:
        self.apps = Table(store, App, lambda r: r.new.slug)
        self.installations = Table(store, Installation, lambda r: r.app)


_tables = per_store(_Tables)


def app_id(forge: Forge, bot: int) -> int:
    known = _tables(forge.store).apps.all()
    return next((app.id for app in known if app.bot == bot), bot)


class Apps:
    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._store = forge.store
        tables = _tables(forge.store)
        self.known, self.installations = tables.apps, tables.installations

    def add(self, new: NewApp) -> App:
        """Make an App, and the account that it acts as."""
        assert not manifest_faults(new.permissions, {*new.events} - {"*"})
        assert self._forge.user(new.owner)
        bot = self._forge.add_user(f"{new.slug}[bot]", kind="Bot")
        kept = with_fields(new, permissions=dict(sorted(new.permissions.items())))
        app = self.known.add(App(new=kept, bot=bot.id))
        if new.hook is not None:
            url, secret = new.hook
            self._store.hooks.add(Hook(repo=app.id, url=url, secret=secret))
        return app

    def install(self, slug: str, full_name: str) -> Installation:
        """Install an App in one more repository of its owner; safe to call twice."""
        repo, (app,) = self._forge.known(full_name), self.known.of(slug)
        owner = self._forge.user(repo.owner)
        assert owner is not None
        self._forge.grant(full_name, f"{slug}[bot]", "write")
        for one in self.installations.of(app.id):
            if one.owner == owner.id:
                repos = tuple(sorted({*one.repos, repo.id}))
                return self.installations.change(one, repos=repos, suspended_at=None)
        new = Installation(app=app.id, owner=owner.id, repos=(repo.id,))
        return self.installations.add(new)

    def suspend(self, one: Installation) -> Installation:
        return self.installations.change(one, suspended_at=self._forge.now())

    def installed_in(self, app: App, repo: int) -> Installation | None:
        known = self.installations.of(app.id)
        return next((one for one in known if repo in one.repos), None)

    def token(
        self, app: App, repos: tuple[int, ...], permissions: Permissions
    ) -> tuple[str, Access]:
        """Make a token of an installation."""
        access = Access(
            repos=repos,
            permissions=permissions,
            expires_at=iso(self._forge.clock() + TOKEN_LASTS),
        )
        login = f"{app.new.slug}[bot]"
        return given(self._forge.add_token(login, access=access)), access

    def caller(self, signed: str) -> Caller:
        """Return the App that signed a token.

        Raises `Refused`: 401 or 404.
        """
        try:
            said = jwt.decode(signed, options={"verify_signature": False})
            app = found(self.known.get(int(said["iss"])))
            jwt.decode(
                signed,
                app.new.public_key,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False},
            )
        except (jwt.PyJWTError, KeyError):
            raise Refused(401, "A JSON web token could not be decoded") from None
        now = self._forge.clock().timestamp()
        if not said["iat"] <= now < said["exp"] <= now + JWT_LASTS_S:
            raise Refused(401, "A claim of the JSON web token is wrong")
        bot = self._store.users.get(app.bot)
        assert bot is not None
        return Caller(bot, Token(user=bot.id, scope="write", digest=""))

    def acting_as(self, who: User) -> App:
        return next(one for one in self.known.all() if one.bot == who.id)

    def hear(
        self,
        webhooks: KeptWebhooks,
        repo: Repository,
        kind: Kind,
        payload: Mapping[str, Any],
    ) -> None:
        """Tell the Apps that are installed in a repository and may know of it."""
        for one in self.installations.all():
            app = self.known.get(one.app)
            if app is None or repo.id not in one.repos or one.suspended_at is not None:
                continue
            if kind == PRESSED and payload["check_run"]["app"]["slug"] != app.new.slug:
                continue
            asked = {kind[0], "*"} & {*app.new.events}
            if asked and may_hear(kind[0], app.new.permissions):
                named = {"id": one.id, "node_id": node_id("Installation", one.id)}
                told = {**payload, "installation": named}
                for hook in self._store.hooks.of(one.app):
                    webhooks.send(hook, kind, told)
