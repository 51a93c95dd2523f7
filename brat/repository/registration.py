"""A repository's registration on its local forge, and the names of brat's files.

The registration has names, tokens and the port. It is a file in brat's own folder that
only its owner can read. `brat init` or the demo makes it once, together with the
forge's records that it names.
"""

import os
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from brat.forge.resources.forge_records import Ci
from grite.errors import BratError

if TYPE_CHECKING:
    from filelock import FileLock

    from brat.forge.storage.forge_state import Forge


CONFIG: Final = ".brat/config.toml"
STATE_FOLDER: Final = "brat"
"""The folder of brat's state, inside the git folder."""
REGISTRATION: Final = "registration.json"
"""The file in that folder that connects the repository with its local forge."""
DAEMON_FILE: Final = "daemon.json"
"""The file in that folder that names the background bot."""


NO_REPOSITORY: Final = (
    "{} is not in a git repository: run `git init` there, or choose a repository with "
    "--repo"
)
BOT: Final = "brat[bot]"
FORGE_FOLDER: Final = "forge"
RECORDS: Final = f"{FORGE_FOLDER}/forge.sqlite"
BOT_FOLDER: Final = "bot"


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """The names and secrets that connect a repository, its local forge and its bot."""

    repository: str
    """`owner/name` on the forge."""
    branch: str
    person: str
    person_token: str
    bot_token: str
    secret: str
    """The webhook's secret."""
    hook: int
    port: int = 0
    """The forge's last port; the forge takes it again if it can."""
    ci_command: str | None = None
    """Proposed by init; `[ci] command` in the configuration wins."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    branch: str
    name: str
    person: str
    ci_command: str | None = None


def read(folder: Path) -> Registration:
    found = known(folder)
    if found is None:
        raise BratError(
            "this repository is not registered with brat yet: run `brat init` first"
        )
    return found


def known(folder: Path) -> Registration | None:
    """Return the registration in brat's folder; None: there is none."""
    file = folder / REGISTRATION
    try:
        return msgspec.json.decode(file.read_bytes(), type=Registration)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise BratError(": ".join(others_folder(folder))) from error
    except OSError as error:
        why = error.strerror
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = f"{error}, so it is truncated or was edited by hand"
    raise BratError(
        f"{file} cannot be read: {why}; move it away and run `brat init`, which "
        "writes a new one; the issues, the work and the log are kept"
    )


def others_folder(folder: Path) -> tuple[str, str]:
    """Return what is wrong with a folder that another user's brat made, and the mend.

    Git serves its repositories to nobody else, whatever `safe.directory` says of the
    checkout.
    """
    taken = f"sudo chown -R {os.geteuid()} {shlex.quote(str(folder))}"
    mend = f"run brat as that user, or take it over with `{taken}`"
    return f"another user ran brat here, and {folder} is not yours", mend


def write(folder: Path, registration: Registration) -> None:
    """Keep the registration; safe to call again."""
    write_private(folder / REGISTRATION, msgspec.json.encode(registration))


def write_private(file: Path, content: bytes) -> None:
    """Write a file whole, for its owner alone; one that is there is replaced."""
    beside = file.with_name(f".{file.name}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)
    beside.rename(file)


def turn(folder: Path) -> "FileLock":
    """Return the lock under which a forge is registered, and begins to be served."""
    from filelock import FileLock  # slow to load

    return FileLock(folder / "register.lock")


def register(folder: Path, source: Source) -> Registration:
    """Put a repository on the forge in `folder`; safe to call again.

    A second call changes the branch that agents start from, if the source's is another.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with turn(folder):  # two first commands may begin at once
        found = known(folder) if (folder / RECORDS).exists() else None
        if found is None or found.branch != source.branch:
            with _opened(folder) as forge:
                found = found or _made(forge, source)
                if found.branch != source.branch:
                    forge.turn_to(found.repository, source.path, source.branch)
        found = replace(found, ci_command=source.ci_command, branch=source.branch)
        write(folder, found)
    return found


def set_ci(folder: Path, registration: Registration, ci: Ci) -> None:
    """Tell the forge how candidates are judged; only while no process serves it."""
    with _opened(folder) as forge:
        if forge.repository(registration.repository) is None:
            raise damaged(folder, f"{registration.repository} is missing")
        forge.set_ci(registration.repository, ci)


def damaged(folder: Path, why: object) -> BratError:
    """Return what to say of a forge's records that are lost."""
    return BratError(
        f"{folder / RECORDS} cannot be read: {why}; move it away and run `brat init`, "
        "which writes a new one; the work and the log are kept, but not the issues"
    )


@contextmanager
def _opened(folder: Path) -> Iterator["Forge"]:
    from sqlite3 import DatabaseError

    from brat.forge.storage.forge_state import Forge

    try:
        with Forge(folder / FORGE_FOLDER) as forge:
            yield forge
    except DatabaseError as error:
        raise damaged(folder, error) from error


def bare_path(folder: Path, registration: Registration) -> Path:
    return folder / FORGE_FOLDER / "repos" / f"{registration.repository}.git"


def _made(forge: "Forge", source: Source) -> Registration:
    """Make users, repository and hook, or take those of a lost registration."""
    forge.add_user(BOT, kind="Bot")
    repo = next(iter(forge.store.repositories.all()), None)
    if repo is None:
        person = source.person
        forge.add_user(person)
        name = f"{person}/{source.name}"
        repo = forge.add_repository(name, source=source.path, branch=source.branch)
    full_name = repo.full_name
    forge.grant(full_name, BOT, "write")
    with forge.store.change():
        for lost in forge.store.hooks.of(repo.id):  # nobody knows its secret
            forge.store.hooks.remove(lost)
    secret = secrets.token_hex(32)
    hook = forge.add_hook(full_name, "http://127.0.0.1:9/unset", secret)
    return Registration(
        repository=full_name,
        branch=repo.default_branch,
        person=repo.owner,
        person_token=forge.add_token(repo.owner),
        bot_token=forge.add_token(BOT),
        secret=secret,
        hook=hook.id,
        ci_command=source.ci_command,
    )
