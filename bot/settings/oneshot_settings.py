"""Reads the inputs of one run of the loop in a workflow from its environment.

They are read once, and only here. https://docs.github.com/actions/reference/workflows-and-actions/variables
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from bot.settings.bot_folder import open_log_key
from bot.settings.bot_settings import GITHUB_GAP_S, Settings
from grite.errors import BratError
from grite.outbound import is_local

LOOP_WORKFLOW: Final = "brat.yml"
APP_KEY_FILE: Final = "app.pem"
"""The file that holds the App's key while the bot is being opened."""
SCHEDULE_WINDOW_S: Final = 26 * 3600
"""Without work the loop is woken once a day, which GitHub may do late."""
GITHUB_PUSH_GAP_S: Final = 20.0


@dataclass(frozen=True, kw_only=True)
class OneshotInputs:
    settings: Settings
    event: str
    """The event that started the run, such as `issues`."""
    payload: Path | None
    """The file with the event's payload, as in a delivery."""
    run: str
    after: int | None
    """The task run that is about to end; the loop waits for its result."""
    ci_wait_s: float
    """How long to wait for CI's verdict while nothing else happens. An App waits for
    none: the end of CI that its push started starts a run."""
    output: Path | None
    summary: Path | None
    log_key: str = field(repr=False)
    """The private key that signs the log, in OpenSSH's form."""
    key: str = field(default="", repr=False)
    """The App's private key, PEM; empty: a token is used."""


def environment() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251  the one place allowed to


def read_inputs(env: Mapping[str, str]) -> OneshotInputs:
    folder = Path(_given(env, "RUNNER_TEMP")) / "brat-loop"
    server = _given(env, "GITHUB_SERVER_URL").rstrip("/")
    repository = _given(env, "GITHUB_REPOSITORY")
    is_near = is_local(urlsplit(server).hostname or "")  # it has no rate limits
    key = env.get("BRAT_APP_KEY", "").strip()
    told = {
        "repository": repository,
        "repository_id": int(_number(env, "GITHUB_REPOSITORY_ID", "0")),
        "api_url": env.get("GITHUB_API_URL", "").rstrip("/")
        or "https://api.github.com",
        "git_url": server,
        "folder": folder,
        "secret": secrets.token_hex(32),  # nothing is delivered to this bot
        "workflow": env.get("BRAT_WORKFLOW", "").strip() or LOOP_WORKFLOW,
        "label": env.get("BRAT_LABEL", "").strip() or "brat",
        "ci_workflow": None if key else env.get("BRAT_CI_WORKFLOW", "").strip(),
        "schedule_window_s": SCHEDULE_WINDOW_S,
        "adopt_log": env.get("BRAT_ADOPT_LOG", "").strip(),
        "allowed_signers": env.get("BRAT_ALLOWED_SIGNERS", ""),
        "push_gap_s": 0 if is_near else GITHUB_PUSH_GAP_S,
        "write_gap_s": 0 if is_near else GITHUB_GAP_S,
        **_way_in(env, key, folder),
    }
    try:
        settings = Settings.model_validate(told)
    except ValidationError as error:
        fault = error.errors(include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the credentials"
        said = fault["msg"].removeprefix("Value error, ")
        raise BratError(f"{where}: {said}") from None
    return OneshotInputs(
        settings=settings,
        event=env.get("GITHUB_EVENT_NAME", ""),
        payload=_file(env, "GITHUB_EVENT_PATH"),
        run=_number(env, "GITHUB_RUN_ID", "0"),
        after=int(_number(env, "BRAT_AFTER", "0")) or None,
        ci_wait_s=60.0
        * int(_number(env, "BRAT_CI_WAIT_MINUTES", "0" if key else "10")),
        output=_file(env, "GITHUB_OUTPUT"),
        summary=_file(env, "GITHUB_STEP_SUMMARY"),
        log_key=_log_key(env),
        key=key,
    )


def loops_actor(repository: str) -> str:
    """Return the actor id, 32 hex digits, that all loops of a repository share."""
    return hashlib.sha256(f"brat loop of {repository.casefold()}".encode()).hexdigest()[
        :32
    ]


def _way_in(env: Mapping[str, str], key: str, folder: Path) -> dict[str, object]:
    app, token = env.get("BRAT_APP_ID", "").strip(), env.get("BRAT_TOKEN", "").strip()
    if app and key:  # a workflow always has a token: the App comes first
        return {"app_id": app, "private_key_file": folder / APP_KEY_FILE}
    if app or key:
        raise BratError("set both BRAT_APP_ID and BRAT_APP_KEY, or neither")
    if not token:
        raise BratError(
            "there is no token: set BRAT_TOKEN, for example to ${{ github.token }}"
        )
    return {"token": token}


def _log_key(env: Mapping[str, str]) -> str:
    """Return the log's key; without one, and without names of signers, the open one."""
    key = env.get("BRAT_LOG_KEY", "").strip()
    if key:
        return key
    if env.get("BRAT_ALLOWED_SIGNERS", "").strip():
        raise BratError(
            "BRAT_ALLOWED_SIGNERS is set, but the key that signs the log is "
            "missing: run `brat setup` to store one as the secret BRAT_LOG_KEY of the "
            "environment `brat`, or remove the variable to work without a key"
        )
    return open_log_key(int(_number(env, "GITHUB_REPOSITORY_ID", "0"))).private


def _given(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise BratError(f"{name} is not set: run brat in a step of a workflow")
    return value


def _number(env: Mapping[str, str], name: str, default: str) -> str:
    value = env.get(name, "").strip() or default
    if not (value.isascii() and value.isdigit()):
        raise BratError(f"{name} must be a whole number, not {value[:40]!r}")
    return value


def _file(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value) if value else None
