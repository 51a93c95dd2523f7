"""Apps: who they are, where they are installed, and what they show.

From GitHub's own descriptions of its webhooks, as the npm package
`@octokit/openapi-webhooks` has them; tests/forge/test_published.py compares.

https://docs.github.com/webhooks/webhook-events-and-payloads
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Final

import jwt
from msgspec.structs import replace

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
from brat.forge.service.announcements import Kind
from brat.forge.storage.forge_state import Caller, Forge, digest
from brat.forge.storage.record_store import Store, Table
from grite.errors import BratError
from tests.contract.openapi import described
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.shapes import node_id
from tests.world.github_forge.webhooks import PRESSED, KeptWebhooks
from tests.world.given_secrets import given


class App(Record, frozen=True, kw_only=True):
    """A GitHub App; only the public half of its key is here."""

    slug: str
    owner: int
    bot: int
    """The account that it acts as."""
    client_id: str
    public_key: str
    """PEM."""
    permissions: Permissions
    events: tuple[str, ...]
    created_at: str
    secret_digest: str = ""
    """Of the client secret; empty: nobody signs in with it."""
    callbacks: tuple[str, ...] = ()
    """Where people may be sent back to who sign in."""


class Installation(Record, frozen=True, kw_only=True):
    """What one account lets an App do in some of its repositories."""

    app: int
    owner: int
    repos: tuple[int, ...]
    permissions: Permissions
    created_at: str
    updated_at: str
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
_NO_JWT: Final = "A JSON web token could not be decoded"
_NO_IAT: Final = (
    "'Issued at' claim ('iat') must be an Integer representing the time that the "
    "assertion was issued"
)
_NO_EXP: Final = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future "
    "time at which the assertion expires"
)
_FAR_EXP: Final = "'Expiration time' claim ('exp') is too far in the future"


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


class _Tables:
    """What a forge's file holds of Apps; read once, however many look at it."""

    def __init__(self, store: Store) -> None:
        self.apps = Table(store, App, lambda r: r.slug)
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
        """Make an App and the account that it acts as.

        Raises `BratError`: the slug is taken, there is no such owner, or the
        permissions do not allow the events.
        """
        faults = manifest_faults(new.permissions, {*new.events} - {"*"})
        if faults:
            raise BratError("; ".join(faults))
        owner = self._forge.user(new.owner)
        if owner is None:
            raise BratError(f"there is no account {new.owner}: add it first")
        if self.known.of(new.slug):
            raise BratError(f"there is an App {new.slug} already")
        bot = self._forge.add_user(f"{new.slug}[bot]", kind="Bot")
        now = self._forge.now()
        with self._store.change():
            app = App(
                id=self._store.next_id(),
                slug=new.slug,
                owner=owner.id,
                bot=bot.id,
                client_id=f"Iv1.{new.slug}",
                public_key=new.public_key,
                permissions=_sorted(new.permissions),
                events=new.events,
                created_at=now,
                secret_digest=digest(new.client_secret) if new.client_secret else "",
                callbacks=new.callbacks,
            )
            if new.hook is not None:
                self._store.hooks.put(
                    Hook(
                        id=self._store.next_id(),
                        repo=app.id,
                        url=new.hook[0],
                        secret=new.hook[1],
                    )
                )
            return self.known.put(app)

    def install(self, slug: str, full_name: str) -> Installation:
        """Install an App in one more repository of its owner; safe to call twice.

        It may do all that it asks for.

        Raises `BratError`: there is no such App or repository.
        """
        repo = self._forge.known(full_name)
        app = next(iter(self.known.of(slug)), None)
        owner = self._forge.user(repo.owner)
        if app is None or owner is None:
            raise BratError(f"there is no App {slug}: add it first")
        self._forge.grant(full_name, f"{slug}[bot]", "write")
        now = self._forge.now()
        known = [one for one in self.installations.of(app.id) if one.owner == owner.id]
        with self._store.change():
            old = known[0] if known else None
            return self.installations.put(
                Installation(
                    id=old.id if old else self._store.next_id(),
                    app=app.id,
                    owner=owner.id,
                    repos=tuple(sorted({*(old.repos if old else ()), repo.id})),
                    permissions=app.permissions,
                    created_at=old.created_at if old else now,
                    updated_at=now,
                )
            )

    def suspend(self, installation: Installation) -> Installation:
        with self._store.change():
            return self.installations.put(
                replace(installation, suspended_at=self._forge.now())
            )

    def installed_in(self, app: App, repo: int) -> Installation | None:
        known = self.installations.of(app.id)
        return next((one for one in known if repo in one.repos), None)

    def token(
        self, one: Installation, repos: tuple[int, ...], permissions: Permissions
    ) -> tuple[str, Access]:
        app = self.known.get(one.app)
        bot = self._store.users.get(app.bot) if app else None
        assert bot is not None
        access = Access(
            repos=repos,
            permissions=permissions,
            expires_at=iso(self._forge.clock() + TOKEN_LASTS),
        )
        return given(self._forge.add_token(bot.login, access=access)), access

    def caller(self, signed: str) -> Caller:
        """Return the App that signed a token.

        Raises `Refused`: 401 or 404, as GitHub words it.
        """
        try:
            said = jwt.decode(signed, options={"verify_signature": False})
            app = self._by_issuer(said["iss"])
            said = jwt.decode(
                signed,
                app.public_key,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False},
            )
        except (jwt.PyJWTError, KeyError):
            raise Refused(401, _NO_JWT) from None
        self._in_time(said)
        return app_itself(self._forge, app)

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
            if repo.id not in one.repos or one.suspended_at is not None:
                continue
            if kind == PRESSED and not self._made(one.app, payload["check_run"]):
                continue
            app = self.known.get(one.app)
            asked = app is not None and {kind[0], "*"} & {*app.events}
            if asked and may_hear(kind[0], dict(one.permissions)):
                named = {"id": one.id, "node_id": node_id("Installation", one.id)}
                told = {**payload, "installation": named}
                for hook in self._store.hooks.of(one.app):
                    webhooks.send(hook, kind, told)

    def _made(self, app: int, check: Mapping[str, Any]) -> bool:
        return app in {each.id for each in self.known.of(check["app"]["slug"])}

    def _by_issuer(self, issuer: object) -> App:
        for app in self.known.all():
            if str(issuer) in {str(app.id), app.client_id}:
                return app
        raise Refused(404, "Integration not found")

    def _in_time(self, said: Mapping[str, Any]) -> None:
        now = self._forge.clock().timestamp()
        begins, ends = said.get("iat"), said.get("exp")
        if not isinstance(begins, int) or begins > now:
            raise Refused(401, _NO_IAT)
        if not isinstance(ends, int | float) or ends <= now:
            raise Refused(401, _NO_EXP)
        if ends > now + JWT_LASTS_S:
            raise Refused(401, _FAR_EXP)


def app_itself(forge: Forge, app: App) -> Caller:
    """Return an App as the one who asks, without a token."""
    bot = forge.store.users.get(app.bot)
    assert bot is not None
    return Caller(bot, Token(id=0, user=bot.id, scope="write", digest=""))


def _sorted(permissions: Mapping[str, str]) -> Permissions:
    return tuple(sorted(permissions.items()))
