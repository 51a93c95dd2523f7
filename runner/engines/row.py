"""What the witness must know about a kind of agent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from convoy.events import EngineSpec

Status = Literal["done", "noop", "blocked", "missing_tool", "missing_data"]
"""What an agent says of its task; a claim."""


@dataclass(frozen=True, slots=True)
class Call:
    """One start of an engine."""

    spec: EngineSpec
    prompt: Path
    """The file with the whole prompt."""
    home: Path
    """Its HOME, fresh and empty; an engine may write its configuration there first."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an engine's output says."""

    status: Status | None
    """None: it said nothing, or failed."""
    summary: str = ""
    fault: str = ""
    """Why it failed, a sentence; empty: the exit status says it all."""
    usage: tuple[Mapping[str, object], ...] = ()
    """What it used, a JSON object for each model; empty: it does not say."""


class Parser(Protocol):
    """Understands the output of one run."""

    def feed(self, text: str) -> None:
        """Take the next piece of standard output, redacted, cut anywhere."""

    def report(self, exit_code: int | None) -> Report:
        """Return what it came to; `exit_code` is None when a signal ended it."""


def _nothing(_call: Call) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Row:
    """How a kind of agent is started and understood."""

    name: str
    argv: Callable[[Call], tuple[str, ...]]
    """The argument vector. Raises ValueError with one sentence when the engine's
    settings allow none."""
    parser: Callable[[], Parser]
    needs: tuple[str, ...] = ()
    """Names of variables that it gets from the job's environment when they are set,
    such as a model's key; their values are redacted."""
    sets: Callable[[Call], Mapping[str, str]] = field(default=_nothing)
    """Variables it gets besides those that every engine gets."""
