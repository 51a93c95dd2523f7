"""`Forge`: a folder on disk, the accounts in it, and the repositories.

It is used offline to set a forge up, and by the server. Only one process may open it
at a time: an operating-system lock on the folder, freed when the process dies.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from filelock import FileLock, Timeout

from brat.forge.resources import forge_records as records
from brat.forge.resources.wire import Clock, iso, parse, wall_clock
from brat.forge.storage.git_storage import Bare, create
from brat.forge.storage.record_store import Store
from grite.errors import BratError


@dataclass(frozen=True, slots=True)
class Caller:
    user: records.User
    token: records.Token


def digest(secret: str) -> str:
    """Return a secret's digest. Secrets are long and random: SHA-256 is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


_LOGIN: Final = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}(?:\[bot\])?")
_NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}(?<!\.git)")


class Forge:
    """Everything the forge knows; made if the folder is new.

    Its methods work with and without a server on top; none of them awaits.
    """

    def __init__(self, folder: Path, *, clock: Clock = wall_clock) -> None:
        self.folder = folder.resolve()
        self.clock = clock
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self.folder / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise BratError(
                f"the forge in {self.folder} is in use: stop the process that uses it"
            ) from None
        self.store = Store(self.folder / "forge.sqlite")
        self._bares: dict[int, Bare] = {}

    def close(self) -> None:
        """Release the folder; safe to call twice."""
        for bare in self._bares.values():
            bare.close()
        self._bares.clear()
        self.store.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> str:
        """The time, as records hold it."""
        return iso(self.clock())

    # --- accounts -----------------------------------------------------------------

    def add_user(self, login: str, *, kind: records.Kind = "User") -> records.User:
        """Return the account `login`, which is made if there is none."""
        known = self.user(login)
        if known is not None:
            if known.kind != kind:
                raise BratError(f"{login} is a {known.kind}, not a {kind}")
            return known
        if not _LOGIN.fullmatch(login):
            raise BratError(
                f"{login!r} is not a valid login: use letters, digits and single dashes"
            )
        made = records.User(login=login, kind=kind, created_at=self.now())
        return self.store.users.add(made)

    def user(self, login: str) -> records.User | None:
        """Return an account by its login, in any case."""
        found = self.store.users.of(login.lower())
        return found[0] if found else None

    def _account(self, login: str) -> records.User:
        if (who := self.user(login)) is None:
            raise BratError(f"there is no account {login}: add it first")
        return who

    def add_token(
        self,
        login: str,
        *,
        scope: records.Scope = "write",
        repo: int | None = None,
        access: records.Access | None = None,
    ) -> str:
        """Make a token for an account and return it; only its digest is kept."""
        who = self._account(login)
        secret = secrets.token_urlsafe(32)
        token = self.store.tokens.add(
            records.Token(
                user=who.id,
                scope=scope,
                digest=digest(secret),
                repo=repo,
                access=access,
            )
        )
        return f"brat_{token.id}_{secret}"

    def drop_token(self, secret: str) -> None:
        """Make a token worthless; safe to call twice."""
        if (caller := self.caller(secret)) is not None:
            with self.store.change():
                self.store.tokens.remove(caller.token)

    def caller(self, secret: str) -> Caller | None:
        """Return who shows this token; None when it is not one of ours."""
        _, _, rest = secret.partition("_")
        number, _, key = rest.partition("_")
        token = self.store.tokens.get(int(number)) if number.isdecimal() else None
        if token is None or not hmac.compare_digest(token.digest, digest(key)):
            return None
        if token.access and parse(token.access.expires_at) <= self.clock():
            with self.store.change():
                self.store.tokens.remove(token)
            return None
        who = self.store.users.get(token.user)
        return Caller(who, token) if who is not None else None

    # --- repositories -------------------------------------------------------------

    def add_repository(
        self,
        full_name: str,
        *,
        source: Path | None = None,
        branch: str = "main",
        private: bool = False,
    ) -> records.Repository:
        """Make a repository `owner/name`; the owner's account must exist."""
        login, _, name = full_name.partition("/")
        owner = self._account(login)
        if not _NAME.fullmatch(name):
            raise BratError(f"{name!r} is not a repository name")
        if self.repository(full_name) is not None:
            raise BratError(f"{full_name} already exists")
        create(self.folder / "repos" / owner.login / f"{name}.git", source, branch)
        now = self.now()
        made = records.Repository(
            owner=owner.login,
            name=name,
            default_branch=branch,
            created_at=now,
            updated_at=now,
            pushed_at=now,
            private=private,
            rights=((owner.login.lower(), "admin"),),
        )
        return self.store.repositories.add(made)

    def repository(self, full_name: str) -> records.Repository | None:
        """Return a repository by `owner/name`, in any case."""
        found = self.store.repositories.of(full_name.lower())
        return found[0] if found else None

    def grant(
        self, full_name: str, login: str, role: records.Role
    ) -> records.Repository:
        """Give an account a role on a repository, in place of the one it had."""
        repo, who = self.known(full_name), self._account(login)
        rights = dict(repo.rights) | {who.login.lower(): role}
        return self.update(repo, rights=tuple(rights.items()))

    def set_ci(self, full_name: str, ci: records.Ci) -> records.Repository:
        return self.update(self.known(full_name), ci=ci)

    def turn_to(self, full_name: str, source: Path, branch: str) -> records.Repository:
        """Make a branch the default one; copy it from `source` if it is not here."""
        repo = self.known(full_name)
        bare = self.bare(repo)
        if bare.tip(branch) is None:
            bare.copy(source, branch)
        bare.git.set_head(f"refs/heads/{branch}")
        return self.update(repo, default_branch=branch)

    def add_hook(self, full_name: str, url: str, secret: str) -> records.Hook:
        repo = self.known(full_name)
        return self.store.hooks.add(records.Hook(repo=repo.id, url=url, secret=secret))

    def role(self, repo: records.Repository, who: records.User) -> records.Role:
        given = dict(repo.rights).get(who.login.lower())
        return given or ("none" if repo.private else "read")

    def may(
        self, repo: records.Repository, who: records.User, role: records.Role
    ) -> bool:
        """Say whether an account has at least `role`."""
        return records.ROLES.index(self.role(repo, who)) >= records.ROLES.index(role)

    def bare(self, repo: records.Repository) -> Bare:
        if repo.id not in self._bares:
            path = self.folder / "repos" / repo.owner / f"{repo.name}.git"
            self._bares[repo.id] = Bare(path)
        return self._bares[repo.id]

    def issue_of(self, pull: records.Pull) -> records.Issue:
        """Return a pull request's issue; both have the same id."""
        issue = self.store.issues.get(pull.id)
        assert issue is not None  # noqa: S101  they are made together
        return issue

    def note(
        self,
        issue: int,
        actor: records.User,
        event: str,
        **more: Any,  # noqa: ANN401  an event's own fields
    ) -> None:
        """Keep what was done to the issue of an id."""
        made = records.IssueEvent(
            issue=issue, actor=actor.id, event=event, created_at=self.now(), **more
        )
        self.store.issue_events.add(made)

    def update(self, repo: records.Repository, **changes: object) -> records.Repository:
        return self.store.repositories.change(repo, **changes)

    def numbered(self, repo: records.Repository) -> records.Repository:
        """Count `last_number` up for a new issue or pull; return the repository.

        The caller's record may be stale: other requests run while a body is read.
        """
        newest = self.store.repositories.get(repo.id) or repo
        return self.update(newest, last_number=newest.last_number + 1)

    def known(self, full_name: str) -> records.Repository:
        """Return a repository that must be there."""
        repo = self.repository(full_name)
        if repo is None:
            raise BratError(f"there is no repository {full_name}: add it first")
        return repo
