"""What happens to a convoy."""

from convoy.events.parts import Estimate, Fact, Overlap, Settings, TaskSpec


class ConvoyRequested(Fact, frozen=True, kw_only=True, tag="convoy.requested"):
    """An issue was accepted; its text is frozen here."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    """The branch it lands on, without refs/heads/."""
    base: str
    """The target's tip when it was accepted; convoy/<name>/base starts there."""
    settings: Settings
    pattern: str = ""
    """The template that is its plan, read from `base`; empty: none is."""
    inputs: dict[str, str] = {}  # noqa: RUF012  msgspec copies it
    """What was said to fill the template."""


class ConvoyPlanned(Fact, frozen=True, kw_only=True, tag="convoy.planned"):
    """The plan: it makes the convoy active."""

    convoy: str
    planner: str
    tasks: tuple[TaskSpec, ...]
    estimate: Estimate | None = None
    """What its tasks may cost; null: no price is known."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of its tasks may collide, the likeliest first."""
    warnings: tuple[str, ...] = ()
    """What who reads the plan should know, each a sentence without its full stop."""


class ConvoyApproved(Fact, frozen=True, kw_only=True, tag="convoy.approved"):
    """The plan may be carried out: the convoy, which waited for this, is active."""

    convoy: str
    by: str


class ConvoyPaused(Fact, frozen=True, kw_only=True, tag="convoy.paused"):
    """Nothing new starts until it is resumed."""

    convoy: str
    by: str
    why: str = ""
    """The reason, when the bot did it by itself."""


class ConvoyResumed(Fact, frozen=True, kw_only=True, tag="convoy.resumed"):
    """It goes on."""

    convoy: str
    by: str


class ConvoyRanked(Fact, frozen=True, kw_only=True, tag="convoy.ranked"):
    """It goes before or behind others."""

    convoy: str
    priority: int
    """From 0, which is first, to 2; a convoy begins with 1."""
    by: str


class ConvoyCompleted(Fact, frozen=True, kw_only=True, tag="convoy.completed"):
    """Its pull request has landed."""

    convoy: str
    commit: str


class ConvoyFailed(Fact, frozen=True, kw_only=True, tag="convoy.failed"):
    """It was cancelled, could not be planned, or nothing can move any more."""

    convoy: str
    why: str


class PeopleCalled(Fact, frozen=True, kw_only=True, tag="people.called"):
    """People know that this waits for them: a comment says so, or they did it."""

    convoy: str
    needs: tuple[str, ...]
    """Each with a key of its own, such as `blocked/3/2`."""
