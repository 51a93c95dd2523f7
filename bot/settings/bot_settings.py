"""The settings of a bot, of `brat bot serve`, and of the repository it serves.

The first two are a JSON file that only its owner can read; of a repository it is
`.brat/config.toml`. The limits on starting convoys are counted from the log, so that a
restart forgets nothing.
"""

import os
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)

from bot.settings.hosts import GITHUB, Origins, api_url_of, is_clouds
from convoy.config import Config, ConfigError, load
from convoy.model.ids import HOUR_MS
from convoy.model.state import State
from convoy.owed import Patience, Role
from convoy.text import LABEL_CHARS, counted, did_you_mean
from grite.errors import BratError


def config_in(file: Path, *, source: str = "") -> Config:
    """Return the configuration in a file; all defaults where there is none.

    `source` is what the messages call it; empty: its path.
    """
    source = source or str(file)
    try:
        text = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        text = b""
    except IsADirectoryError as error:
        said = f"{source} must be a file, but it is a folder: move the folder"
        raise ConfigError(said) from error
    except OSError as error:
        said = f"{source} cannot be read: {error.strerror}"
        raise ConfigError(said) from error
    return load(text, source=source)


class Quota(BaseModel):
    """The operator's limits; a repository's own settings may allow less."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    person_hour: int = Field(default=20, ge=0)
    """Convoys that one person may start in an hour, in one repository."""
    repository_hour: int = Field(default=60, ge=0)
    """Convoys that may be started in an hour in one repository."""
    installation_hour: int = Field(default=200, ge=0)
    """The same for all repositories of one installation of the App, or of one token."""
    unfinished: int = Field(default=50, ge=0)
    """Convoys that may be unfinished at once in one repository."""
    tasks: int = Field(default=100, ge=1)
    """The most tasks that one convoy may have."""


def quota_refusal(
    quota: Quota, state: State, by: str, elsewhere: Iterable[int], now: int
) -> str | None:
    """Return why `by` may not start a convoy now, and when they may; None: now.

    `elsewhere` are the start times of convoys in the installation's other repositories.
    """
    live = sum(1 for _ in state.live())
    if live >= quota.unfinished:
        return (
            f"This repository has {counted(live, 'unfinished convoy')}, which is the "
            "limit: add the label again when one ends."
        )
    known = [summary for _, summary in state.convoys.summaries()]
    here = [each.requested_at for each in known]
    own = [each.requested_at for each in known if each.by == by]
    for whose, moments, most in (
        (f"@{by} has", own, quota.person_hour),
        ("This repository has", here, quota.repository_hour),
        ("This installation has", [*here, *elsewhere], quota.installation_hour),
    ):
        recent = sorted(at for at in moments if at > now - HOUR_MS)
        if len(recent) < most:
            continue
        free = "once the bot's operator raises the limit"
        if most:
            free_ms = recent[-most] + HOUR_MS
            moment = datetime.fromtimestamp(-(-free_ms // 60_000) * 60, UTC)
            free = f"at {moment:%H:%M} UTC"
        return (
            f"{whose} reached the limit of {counted(most, 'new convoy')} an hour: "
            f"add the label again {free}."
        )
    return None


GITHUB_GAP_S: Final = 1.0
"""https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
(pause between mutative requests)"""
FEED_URL: Final = r"^(https://[^\s/?#]\S*|http://127\.0\.0\.1:\d+\S*)?$"
"""Data sent to this address must be protected on the way: https or loopback."""
REPOSITORY_NAME: Final = r"^[\w.-]+/[\w.-]+$"
ROLES: tuple[Role, ...] = ("mayor", "witness", "refinery", "deacon")


Kind = TypeVar("Kind", bound=BaseModel)
_PATIENCE: Final = Patience()


def from_environment(name: str) -> Callable[[], str]:
    return lambda: os.environ.get(name, "")  # noqa: TID251  as it is said


class Common(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    api_url: str
    git_url: str
    token: str = Field(default="", repr=False)
    """The token of the bot's account; empty: the bot is an App."""
    app_id: str | None = Field(default=None, coerce_numbers_to_str=True)
    """The App's id or client id."""
    private_key_file: Path | None = None
    """The file with the App's private key, as GitHub gave it (.pem)."""
    secret: str = Field(default="", repr=False)
    previous_secret: str = Field(default="", repr=False)
    """The webhook's previous secret, also accepted while it is being changed."""
    feed_url: str = Field(default="", pattern=FEED_URL)
    """The address at which jobs reach the bot's door to send their output, once the
    forge vouches for them. Empty: no job gets a token."""
    feed_issuer: str = Field(default="", pattern=FEED_URL)
    """The issuer that vouches for jobs; empty: the forge's own."""
    folder: Path
    """The bot's folder: mirror, inbox, identity. A cache except for the inbox, and for
    the log's key where `log_key_file` names no other."""
    log_key_file: Path | None = None
    """The Ed25519 private key that signs the log, in OpenSSH's form; None: one that is
    made in `key_folder`."""
    allowed_signers: str = ""
    """Further keys that may sign the log, in the form of `.brat/allowed_signers`."""
    adopt_log: str = Field(default="", pattern=r"^([0-9a-f]{40,64})?$")
    """The log's commit up to which a person vouches for it: a log that no allowed key
    signed is taken over there. Without effect once that commit counts."""
    workflow: str = Field(default="brat-task.yml", pattern=r"^[\w.-]+\.ya?ml$")
    """The workflow file whose dispatch runs a task."""
    label: Annotated[str, AfterValidator(str.casefold)] = Field(
        default="brat", min_length=1, max_length=LABEL_CHARS
    )
    app: str = "brat"
    """The slug of the App whose checks never count."""
    write_gap_s: float | None = Field(default=None, ge=0)
    """The least time between writes; above 0, GitHub's content limits apply too. None:
    1 on github.com and ghe.com, 0 elsewhere."""
    push_gap_s: float = Field(default=20.0, ge=0)
    """The least time between pushes: changes meanwhile share the next push. GitHub
    recommends at most 6 pushes a minute to a repository."""
    settle_s: float = Field(default=10.0, ge=0)
    """How long the forge may take to show a write."""
    answers_hour: int = Field(default=12, ge=1, le=10_000)
    """How many requests of one person are answered within an hour; then one answer says
    so, and the rest is ignored."""
    writer_answers_hour: int = Field(default=240, ge=1, le=10_000)
    """The same for people with write access."""
    sweep_s: float = Field(default=60.0, gt=0)
    """How often the bot looks at everything, whatever the webhooks say."""
    session_slack_s: int = _PATIENCE.session_slack_s
    check_start_s: int = _PATIENCE.check_start_s
    artifact_grace_s: float = 120.0
    """How long a result may come after its run's end."""

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        whole = self.app_id is not None and self.private_key_file is not None
        partly = self.app_id is not None or self.private_key_file is not None
        if partly and not whole:
            raise ValueError("app_id and private_key_file must be set together")
        if bool(self.token) == whole:
            raise ValueError("set either token or both app_id and private_key_file")
        return self

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.secret, self.previous_secret)))

    @property
    def gap_s(self) -> float:
        if self.write_gap_s is not None:
            return self.write_gap_s
        return GITHUB_GAP_S if is_clouds(self.api_url) else 0.0


class Settings(Common):
    repository: str = Field(pattern=REPOSITORY_NAME)
    repository_id: int = Field(default=0, ge=0)
    """The forge's id of the repository, to which all state belongs; 0: not known yet.
    An opened bot knows it."""
    secret: str = Field(repr=False, min_length=16)
    key_folder: Path | None = None
    """Where the log's key is made, if it is; None: the bot's folder."""
    installation: int | None = None
    """The id of the App's installation on the repository; looked up when None."""
    roles: tuple[Role, ...] = ROLES
    config_file: Path | None = None
    """Read instead of the default branch's file (local mode, uncommitted)."""
    ci_workflow: str | None = None
    """The workflow file that a job's loop dispatches on candidates; empty: none is
    named. None: pushes start CI."""
    schedule_window_s: int = 3600
    """How late a convoy may still be started by its schedule."""
    quota: Quota | None = None
    """The limits on starting convoys; None: no limits (local mode)."""
    pages: str = ""
    """The address of this repository's dashboard; empty: there is none."""
    stop_file: Path | None = None
    """While this file exists, nothing starts and nothing lands."""
    ends_with_stdin: bool = False
    """Whether the process ends with its standard input: its parent is gone then."""
    cores: int | None = None
    """How many this machine has, if CI runs here (local mode); None: elsewhere."""
    sole: bool = False
    """Whether a file lock on the folder keeps other bots from acting (local mode)."""

    @property
    def by_job(self) -> bool:
        """Whether this is a job's loop that acts with the job's own token."""
        return self.ci_workflow is not None

    @property
    def web(self) -> str:
        """The repository's web address; empty in local mode, which has no pages."""
        return "" if self.sole else f"{self.git_url}/{self.repository}"

    @property
    def stopped(self) -> bool:
        return self.stop_file is not None and self.stop_file.exists()

    @property
    def patience(self) -> Patience:
        return Patience(
            session_slack_s=self.session_slack_s, check_start_s=self.check_start_s
        )


def read_settings_as(kind: type[Kind], file: Path) -> Kind:
    """Return the settings of one kind in a JSON file; a fault is told in one line."""
    try:
        return kind.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = did_you_mean(where, kind.model_fields)
            said = f"the bot has no such setting: remove it{near}"
        raise BratError(": ".join(filter(None, (str(file), where, said)))) from error


ORIGIN: Final = r"^https://[^/?#@\s]+$"
CLIENT_ID: Final = "BRAT_CLIENT_ID"
CLIENT_SECRET: Final = "BRAT_CLIENT_SECRET"  # noqa: S105  the variable's name
STOP_FILE: Final = "stopped"
SECRET_CHARS: Final = 16


class ServiceSettings(Common):
    api_url: str = api_url_of(GITHUB)
    git_url: str = "https://github.com"
    repositories: tuple[Annotated[str, Field(pattern=REPOSITORY_NAME)], ...] = ()
    """The repositories served; empty: all where an allowed owner installed the App."""
    allowed_owners: tuple[str | PositiveInt, ...] = ()
    """The accounts, by login or by the id that survives a rename, whose installations
    are served: anybody can install a public App."""
    quota: Quota = Quota()
    address: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """The networks from which deliveries may come; empty: all."""
    trusted_proxies: int = Field(default=0, ge=0, le=16)
    """How many proxies in front of the door are trusted with X-Forwarded-For."""
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    dashboard_port: int | None = Field(default=None, ge=0, le=65_535)
    """The dashboard's port; None: there is no dashboard."""
    dashboard_url: str = Field(default="", pattern=r"^(https://[^/?#@]+)?$")
    """The dashboard's public address: the proxy there speaks TLS."""
    client_id: str = Field(default_factory=from_environment(CLIENT_ID))
    """The App's client id, with which people sign in to the dashboard."""
    client_secret: str = Field(
        default_factory=from_environment(CLIENT_SECRET), repr=False
    )
    api_token: str = Field(default="", pattern=r"^(\S{16,})?$", repr=False)
    """A program with this token may read and decide everything; empty: none may."""
    roster_s: float = Field(default=300.0, gt=0)
    """How often to look for the App's installations."""

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.secret and len(self.secret) < SECRET_CHARS:
            raise ValueError(f"secret: use at least {SECRET_CHARS} characters")
        if self.token and not self.repositories:
            raise ValueError("repositories: required if token is set")
        if not self.repositories and not self.allowed_owners:
            raise ValueError(
                "allowed_owners: list the accounts to serve (anyone can install a "
                "public App), or list repositories"
            )
        if self.dashboard_port is not None and not (
            self.dashboard_url and self.client_id and self.client_secret
        ):
            raise ValueError(
                "dashboard_port: people sign in to the dashboard, so also set "
                "dashboard_url and the App's client_id and client_secret"
            )
        return self

    @property
    def origins(self) -> Origins:
        return Origins(networks=self.allowed_networks, proxies=self.trusted_proxies)

    def allows(self, owner: str, number: int = 0) -> bool:
        listed = tuple(each.partition("/")[0] for each in self.repositories)
        allowed = self.allowed_owners or listed
        logins = {each.casefold() for each in allowed if isinstance(each, str)}
        return number in allowed or owner.casefold() in logins

    def serves(self, repository: str, number: int = 0) -> bool:
        name = repository.casefold()
        owner, _, short = name.partition("/")
        listed = {each.casefold() for each in self.repositories}
        if not short.strip("."):  # it also names a folder
            return False
        return self.allows(owner, number) and (not listed or name in listed)

    def of(self, repository: str, installation: int | None, number: int) -> Settings:
        """Return the settings of the bot in one repository; its id names the folder."""
        own = {name: getattr(self, name) for name in Common.model_fields}
        own["secret"] = self.secret or secrets.token_hex(SECRET_CHARS)
        return Settings(
            **{**own, "folder": self.folder / "repositories" / str(number)},
            repository=repository,
            repository_id=number,
            key_folder=self.folder,
            installation=installation,
            quota=self.quota,
            stop_file=self.stop_file,
            pages=f"{self.dashboard_url}/{repository}" if self.dashboard_url else "",
        )

    @property
    def stop_file(self) -> Path:
        """While this file exists, nothing starts and nothing lands."""
        return self.folder / STOP_FILE
