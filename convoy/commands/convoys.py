"""What is asked for a convoy."""

from msgspec import Struct

from convoy.events import Overlap, Settings, TaskSpec, Usage


class RequestConvoy(Struct, frozen=True, kw_only=True):
    """Accept an issue; the asker's right was checked by the shell."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    base: str
    settings: Settings
    pattern: str = ""
    """The template that is its plan; the shell has compiled it once."""
    inputs: dict[str, str] = {}


class PlanConvoy(Struct, frozen=True, kw_only=True):
    """Take a checked plan."""

    convoy: str
    planner: str
    tasks: tuple[TaskSpec, ...]
    attempt: int = 0
    """The planning session's that answered with it; 0: none did."""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    """What who reads the plan should know."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of the tasks may collide."""


class FailConvoy(Struct, frozen=True, kw_only=True):
    """Give the convoy up; what is not merged is dropped."""

    convoy: str
    why: str
    by: str = ""
    """The person who wants it so; empty: nobody does."""


class ApprovePlan(Struct, frozen=True, kw_only=True):
    """A person wants the plan carried out."""

    convoy: str
    by: str
    staged: bool = False
    """Whether the repository's configuration says now that nothing may start."""


class RankConvoy(Struct, frozen=True, kw_only=True):
    """A person wants the convoy before or behind others."""

    convoy: str
    priority: int
    by: str


class PauseConvoy(Struct, frozen=True, kw_only=True):
    """Start nothing new."""

    convoy: str
    by: str
    why: str = ""


class ResumeConvoy(Struct, frozen=True, kw_only=True):
    """Go on."""

    convoy: str
    by: str


class CallPeople(Struct, frozen=True, kw_only=True):
    """Something waits for a person: say so."""

    convoy: str
    text: str
    now: int
    """Unix ms."""
    notice: str = ""
    """The same for a webhook, in plain text."""
