"""The inputs of one job, read once from the environment, and only here.

They are ids, one commit of the log, and folders; everything else is in that commit.
Afterwards `runner.box.processes` wipes them from the process. The address of the live
feed and its token come by a descriptor, or, for a bot on another machine, as what the
forge's identity token is asked with.

A job may instead describe its task by its inputs: one session without a convoy or a
log. They become the same `TaskStarted` that a bot hands over.
"""

import json
import os
import re
import secrets
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.model import ids
from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.ids import parse_session
from convoy.model.records import HOST, EngineSpec, Gate, Limits
from convoy.text import did_you_mean
from grite.errors import repr_without
from runner.inputs.container_entry import handed_on

HANDED_BYTES = 4096
_STANDARD = 2


class FeedAddress(Struct, frozen=True):
    url: str
    """The session's address, without a slash at the end."""
    token: str
    """The session's; with `asks` the one for that request, and whoever has it can
    identify itself as this job."""
    asks: str = ""
    """Where the forge gives tokens to this job; empty: the bot gave it one."""
    bot: str = ""
    """The address of the bot's door, for which the forge is asked."""

    def __repr__(self) -> str:
        return repr_without(self, "token")


def _handed(env: Mapping[str, str], name: str, most: int) -> bytes | None:
    """Return what a descriptor holds, which is read once and closed; None: not given.

    Raises `BadInput`: it is no descriptor from 3 on, or cannot be read.
    """
    number = env.get(name, "").strip()
    if not number:
        return None
    if not (number.isascii() and number.isdigit() and int(number) > _STANDARD):
        raise BadInput(f"{name} is {number!r}. Use a file descriptor, 3 or higher.")
    try:
        with open(int(number), "rb", buffering=0) as source:  # noqa: PTH123  a descriptor has no path
            return source.read(most)
    except OSError as error:
        raise BadInput(
            f"{name} is {number}, which cannot be read: {error.strerror}."
        ) from None


def handed_feed(env: Mapping[str, str]) -> FeedAddress | None:
    """Return the address that a descriptor holds; None: there is no valid one."""
    try:
        told = json.loads(_handed(env, "BRAT_FEED_FD", HANDED_BYTES) or b"")
        found = FeedAddress(str(told["url"]).rstrip("/"), str(told["token"]))
        parts = urlsplit(found.url)
    except (BadInput, ValueError, KeyError, TypeError):
        return None
    return found if parts.scheme in ("http", "https") and parts.hostname else None


def feed_in(env: Mapping[str, str], session: str) -> FeedAddress | None:
    """Return the feed that the environment names; None: there is no valid one."""
    bot = env.get("BRAT_FEED_URL", "").strip().rstrip("/")
    asks = env.get("ACTIONS_ID_TOKEN_REQUEST_URL", "").strip()
    token = env.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable() and token):
        return None
    if not (_is_safe(bot) and _is_safe(asks)):
        return None
    repository = env.get("GITHUB_REPOSITORY", "").strip()
    return FeedAddress(f"{bot}/feed/v1/{repository}/{session}", token, asks, bot)


def _is_safe(url: str) -> bool:
    """Whether nobody on the way to an address can read the requests."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    is_near = parts.scheme == "http" and parts.hostname == "127.0.0.1"
    return has_port and bool(parts.hostname) and (parts.scheme == "https" or is_near)


TOKEN_LIMIT = 4096
"""In characters; GitHub's tokens have at most 520."""

_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_A_COMMIT = "a full commit SHA (40 hex digits)"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*/(?!\.\.?$)[A-Za-z0-9_.-]+")
_ENDPOINT = re.compile(r"https?://[^/@?#\s]+")
_SERVER = re.compile(r"(?:https?://[^/@?#\s]+|file://)(?:/[^@?#\s]*)?")
_WITHHELD = re.compile("ACTIONS_|BRAT_TOKEN|GITHUB_TOKEN")


class BadInput(Exception):
    """The job cannot start like this; the message is one sentence that says why."""


class Inputs(Struct, frozen=True):
    session: str
    """Its name: convoy, task and attempt."""
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
    forge: Path | None = None
    """The repository itself, where a local forge keeps it; it is only read."""
    feed: FeedAddress | None = None
    """Where the session is seen while it runs; None: only in the job's own log."""

    def __repr__(self) -> str:
        return repr_without(self, "token", "offered")


def environment() -> dict[str, str]:
    """Return a copy of the process's environment; call it once."""
    return handed_on(os.environ)  # noqa: TID251  the one place that may ask


def read_inputs(env: Mapping[str, str]) -> Inputs:
    """Return the inputs that `env` holds; takes the token out of its descriptor."""
    try:
        parse_session(session := _given(env, "BRAT_SESSION"))
    except ValueError as error:
        raise BadInput(f"BRAT_SESSION: {error}") from None
    server = _matching(env, "GITHUB_SERVER_URL", _SERVER, "https://github.com")
    repository = _matching(env, "GITHUB_REPOSITORY", _REPOSITORY, "octo/hello")
    token = _token(env)
    if token is None and not server.startswith("file://"):
        raise BadInput(
            "There is no token to fetch with. Set BRAT_TOKEN, or set BRAT_TOKEN_FD to "
            "the number of a file descriptor that holds one."
        )
    return Inputs(
        session=session,
        log=_matching(env, "BRAT_LOG", _COMMIT, _A_COMMIT),
        url=f"{server.rstrip('/')}/{repository}.git",
        repository_id=_matching(env, "GITHUB_REPOSITORY_ID", _NUMBER, "1296269"),
        signers=env.get("BRAT_ALLOWED_SIGNERS", ""),
        ref=env.get("GITHUB_REF", "").strip(),
        head=_matching(env, "GITHUB_SHA", _COMMIT, _A_COMMIT, optional=True),
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
        forge=_file(env, "BRAT_FORGE"),
        endpoint=_matching(
            env, "BRAT_MODEL_URL", _ENDPOINT, "http://127.0.0.1:8000", optional=True
        ),
        hidden=(*_listed(env, "BRAT_HIDDEN"), *_listed(env, "SSH_AUTH_SOCK")),
        shown=_listed(env, "BRAT_SHOWN"),
        offered={name: env[name] for name in env if not _WITHHELD.match(name)},
        feed=handed_feed(env) or feed_in(env, session),
    )


def default_branch(inputs: Inputs) -> str:
    """Return the branch that the event which started this run names; "": none."""
    try:
        event = json.loads(inputs.event.read_text() if inputs.event else "")
        named = event["repository"]["default_branch"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return named if isinstance(named, str) else ""


def _listed(env: Mapping[str, str], name: str) -> tuple[Path, ...]:
    named = filter(None, env.get(name, "").split(os.pathsep))
    return tuple(Path(each).absolute() for each in named)


def _given(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise BadInput(f"{name} is not set.")
    return value


def _matching(
    env: Mapping[str, str],
    name: str,
    form: re.Pattern[str],
    example: str,
    *,
    optional: bool = False,
) -> str:
    if optional and not env.get(name, "").strip():
        return ""
    value = _given(env, name)
    if form.fullmatch(value) is None:
        looks = "be" if example is _A_COMMIT else "look like"
        raise BadInput(f"{name} is {value[:80]!r}; it should {looks} {example}.")
    return value


def _folder(env: Mapping[str, str], name: str) -> Path:
    path = Path(_given(env, name)).absolute()
    if path.exists() and not path.is_dir():
        raise BadInput(f"{name} is {str(path)!r}, which is not a folder.")
    return path


def _fresh(env: Mapping[str, str], name: str) -> Path:
    path = _folder(env, name)
    if path.is_dir() and any(path.iterdir()):
        raise BadInput(f"{name} is {str(path)!r}, which is not empty. Use a new one.")
    return path


def _file(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value).absolute() if value else None


def _token(env: Mapping[str, str]) -> str | None:
    handed = _handed(env, "BRAT_TOKEN_FD", TOKEN_LIMIT)
    text = env.get("BRAT_TOKEN", "").strip()
    if handed is not None:
        text = handed.decode("ascii", "replace").strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise BadInput("The token contains invalid characters.")
    return text or None


class Message(NamedTuple):
    """What a person says to a running session."""

    number: int
    by: str
    text: str


class Inbox(Protocol):
    def listen(self, wake: Callable[[], None]) -> None: ...

    def take(self) -> tuple[Message, ...]: ...

    def heard(self, number: int) -> None: ...


CONVOY: Final = "prompt-1"
"""Where there is no convoy, the name that stands for one in the result folder alone."""
PROMPT_BYTES: Final = 100_000
"""Linux takes 128 KiB in one variable of the environment."""
MINUTES_MOST: Final = 360
TOKENS_MOST: Final = 10**9
_TITLE_CHARS: Final = 100
_NO_LOG: Final = "0" * 40
_LIMIT_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,199}")


def prompted(env: Mapping[str, str]) -> tuple[Inputs, TaskStarted]:
    """Return the inputs of a job that describes its task, and the attempt to make.

    One input gives the prompt. What a convoy would have named is made up.
    """
    text, file = env.get("BRAT_TASK_PROMPT", ""), env.get("BRAT_TASK_PROMPT_FILE", "")
    if env.get("BRAT_SESSION", "").strip() or env.get("BRAT_LOG", "").strip():
        raise BadInput("Give either a prompt or a convoy's session and log, not both.")
    if text.strip() and file.strip():
        raise BadInput("Set either the input prompt or prompt-file, not both.")
    prompt = text if text.strip() else _content(env, file.strip())
    if len(prompt.encode()) > PROMPT_BYTES:
        raise BadInput(f"The prompt is longer than {PROMPT_BYTES} bytes.")
    engine = _engine(env)
    base = env.get("BRAT_TASK_BASE", "").strip()
    if base and _COMMIT.fullmatch(base) is None:
        raise BadInput(f"The input `base` is {base[:80]!r}. It must be {_A_COMMIT}.")
    hosts = tuple(env.get("BRAT_TASK_EGRESS", "").split())
    for each in hosts:
        if re.fullmatch(HOST, each) is None:
            raise BadInput(
                f"The input egress lists {each[:80]!r}; use hosts such as pypi.org, "
                "*.example.org or localhost:8080, or * for all."
            )
    tokens = _number(env, "BRAT_TASK_BUDGET", Limits().tokens, TOKENS_MOST)
    session = ids.session_name(CONVOY, 1, 1)
    inputs = read_inputs({**env, "BRAT_SESSION": session, "BRAT_LOG": _NO_LOG})
    if not (base or inputs.head):
        raise BadInput("There is no commit to start from. Set the input `base`.")
    return inputs, TaskStarted(
        convoy=CONVOY,
        task=1,
        attempt=1,
        session=secrets.token_hex(16),
        nonce=secrets.token_hex(8),
        base=base or inputs.head,
        branch=ids.task_branch(CONVOY, 1),
        title=prompt.strip().splitlines()[0][:_TITLE_CHARS],
        instructions=prompt,
        engine=engine,
        limits=Limits(tokens=tokens),
        gate=Gate(),
        egress=hosts or None,
    )


def _content(env: Mapping[str, str], name: str) -> str:
    """Read a file of the checkout, whose content may be a stranger's.

    A link out of the checkout is refused: the agent must not be shown other files.
    """
    top = Path(env.get("GITHUB_WORKSPACE", "")).resolve()
    file = (top / name).resolve()
    if not file.is_relative_to(top) or not file.is_file():
        raise BadInput(f"The prompt-file {name[:80]!r} is not a file in the checkout.")
    try:
        with file.open("rb") as source:
            text = source.read(PROMPT_BYTES + 1).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The prompt-file {name[:80]!r} cannot be read: {error}."
        ) from None
    if not text.strip():
        raise BadInput(f"The prompt-file {name[:80]!r} is empty.")
    return text


def _engine(env: Mapping[str, str]) -> EngineSpec:
    name = env.get("BRAT_TASK_ENGINE", "").strip()
    if name not in ENGINE_TYPES:
        hint = did_you_mean(name, ENGINE_TYPES) or "."
        allowed = ", ".join(ENGINE_TYPES)
        raise BadInput(f"The input engine is {name[:80]!r}; use one of {allowed}{hint}")
    model = env.get("BRAT_TASK_MODEL", "").strip()
    if model and _MODEL.fullmatch(model) is None:
        raise BadInput(f"The input model is {model[:80]!r}. Use a valid model name.")
    try:
        args = tuple(shlex.split(env.get("BRAT_TASK_ARGS", "")))
    except ValueError as error:
        raise BadInput(f"The input args cannot be split into words: {error}.") from None
    if name == "shell" and not args:
        raise BadInput("The engine shell needs its command line in the input args.")
    timeout_s = 60 * _number(env, "BRAT_TASK_TIMEOUT", 30, MINUTES_MOST)
    return EngineSpec(type=name, model=model or None, args=args, timeout_s=timeout_s)


def _number(env: Mapping[str, str], name: str, usual: int, most: int) -> int:
    text = env.get(name, "").strip()
    if not text:
        return usual
    if _LIMIT_NUMBER.fullmatch(text) is None or int(text) > most:
        said = name.rpartition("_")[2].lower()
        raise BadInput(f"The input {said} is {text[:40]!r}; use 1 to {most}.")
    return int(text)
