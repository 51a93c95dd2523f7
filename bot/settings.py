"""What a bot process is told: one JSON file, readable by its owner alone."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.roles.quota import Quota
from convoy.actions import Role
from convoy.plan import Pace
from grite.errors import BratError

GITHUB: Final = "api.github.com"
GITHUB_GAP_S: Final = 1.0
"""https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
(pause between mutative requests)"""
FEED_URL: Final = r"^(https://[^\s/?#]\S*|http://127\.0\.0\.1:\d+\S*)?$"
"""Nothing that is said there may be read on the way."""
REPOSITORY: Final = r"^[\w.-]+/[\w.-]+$"
ROLES: tuple[Role, ...] = ("mayor", "witness", "refinery", "deacon")

NOTIFY: Final = "BRAT_NOTIFY_URL"
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

Kind = TypeVar("Kind", bound=BaseModel)


def from_environment(name: str) -> Callable[[], str]:
    """Return what gives a variable of whoever starts the bot; empty: it is not set."""
    return lambda: os.environ.get(name, "")  # noqa: TID251  as it is said


class Common(BaseModel):
    """Where the forge is, who the bot is there, and how it behaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_url: str
    git_url: str
    token: str = Field(default="", repr=False)
    """Of the bot's account; without one the bot is an App."""
    app_id: str | None = Field(default=None, coerce_numbers_to_str=True)
    """The App's id or client id."""
    private_key_file: Path | None = None
    """The App's, as GitHub gave it (.pem)."""
    previous_secret: str = Field(default="", repr=False)
    """The webhook's one before, taken too while it is being changed on the forge."""
    feed_token: str = Field(default="", pattern=r"^(\S{16,})?$", repr=False)
    """Who shows it may read what sessions print; empty: nobody may from afar."""
    feed_url: str = Field(default="", pattern=FEED_URL)
    """The address of the bot's door as jobs reach it: they may send what they print,
    once the forge vouches for them. Empty: it is asked for nobody."""
    feed_issuer: str = Field(default="", pattern=FEED_URL)
    """Who vouches for jobs; empty: the forge's own issuer."""
    folder: Path
    """The bot's own: mirror, inbox, identity. A cache but for the inbox."""
    workflow: str = Field(default="brat-task.yml", pattern=r"^[\w.-]+\.ya?ml$")
    """The workflow file whose dispatch runs a task."""
    label: str = "brat"
    app: str = "brat"
    """The slug of the App whose checks never count."""
    write_gap_s: float | None = Field(default=None, ge=0)
    """From one write to the next; above 0 GitHub's limits on content hold, too. None:
    1 on api.github.com, 0 elsewhere."""
    push_gap_s: float = Field(default=20.0, ge=0)
    """Between two pushes at least: what happens meanwhile shares the next one. GitHub
    asks for at most 6 a minute and repository."""
    settle_s: float = Field(default=10.0, ge=0)
    """How long the forge may take to show what was written to it."""
    notify_url: str = Field(default_factory=from_environment(NOTIFY), repr=False)
    """A Slack-compatible webhook, as whoever starts the bot has it in BRAT_NOTIFY_URL;
    empty: there is none. It is a secret: who has it can write there."""
    notify_hosts: tuple[str, ...] = ()
    """The only hosts it may be at; without any, every one."""
    sweep_s: float = Field(default=60.0, gt=0)
    """Look at everything this often, whatever the webhooks say."""
    session_slack_s: int = 120
    check_start_s: int = 600
    artifact_grace_s: float = 120.0
    """How long a result may come after its run's end."""

    @model_validator(mode="after")
    def _tells_nobody_else(self) -> Self:
        if self.notify_url:
            url = urlsplit(self.notify_url)
            safe = url.scheme == "https" or (
                url.scheme == "http" and url.hostname in LOOPBACK
            )
            if not safe or not url.hostname:
                raise ValueError(f"{NOTIFY}: give an address that begins with https://")
            if self.notify_hosts and url.hostname not in self.notify_hosts:
                raise ValueError(f"{NOTIFY}: its host is not one of notify_hosts")
        return self

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        whole = self.app_id is not None and self.private_key_file is not None
        partly = self.app_id is not None or self.private_key_file is not None
        if partly and not whole:
            raise ValueError("app_id and private_key_file go together")
        if bool(self.token) == whole:
            raise ValueError("give either token, or app_id and private_key_file")
        return self

    @property
    def gap_s(self) -> float:
        """From one write to the next."""
        if self.write_gap_s is not None:
            return self.write_gap_s
        return GITHUB_GAP_S if urlsplit(self.api_url).hostname == GITHUB else 0.0


class Settings(Common):
    """One bot in one repository."""

    repository: str = Field(pattern=REPOSITORY)
    secret: str = Field(repr=False, min_length=16)
    """Of the webhook."""
    installation: int | None = None
    """Of the App on the repository; looked up when None."""
    roles: tuple[Role, ...] = ROLES
    config_file: Path | None = None
    """Read instead of the one on the default branch (local mode, uncommitted)."""
    ci_command: bool = True
    """Whether the forge is known to run CI."""
    quota: Quota | None = None
    """None: as much as anybody likes (local mode)."""
    plan_only: bool = False
    """Whether every plan waits for a person, whatever the configuration says."""
    pages: str = ""
    """Where people find the dashboard of this repository; empty: nowhere."""
    stop_file: Path | None = None
    """While it is there, nothing starts and nothing lands."""
    once: bool = False
    """The process does one tick and ends."""
    ends_with_stdin: bool = False
    """The process ends when its standard input does: whoever started it is gone."""
    sole: bool = False
    """A file lock on the folder says that no other bot acts (local mode)."""

    @property
    def stopped(self) -> bool:
        """Whether whoever runs the bot has stopped it."""
        return self.stop_file is not None and self.stop_file.exists()

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that a delivery may be signed by."""
        return tuple(filter(None, (self.secret, self.previous_secret)))

    @property
    def pace(self) -> Pace:
        """How patient the rules are."""
        return Pace(
            session_slack_s=self.session_slack_s, check_start_s=self.check_start_s
        )


def read(file: Path) -> Settings:
    """Return the settings in a JSON file; see `read_as`."""
    return read_as(Settings, file)


def read_as(kind: type[Kind], file: Path) -> Kind:
    """Return the settings of one kind in a JSON file.

    Raises:
        BratError: it is not there or not valid; one line names what and where.
    """
    try:
        return kind.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        said = fault["msg"].removeprefix("Value error, ")
        raise BratError(": ".join(filter(None, (str(file), where, said)))) from error
