"""What a bot process is told: one JSON file, readable by its owner alone."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.actions import Role
from convoy.plan import Pace
from grite.errors import BratError

ROLES: tuple[Role, ...] = ("mayor", "witness", "refinery", "deacon")


class Settings(BaseModel):
    """Where the forge is, who the bot is there, and how it behaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    api_url: str
    git_url: str
    token: str = Field(repr=False)
    secret: str = Field(repr=False, min_length=16)
    """Of the webhook."""
    folder: Path
    """The bot's own: mirror, inbox, identity. A cache but for the inbox."""
    label: str = "brat"
    app: str = "brat"
    """The slug of the App whose checks never count."""
    roles: tuple[Role, ...] = ROLES
    config_file: Path | None = None
    """Read instead of the one on the default branch (local mode, uncommitted)."""
    ci_command: bool = True
    """Whether the forge is known to run CI."""
    sweep_s: float = 60.0
    """Look at everything this often, whatever the webhooks say."""
    session_slack_s: int = 120
    check_start_s: int = 600
    artifact_grace_s: float = 120.0
    """How long a result may come after its run's end."""
    once: bool = False
    """The process does one tick and ends."""
    sole: bool = False
    """A file lock on the folder says that no other bot acts (local mode)."""

    @property
    def pace(self) -> Pace:
        """How patient the rules are."""
        return Pace(
            session_slack_s=self.session_slack_s, check_start_s=self.check_start_s
        )


def read(file: Path) -> Settings:
    """Return the settings in a JSON file.

    Raises:
        BratError: it is not there or not valid; one line names what and where.
    """
    try:
        return Settings.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BratError(f"{file}: {error.strerror}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise BratError(f"{file}: {where}: {fault['msg']}") from error
