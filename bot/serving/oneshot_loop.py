"""Runs the loop until all remaining work waits for others: one job of a workflow."""

import contextlib
from time import monotonic
from typing import Final

from msgspec import Struct, structs

from bot.loop.loop import Loop
from bot.loop.staging import owed
from bot.loop.troubles import RETRY_S
from bot.roles.ci_starts import CiStarts, started
from bot.serving import bot_service
from convoy.kinds import is_stopped
from convoy.model.state import Convoy, State, asides
from convoy.owed import Show
from convoy.rules.landing import open_candidates
from grite.errors import Conflict, Unavailable

LIMIT_S: Final = 25 * 60.0
"""After this time another run continues, so that no job reaches its time limit."""
RESULT_WAIT_S: Final = 180.0
"""How long to wait for the task run that started this run and is about to end."""
FIRST_PAUSE_S: Final = 0.25
PACED_PAUSE_S: Final = 3.0
"""The first pause on a forge with rate limits: a look costs about five calls, and
GitHub allows a repository's jobs 1,000 an hour together.
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""
LONGEST_PAUSE_S: Final = 20.0
LONGEST_HOLD_S: Final = 60.0
"""A longer wait for the forge's limits is left to a later run: a machine that waits is
paid for."""


class Left(Struct, frozen=True, kw_only=True):
    """The work left when the loop ends."""

    convoys: int
    """Convoys that have not ended."""
    running: int
    """Running sessions."""
    blocked: int
    """Tasks that wait for a person."""
    by_clock: bool
    """Whether some work goes on at a time, or after an event that may be lost."""
    again: bool
    """Whether more could be done at once, so that another run is needed."""


class _Waiting:
    """Decides how long the loop waits for others."""

    def __init__(self, after: int | None, ci_wait_s: float, pause_s: float) -> None:
        self._after = after
        self._ci_wait_s = ci_wait_s
        self._began = self._moved = monotonic()
        self._head: str | None = None
        self._first_s = self.pause_s = pause_s

    def seen(self, head: str | None) -> None:
        """Note the log's head; a move restarts the waits and the shortest pause."""
        if head != self._head:
            self._head, self._moved, self.pause_s = head, monotonic(), self._first_s
        else:
            self.pause_s = min(LONGEST_PAUSE_S, self.pause_s * 1.5)

    @property
    def over(self) -> bool:
        """Whether the run's time is over, whatever is left."""
        return monotonic() - self._began >= LIMIT_S

    def worth_while(self, state: State) -> bool:
        """Whether others may finish something soon."""
        quiet_s = monotonic() - self._moved
        judging = any(True for convoy in state.live() for _ in open_candidates(convoy))
        closing = any(
            task.attempt is not None and task.attempt.run == self._after
            for _, task in state.running()
        )
        return (judging and quiet_s < self._ci_wait_s) or (
            self._after is not None and closing and quiet_s < RESULT_WAIT_S
        )


async def run_once(loop: Loop, *, after: int | None, ci_wait_s: float) -> Left:
    """Tick until all remaining work waits for others; free the lease.

    Args:
        loop: an opened loop.
        after: the task run that is about to end; the loop waits for its result.
        ci_wait_s: how long to wait for CI's verdict while nothing else happens.

    Raises:
        Unavailable: every tick was cut short for two minutes; the message says why.
    """
    paced = loop.context.settings.push_gap_s > 0
    pause_s = PACED_PAUSE_S if paced else FIRST_PAUSE_S
    waiting, cut_short = _Waiting(after, ci_wait_s, pause_s), 0
    answers = loop.context.github.answers
    starts = CiStarts(loop.context.settings.ci_workflow or "")
    while True:
        again = await bot_service.tick(loop)
        if not again:
            with contextlib.suppress(Unavailable, Conflict):  # else the lease expires
                await loop.release()
        try:
            if why := await started(starts, loop.context):
                loop.tell(why)
        except Unavailable:
            again = True
        cut_short = cut_short + 1 if again else 0
        if cut_short * RETRY_S > bot_service.PATIENCE_S:
            raise Unavailable("; ".join(loop.context.troubles.values()))
        state = loop.context.mirror.state
        waiting.seen(loop.context.mirror.head)
        answers, before = loop.context.github.answers, answers
        share_s = loop.context.github.pause_s(answers - before)
        if max(share_s, _limited_s(loop)) > LONGEST_HOLD_S:
            loop.tell("few of the jobs' requests are left; a later run goes on")
            return structs.replace(_left(state, again=False), by_clock=True)
        could_act = again or _could_act(loop)
        if waiting.over or not (could_act or waiting.worth_while(state)):
            return _left(state, again=could_act)
        pause_s = RETRY_S if again else waiting.pause_s
        await loop.wake.wait(max(pause_s, share_s))


def _limited_s(loop: Loop) -> float:
    """Return how long the forge, or our own pace, wants no ordinary request."""
    return (loop.troubles.resume_at - loop.context.clock()) / 1000


def _could_act(loop: Loop) -> bool:
    return any(not isinstance(action, Show) for action in owed(loop.context))


def _left(state: State, *, again: bool) -> Left:
    live = tuple(state.live())
    return Left(
        convoys=len(live),
        running=sum(1 for _ in state.running()),
        blocked=sum(is_stopped(convoy, t) for convoy in live for t in convoy.tasks),
        by_clock=any(asides(state)) or any(map(_goes_on, live)),
        again=again,
    )


def _goes_on(convoy: Convoy) -> bool:
    """Whether a convoy has work that waits for no person."""
    left = [task for task in convoy.tasks if not task.settled]
    is_stuck = bool(left) and all(is_stopped(convoy, task) for task in left)
    return convoy.state != "paused" and not is_stuck
