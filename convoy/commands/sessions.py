"""What is asked when a session ends, or CI has judged what it left."""

from msgspec import Struct

from convoy.events import Cause, Opinion, Report, Usage


class AcceptWork(Struct, frozen=True, kw_only=True):
    """The gate let the attempt's commits through."""

    convoy: str
    task: int
    attempt: int
    commit: str
    base: str
    files: tuple[str, ...]
    summary: str = ""
    usage: Usage = Usage()


class AcceptNothing(Struct, frozen=True, kw_only=True):
    """There was nothing to do, and the acceptance command agrees."""

    convoy: str
    task: int
    attempt: int
    usage: Usage = Usage()


class AcceptReport(Struct, frozen=True, kw_only=True):
    """The attempt ended in a report that fits; the shell has judged and cleaned it."""

    convoy: str
    task: int
    attempt: int
    report: Report
    usage: Usage = Usage()


class AcceptReview(Struct, frozen=True, kw_only=True):
    """The attempt ended in a verdict on another task's work."""

    convoy: str
    task: int
    attempt: int
    verdict: Opinion
    text: str = ""
    usage: Usage = Usage()


class ProveTests(Struct, frozen=True, kw_only=True):
    """CI found the tests red, and there is no code for them yet."""

    convoy: str
    task: int
    commit: str
    judged: tuple[str, ...]


class ProveRival(Struct, frozen=True, kw_only=True):
    """CI found a rival's work green as it is."""

    convoy: str
    task: int
    commit: str
    judged: tuple[str, ...]
    lines: int


class MakeChoice(Struct, frozen=True, kw_only=True):
    """A rival is to land: an attempt judged so, or it is the only one left."""

    convoy: str
    task: int
    """The choice's own number."""
    attempt: int = 0
    """0: nobody judged."""
    on: int = 0
    """The rival; 0: the only one left."""
    text: str = ""
    usage: Usage = Usage()


class RefuseWork(Struct, frozen=True, kw_only=True):
    """The attempt ended without work that may land."""

    convoy: str
    task: int
    attempt: int
    cause: Cause
    why: str
    now: int = 0
    """Of an outage."""
    asked_s: float = 0.0
    """Of an outage: how long the model's vendor wants to be left alone."""
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""
    splits: bool = False
    """Whether it was too much for one agent."""


class LoseSession(Struct, frozen=True, kw_only=True):
    """The session ended and left no result."""

    convoy: str
    task: int
    attempt: int
    cause: Cause
    why: str
    usage: Usage = Usage()
    left: str = ""
    """The half-done work that it left, kept for the next attempt; empty: none."""
