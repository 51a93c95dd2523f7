"""What becomes of the work of sessions, as the bot sees it."""

from convoy.events.parts import Fact, Opinion, Usage


class WorkAccepted(Fact, frozen=True, kw_only=True, tag="work.accepted"):
    """The gate let the attempt's commits through; the same push moves the branch."""

    convoy: str
    task: int
    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    usage: Usage = Usage()


class WorkRefused(Fact, frozen=True, kw_only=True, tag="work.refused"):
    """The attempt ended without work that may land."""

    convoy: str
    task: int
    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""


class WorkReviewed(Fact, frozen=True, kw_only=True, tag="work.reviewed"):
    """An attempt at a review gave its verdict on another task's work."""

    convoy: str
    task: int
    """The review's own number."""
    attempt: int
    on: int
    """The other task's."""
    commit: str
    """The work as it was looked at."""
    verdict: Opinion
    text: str = ""
    """What is to be changed, or what else the reviewer has to say; cleaned."""
    usage: Usage = Usage()


class TestsProven(Fact, frozen=True, kw_only=True, tag="tests.proven"):
    """CI found tests red before there is code, as they should be."""

    convoy: str
    task: int
    commit: str
    """The work that holds them."""
    judged: tuple[str, ...]
    """The checks that CI reported on it."""


class WorkProven(Fact, frozen=True, kw_only=True, tag="work.proven"):
    """CI found a rival's work green as it is: it can be chosen."""

    convoy: str
    task: int
    commit: str
    """The work."""
    judged: tuple[str, ...]
    """The checks that judged it; `("none",)` where CI is not required."""
    lines: int
    """How many lines it adds and takes away."""


class ChoiceMade(Fact, frozen=True, kw_only=True, tag="choice.made"):
    """One of several rivals is to land; beside it all others are dropped."""

    convoy: str
    task: int
    """The choice's own number."""
    attempt: int
    """The one that judged; 0: nobody had to."""
    on: int
    """The rival that is chosen."""
    commit: str
    """Its work."""
    text: str
    """Why this one; of a judge: cleaned."""
    usage: Usage = Usage()


class WorkRebased(Fact, frozen=True, kw_only=True, tag="work.rebased"):
    """A person had the work put on a newer base; the same push moves the branch."""

    convoy: str
    task: int
    commit: str
    base: str
    by: str


class WorkHeld(Fact, frozen=True, kw_only=True, tag="work.held"):
    """A label says that nothing of this starts or merges; task 0: the convoy."""

    convoy: str
    task: int
    label: str
    """The label, such as `brat:hold`."""


class WorkReleased(Fact, frozen=True, kw_only=True, tag="work.released"):
    """The label is gone; task 0: the convoy's."""

    convoy: str
    task: int


class SessionLost(Fact, frozen=True, kw_only=True, tag="session.lost"):
    """The session ended and left no result."""

    convoy: str
    task: int
    attempt: int
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, for the next attempt; empty: none."""
