"""Apps: who they are, where they are installed, and what they show.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from msgspec.structs import replace

from brat.forge.callers import Caller, digest
from brat.forge.moments import iso
from brat.forge.records import (
    Access,
    App,
    Hook,
    Installation,
    Permissions,
    Token,
)
from brat.forge.refusals import Refused
from brat.forge.state import Forge
from grite.errors import BratError

TOKEN_LASTS: Final = timedelta(hours=1)
JWT_LASTS_S: Final = 600
LEVELS: Final = ("none", "read", "write", "admin")
"""Rising."""
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
    """What its owner says of an App."""

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


class Apps:
    """The Apps of one forge."""

    def __init__(self, forge: Forge) -> None:
        """Look at what `forge` knows."""
        self._forge = forge
        self._store = forge.store

    def add(self, new: NewApp) -> App:
        """Make an App and the account that it acts as.

        Raises:
            BratError: the slug is taken, or there is no such owner.
        """
        owner = self._forge.user(new.owner)
        if owner is None:
            raise BratError(f"there is no account {new.owner}: add it first")
        if self._store.apps.of(new.slug):
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
                        repo=0,
                        app=app.id,
                        url=new.hook[0],
                        secret=new.hook[1],
                        events=new.events,
                        created_at=now,
                        updated_at=now,
                    )
                )
            return self._store.apps.put(app)

    def install(
        self, slug: str, full_name: str, permissions: Mapping[str, str] | None = None
    ) -> Installation:
        """Install an App in one more repository of its owner; safe to call twice.

        Args:
            slug: the App's.
            full_name: the repository's, `owner/name`.
            permissions: None: all that the App asks for.

        Raises:
            BratError: there is no such App or repository.
        """
        repo = self._forge.known(full_name)
        app = next(iter(self._store.apps.of(slug)), None)
        owner = self._forge.user(repo.owner)
        if app is None or owner is None:
            raise BratError(f"there is no App {slug}: add it first")
        granted = app.permissions if permissions is None else _sorted(permissions)
        self._forge.grant(full_name, f"{slug}[bot]", "write")
        now = self._forge.now()
        known = [
            one for one in self._store.installations.of(app.id) if one.owner == owner.id
        ]
        with self._store.change():
            old = known[0] if known else None
            return self._store.installations.put(
                Installation(
                    id=old.id if old else self._store.next_id(),
                    app=app.id,
                    owner=owner.id,
                    repos=tuple(sorted({*(old.repos if old else ()), repo.id})),
                    permissions=granted,
                    created_at=old.created_at if old else now,
                    updated_at=now,
                )
            )

    def suspend(self, installation: Installation) -> Installation:
        """Let an installation do nothing any more."""
        with self._store.change():
            return self._store.installations.put(
                replace(installation, suspended_at=self._forge.now())
            )

    def installed_in(self, app: App, repo: int) -> Installation | None:
        """Return an App's installation that covers a repository."""
        known = self._store.installations.of(app.id)
        return next((one for one in known if repo in one.repos), None)

    def token(
        self, one: Installation, repos: tuple[int, ...], permissions: Permissions
    ) -> tuple[str, Access]:
        """Make a token of an installation, for an hour."""
        app = self._store.apps.get(one.app)
        bot = self._store.users.get(app.bot) if app else None
        assert bot is not None  # noqa: S101  they are made together
        access = Access(
            installation=one.id,
            repos=repos,
            permissions=permissions,
            expires_at=iso(self._forge.clock() + TOKEN_LASTS),
        )
        return self._forge.keys.add(bot, access=access), access

    def caller(self, signed: str) -> Caller:
        """Return the App that signed a token.

        Raises:
            Refused: 401 or 404, as GitHub words it.
        """
        import jwt  # only Apps need it, and it is slow to load

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
        bot = self._store.users.get(app.bot)
        assert bot is not None  # noqa: S101  they are made together
        shown = Token(id=0, user=bot.id, scope="write", digest="")
        return Caller(bot, shown, app)

    def _by_issuer(self, issuer: object) -> App:
        for app in self._store.apps.all():
            if issuer in {str(app.id), app.client_id}:
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


def _sorted(permissions: Mapping[str, str]) -> Permissions:
    return tuple(sorted(permissions.items()))
