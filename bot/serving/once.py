"""The loop until what is left waits for others: what one job of a workflow can do."""

import contextlib
from time import monotonic
from typing import Final

from msgspec import Struct

from bot.loop import RETRY_S, Loop
from bot.roles.ci_starts import CiStarts, started
from bot.serving import service
from bot.staging import owed
from convoy.actions import Show
from convoy.queue import candidates
from convoy.rivals import is_stopped
from convoy.state import State
from grite.errors import Conflict, Unavailable

LIMIT_S: Final = 25 * 60.0
"""Then another run goes on, so that no job comes to its own end in the middle."""
RESULT_WAIT_S: Final = 180.0
"""For the task run that started this one, which has only to close."""
FIRST_PAUSE_S: Final = 0.25
PACED_PAUSE_S: Final = 3.0
"""The same where the forge wants to be asked less: a look costs about five calls, and
GitHub allows a repository's jobs 1,000 an hour together.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""
LONGEST_PAUSE_S: Final = 20.0


class Left(Struct, frozen=True, kw_only=True):
    """What is left when the loop ends."""

    convoys: int
    """Those that have not ended."""
    running: int
    """Sessions."""
    blocked: int
    """Tasks that a person must look at."""
    again: bool
    """More could be done at once, and another run was asked for that."""


class _Waiting:
    """Decides how long the loop stays for others."""

    def __init__(self, after: int | None, ci_wait_s: float, pause_s: float) -> None:
        self._after = after
        self._ci_wait_s = ci_wait_s
        self._began = self._moved = monotonic()
        self._head: str | None = None
        self._first_s = self.pause_s = pause_s

    def seen(self, head: str | None) -> None:
        """Take note of the log's head: while it moves, nobody is waited for in vain."""
        if head != self._head:
            self._head, self._moved, self.pause_s = head, monotonic(), self._first_s
        else:
            self.pause_s = min(LONGEST_PAUSE_S, self.pause_s * 1.5)

    @property
    def over(self) -> bool:
        """Whether the run is at its end, whatever is left."""
        return monotonic() - self._began >= LIMIT_S

    def worth_while(self, state: State) -> bool:
        """Whether what others do may be seen soon."""
        quiet_s = monotonic() - self._moved
        judging = any(True for convoy in state.live() for _ in candidates(convoy))
        closing = any(
            task.attempt is not None and task.attempt.run == self._after
            for _, task in state.running()
        )
        return (judging and quiet_s < self._ci_wait_s) or (
            self._after is not None and closing and quiet_s < RESULT_WAIT_S
        )


async def run_once(
    loop: Loop, *, after: int | None, ci_wait_s: float, ci_workflow: str = ""
) -> Left:
    """Tick until what is left waits for others; free the lease.

    Args:
        loop: an opened one.
        after: the task run that is about to end: its result is waited for.
        ci_wait_s: how long to stay for CI's verdict while nothing else happens.
        ci_workflow: the file that is dispatched on each candidate; empty: CI comes by
            itself.

    Raises:
        Unavailable: every tick was cut short for two minutes; it says by what.
    """
    paced = loop.desk.settings.push_gap_s > 0
    pause_s = PACED_PAUSE_S if paced else FIRST_PAUSE_S
    waiting, cut_short = _Waiting(after, ci_wait_s, pause_s), 0
    starts = CiStarts(ci_workflow)
    while True:
        again = await service.tick(loop)
        if not again:
            with contextlib.suppress(Unavailable, Conflict):  # then it runs out
                await loop.release()
        try:
            if why := await started(starts, loop.desk):
                loop.tell(why)
        except Unavailable:
            again = True
        cut_short = cut_short + 1 if again else 0
        if cut_short > service.PATIENCE:
            raise Unavailable("; ".join(loop.desk.troubles.values()))
        state = loop.desk.mirror.state
        waiting.seen(loop.desk.mirror.head)
        could_act = again or _could_act(loop)
        if waiting.over or not (could_act or waiting.worth_while(state)):
            return _left(state, again=could_act)
        await loop.wake.wait(RETRY_S if again else waiting.pause_s)


def _could_act(loop: Loop) -> bool:
    return any(not isinstance(action, Show) for action in owed(loop.desk))


def _left(state: State, *, again: bool) -> Left:
    live = tuple(state.live())
    return Left(
        convoys=len(live),
        running=sum(1 for _ in state.running()),
        blocked=sum(is_stopped(convoy, t) for convoy in live for t in convoy.tasks),
        again=again,
    )
