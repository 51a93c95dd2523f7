"""What the MCP server stands on: one repository, with one person's rights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from convoy.model.state import Convoy, State, Task
from convoy.views.history import LogLine
from convoy.views.interventions import Intervention


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What is known of the repository at one moment."""

    state: State
    now: int
    """Unix ms."""
    faults: tuple[str, ...] = ()
    """What could not be read in the log."""
    here: tuple[Intervention, ...] = ()
    """What waits for a person beside what the log says."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a person decides of a convoy or a task; only its form has been checked."""

    word: str
    """The endpoint's word in the table of verbs."""
    convoy: str
    task: int = 0
    """0: it is about the convoy."""
    text: str = ""


class Backend(Protocol):
    """Reads the repository, and hands over what its user decides."""

    async def snapshot(self) -> Snapshot:
        """Return the repository as it is now.

        Raises:
            BratError: the log cannot be read.
        """

    async def log(self, number: int) -> Sequence[LogLine]:
        """Return at most the last `number` lines of the log, oldest first.

        Raises:
            BratError: the log cannot be read.
        """

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of what the task's newest session printed; empty: nothing.

        Raises:
            BratError: it is shown elsewhere.
        """

    async def decide(self, decision: Decision) -> str:
        """Carry out a decision of the user; return what is said of it.

        Raises:
            BratError: the rules or the user's rights refuse it, or there is nothing of
                that name.
        """

    async def start(self, text: str, *, plan_only: bool) -> dict[str, Any]:
        """Open an issue and ask for its convoy; return what is known of it.

        Raises:
            BratError: convoys begin elsewhere, or this one cannot begin.
        """
