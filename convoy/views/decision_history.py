"""What people decided in each convoy: when, who, with which right. Pure."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from convoy.events import Event
from convoy.events.forge_actions import ActionIntended, AnswerShown
from convoy.events.merge_holds import MergeRequested, MergeWithdrawn
from convoy.events.plan_edits import ConvoyRanked
from convoy.events.taken_out_work import WorkTakenBack
from convoy.events.task_ends import TaskDropped
from convoy.events.task_queue import TaskBlocked, TaskQueued

MOST_DECISIONS: Final = 100
"""So many decisions are kept of a convoy, the newest."""
CONVOYS_WITH_DECISIONS: Final = 100
"""So many convoys are kept: those in which somebody decided last."""
_NO_DECISION: Final = (ActionIntended, AnswerShown)
MAINTAIN: Final = (MergeRequested, MergeWithdrawn, WorkTakenBack, ConvoyRanked)
"""What takes the right to maintain, as the verb table says; all else takes at least the
right to write."""


class Decision(Struct, frozen=True):
    """One decision by a person."""

    at: int
    """Unix ms."""
    by: str
    right: str
    """The least right that the forge confirmed when it was carried out."""
    what: str
    """A sentence."""


class DecisionHistory:
    """The decisions in a log, as far as it was read."""

    def __init__(self) -> None:
        """Begin before the log's first event."""
        self._convoys: dict[str, deque[Decision]] = {}

    def read(self, facts: Iterable[tuple[int, Event]]) -> None:
        """Go on with the bots' next events and their times (unix ms), in order."""
        for at, fact in facts:
            name, by = getattr(fact, "convoy", ""), _decided_by(fact)
            if not (name and by):
                continue
            known = self._convoys.pop(name, None) or deque[Decision](
                maxlen=MOST_DECISIONS
            )
            right = "maintain" if isinstance(fact, MAINTAIN) else "write"
            known.append(Decision(at, by, right, fact.sentence()))
            self._convoys[name] = known
            if len(self._convoys) > CONVOYS_WITH_DECISIONS:
                del self._convoys[next(iter(self._convoys))]

    def of(self, convoy: str) -> tuple[Decision, ...]:
        """Return the decisions in a convoy, the newest first."""
        return tuple(reversed(self._convoys.get(convoy, ())))


def _decided_by(fact: Event) -> str:
    if isinstance(fact, _NO_DECISION):
        return ""
    if isinstance(fact, TaskQueued | TaskBlocked | TaskDropped) and fact.wanted_by:
        return fact.wanted_by
    names = (getattr(fact, field, "") for field in ("by", "person"))
    return next((name for name in names if isinstance(name, str) and name), "")
