"""Repositories and what their owners chose."""

from msgspec import Struct

from brat.forge.records.accounts import Role
from brat.forge.records.record import Record


class Ci(Struct, frozen=True, kw_only=True):
    """How pushes are judged."""

    command: str | None = None
    """Run by `sh -c` in a fresh checkout; None: pushes are not judged."""
    branches: tuple[str, ...] = ()
    """Patterns (`*` within a name, `**` across slashes) beside brat/queue/**."""
    timeout_s: float = 600.0
    slots: int = 4
    """How many run at once."""


class Settings(Struct, frozen=True, kw_only=True):
    """What the owner of a repository may choose."""

    ci: Ci = Ci()
    required_checks: tuple[str, ...] = ()
    """Check runs or statuses that `PUT merge` into the default branch waits for."""
    github_limits: bool = False
    """Refuse as GitHub does when a caller asks too often."""


class Repository(Record, frozen=True, kw_only=True):
    """A repository; its bare folder is repos/<owner>/<name>.git."""

    owner: str
    name: str
    default_branch: str
    created_at: str
    updated_at: str
    pushed_at: str
    description: str | None = None
    private: bool = False
    rights: tuple[tuple[str, Role], ...] = ()
    """By lower-case login; whoever is not named may read a public repository."""
    last_number: int = 0
    """Of the newest issue or pull request."""
    settings: Settings = Settings()

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"
