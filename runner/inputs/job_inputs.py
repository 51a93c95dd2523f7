"""The inputs of one job, read once from the environment, and only here.

They are ids, one commit of the log, and folders; everything else is in that commit.
Afterwards `runner.box.process_hardening` wipes them from the process.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from convoy.model.ids import parse_session
from grite.errors import repr_without
from runner.inputs.container_entry import handed_on
from runner.inputs.feed_address import FeedAddress, handed
from runner.inputs.oidc_address import OidcAddress, lead

TOKEN_LIMIT = 4096
"""In characters; GitHub's tokens have at most 520."""

_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/(?!\.\.?$)[A-Za-z0-9_.-]+")
_ENDPOINT = re.compile(r"https?://[^/@?#\s]+")
_SERVER = re.compile(r"(?:https?://[^/@?#\s]+|file://)(?:/[^@?#\s]*)?")
_WITHHELD = re.compile("ACTIONS_|BRAT_TOKEN|GITHUB_TOKEN")


class BadInput(Exception):
    """The job cannot start like this; the message is one sentence that says why."""


class Inputs(Struct, frozen=True):
    """The inputs of one job."""

    convoy: str
    task: int
    attempt: int
    log: str
    """The commit of the log that holds this attempt's `task.started`."""
    url: str
    """Where to fetch from; never with a password in it."""
    token: str | None
    """A token that may read the repository; None for a repository on this machine."""
    result: Path
    """The result folder; it does not exist yet, or is empty."""
    temp: Path
    workspace: Path
    """The folder in which the agent's checkout is made."""
    path: str
    """The PATH on which programs are looked for."""
    on_actions: bool
    """Whether the forge reads the output as workflow commands."""
    output: Path | None
    summary: Path | None
    cache: Path | None
    """A folder that this machine keeps from job to job; None: it may keep none."""
    objects: Path | None
    """The folder of this machine's mirrors, `<owner>/<name>.git`; None: it has none."""
    endpoint: str
    """The address of a server that stands in for the model's vendor, without a
    path; empty: none does."""
    hidden: tuple[Path, ...]
    """Folders of this machine that no agent needs; workspace and home may lie there."""
    shown: tuple[Path, ...]
    """More of this machine that agents may read, and run programs from."""
    offered: Mapping[str, str]
    """The environment, from which an engine gets the variables that its row asks
    for. The job's own tokens are left out, even if the configuration names one as a
    key."""
    repository_id: str = ""
    """The forge's id of the repository, digits; a rename keeps it. Empty: nothing is
    handed over to this process."""
    signers: str = ""
    """The keys that may sign hand-offs, in OpenSSH's form; empty: those on the default
    branch may."""
    ref: str = ""
    """The branch of this run, in full; empty: not told."""
    head: str = ""
    """The commit of this run; empty: not told."""
    event: Path | None = None
    """The file with the event that started this run."""
    feed: FeedAddress | OidcAddress | None = None
    """Where the session is seen while it runs; None: only in the job's own log."""

    def __repr__(self) -> str:
        return repr_without(self, "token", "offered")


def environment() -> dict[str, str]:
    """Return a copy of the process's environment; call it once."""
    return handed_on(os.environ)  # noqa: TID251  the one place that may ask


def read(env: Mapping[str, str]) -> Inputs:
    """Return the inputs that `env` holds; takes the token out of its descriptor.

    Raises:
        BadInput: an input is missing or not valid.
    """
    try:
        convoy, task, attempt = parse_session(_given(env, "BRAT_SESSION"))
    except ValueError as error:
        raise BadInput(f"BRAT_SESSION: {error}") from None
    server = _matching(env, "GITHUB_SERVER_URL", _SERVER, "https://github.com")
    repository = _matching(env, "GITHUB_REPOSITORY", _REPOSITORY, "octo/hello")
    token = _token(env)
    if token is None and not server.startswith("file://"):
        raise BadInput(
            "There is no token to fetch with; set BRAT_TOKEN, or BRAT_TOKEN_FD to the "
            "number of a descriptor that holds it."
        )
    return Inputs(
        convoy=convoy,
        task=task,
        attempt=attempt,
        log=_matching(env, "BRAT_LOG", _COMMIT, "the 40 hex digits of a commit"),
        url=f"{server.rstrip('/')}/{repository}.git",
        repository_id=_matching(env, "GITHUB_REPOSITORY_ID", _NUMBER, "1296269"),
        signers=env.get("BRAT_ALLOWED_SIGNERS", ""),
        ref=env.get("GITHUB_REF", "").strip(),
        head=_head(env),
        event=_file(env, "GITHUB_EVENT_PATH"),
        token=token,
        result=_fresh(env, "BRAT_RESULT"),
        temp=_folder(env, "RUNNER_TEMP"),
        workspace=_folder(env, "GITHUB_WORKSPACE"),
        path=env.get("PATH") or os.defpath,
        on_actions=env.get("GITHUB_ACTIONS") == "true",
        output=_file(env, "GITHUB_OUTPUT"),
        summary=_file(env, "GITHUB_STEP_SUMMARY"),
        cache=_file(env, "RUNNER_TOOL_CACHE"),
        objects=_file(env, "BRAT_OBJECTS"),
        endpoint=_endpoint(env),
        hidden=_hidden(env),
        shown=_listed(env.get("BRAT_SHOWN", "")),
        offered={name: env[name] for name in env if not _WITHHELD.match(name)},
        feed=handed(env) or lead(env, _given(env, "BRAT_SESSION")),
    )


def _head(env: Mapping[str, str]) -> str:
    if not env.get("GITHUB_SHA", "").strip():
        return ""
    return _matching(env, "GITHUB_SHA", _COMMIT, "the 40 hex digits of a commit")


def _hidden(env: Mapping[str, str]) -> tuple[Path, ...]:
    told = env.get("BRAT_HIDDEN", ""), env.get("SSH_AUTH_SOCK", "")
    return _listed(os.pathsep.join(told))


def _listed(text: str) -> tuple[Path, ...]:
    return tuple(Path(each).absolute() for each in text.split(os.pathsep) if each)


def _given(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise BadInput(f"{name} is not set.")
    return value


def _matching(
    env: Mapping[str, str], name: str, form: re.Pattern[str], example: str
) -> str:
    value = _given(env, name)
    if form.fullmatch(value) is None:
        raise BadInput(f"{name} is {value[:80]!r}; it should be such as {example}.")
    return value


def _endpoint(env: Mapping[str, str]) -> str:
    if not env.get("BRAT_MODEL_URL", "").strip():
        return ""
    return _matching(env, "BRAT_MODEL_URL", _ENDPOINT, "http://127.0.0.1:8000")


def _folder(env: Mapping[str, str], name: str) -> Path:
    path = Path(_given(env, name)).absolute()
    if path.exists() and not path.is_dir():
        raise BadInput(f"{name} is {str(path)!r}, which is not a folder.")
    return path


def _fresh(env: Mapping[str, str], name: str) -> Path:
    path = _folder(env, name)
    if path.is_dir() and any(path.iterdir()):
        raise BadInput(f"{name} is {str(path)!r}, which is not empty; name a new one.")
    return path


def _file(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value).absolute() if value else None


def _token(env: Mapping[str, str]) -> str | None:
    number = env.get("BRAT_TOKEN_FD", "").strip()
    text = _read_once(number) if number else env.get("BRAT_TOKEN", "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise BadInput("The token has characters that no token has.")
    return text


def _read_once(number: str) -> str:
    if not (number.isascii() and number.isdigit() and int(number) > 2):  # noqa: PLR2004  0 to 2 are the standard ones
        raise BadInput(f"BRAT_TOKEN_FD is {number!r}; it is a descriptor from 3 on.")
    try:
        with open(int(number), "rb", buffering=0) as source:  # noqa: PTH123  a descriptor has no path
            return source.read(TOKEN_LIMIT).decode("ascii", "replace").strip()
    except OSError as error:
        raise BadInput(
            f"BRAT_TOKEN_FD is {number}, which cannot be read: {error.strerror}."
        ) from None
