"""`python -I -m bot.oneshot`: the loop once, as a job of the repository's own workflow.

It does all it can until what remains waits for others, starts no engine, and ends; the
end of a session or of CI starts the next run. Two runs at once take turns by the bot's
lease. The exit status is 0 when everything possible was done, 75 when the forge does
not answer (the next run continues), and 1 on any other fault.

A push with a workflow run's token starts no workflow; a dispatch with it does. So the
job starts CI on candidates by dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

import asyncio
import contextlib
import os
import signal
import sys
from math import inf
from time import monotonic
from typing import Final

from msgspec import Struct, structs
from pydantic import ValidationError

from bot.door import delivery_meaning
from bot.door.inbox import Kept
from bot.forge.github import GitHub
from bot.forge.github_actions import WAKE_WORKFLOW
from bot.forge.refusals import refusal_of_rest
from bot.forge.rest import Refused
from bot.loop.loop import PATIENCE_S, Loop
from bot.loop.staging import owed
from bot.roles.bot_context import RETRY_S, BotContext, usable_configuration
from bot.roles.mayor import how_ci_starts
from bot.serving import bot_service
from bot.settings import bot_folder
from bot.settings.oneshot_settings import (
    APP_KEY_FILE,
    OneshotInputs,
    environment,
    loops_actor,
    read_inputs,
)
from bot.text.convoy_comment import convoy_table
from convoy.kinds import is_stopped
from convoy.model import ids
from convoy.model.state import State
from convoy.owed import Show
from convoy.rules.landing import open_candidates
from convoy.text import counted, full_stop
from grite.errors import BratError, Conflict, Unavailable
from grite.git import pair_of


async def start_ci(context: BotContext, asked: set[str]) -> None:
    """Start CI on each candidate that has no checks yet; an App's push does that.

    The commits `asked` for are added, and asked for no more. Safe to call again, in
    another process too: a run on the same commit is looked for first.
    """
    if context.settings.ci_workflow is None:
        return
    for convoy in context.mirror.state.live():
        target = convoy.target
        for candidate in open_candidates(convoy) if convoy.settings.require_ci else ():
            is_own, commit = candidate is convoy.candidate, candidate.commit
            onto = target if is_own else ids.base_branch(convoy.name)
            branch = ids.queue_branch(onto, commit)
            seen = context.observed.checks.get(commit)
            is_new = seen is not None and seen.verdict == "none"
            is_there = context.mirror.refs.get(ids.HEADS + branch) == commit
            if not (is_new and is_there) or commit in asked:
                continue
            asked.add(commit)
            if await context.github.ci.has_runs(commit):
                continue
            how = await asyncio.to_thread(how_ci_starts, context, target, commit)
            if file := context.settings.workflow if how.command else how.file:
                inputs = {"ci": how.command} if how.command else {}
                await context.github.ci.start(file, branch, inputs)


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
STAYING_PAUSE_S: Final = 3.0
"""The longest pause of a job that stays: a look with nothing new costs no request."""
LONGEST_HOLD_S: Final = 60.0
"""A longer wait for the forge's limits is left to a later run: a machine that waits is
paid for."""


class Left(Struct, frozen=True, kw_only=True):
    convoys: int
    running: int
    blocked: int
    by_clock: bool
    """Whether some work goes on at a time, or after an event that may be lost."""
    again: bool
    """Whether more could be done at once, so that another run is needed."""


class _Waiting:
    def __init__(self, after: int | None, ci_wait_s: float, pause_s: float) -> None:
        self._after = after
        self._ci_wait_s = ci_wait_s
        self._began = self._moved = monotonic()
        self._head: str | None = None
        self._first_s = self.pause_s = pause_s

    def seen(self, head: str | None, *, stays: bool) -> None:
        """Note the log's head; a move restarts the waits and the shortest pause."""
        longest_s = STAYING_PAUSE_S if stays else LONGEST_PAUSE_S
        if head != self._head:
            self._head, self._moved, self.pause_s = head, monotonic(), self._first_s
        else:
            self.pause_s = min(longest_s, self.pause_s * 1.5)

    @property
    def over(self) -> bool:
        return monotonic() - self._began >= LIMIT_S

    def worth_while(self, state: State, *, stays: bool) -> bool:
        """Whether others may finish something soon; `stays`: or at all, but people."""
        if stays and any(True for _ in state.running()):
            return True
        quiet_s = monotonic() - self._moved
        judging = any(True for convoy in state.live() for _ in open_candidates(convoy))
        closing = any(
            task.attempt is not None and task.attempt.run == self._after
            for _, task in state.running()
        )
        return (judging and (stays or quiet_s < self._ci_wait_s)) or (
            self._after is not None and closing and quiet_s < RESULT_WAIT_S
        )


async def run_once(loop: Loop, *, after: int | None, ci_wait_s: float) -> Left:
    """Tick until all remaining work waits for others; free the lease.

    `after` is the task run that is about to end, whose result the loop waits for; for
    CI's verdict it waits `ci_wait_s` while nothing else happens.

    Raises:
        Unavailable: every tick was cut short for two minutes; the message says why.
    """
    paced = loop.context.settings.push_gap_s > 0
    pause_s = PACED_PAUSE_S if paced else FIRST_PAUSE_S
    waiting, cut_short = _Waiting(after, ci_wait_s, pause_s), 0
    rest = loop.context.github.rest
    answers = rest.answers
    loop.stays = _stays
    asked: set[str] = set()
    while True:
        again = await bot_service.tick(loop)
        try:
            await start_ci(loop.context, asked)
        except Refused as refused:
            found = refusal_of_rest(refused)
            loop.tell(f"CI cannot be started: {full_stop(found.why)} {found.helps}")
        except Unavailable:
            again = True
        cut_short = cut_short + 1 if again else 0
        if cut_short * RETRY_S > PATIENCE_S:
            raise Unavailable("; ".join(loop.context.troubles.values()))
        state, stays = loop.context.mirror.state, _stays(loop.context)
        waiting.seen(loop.context.mirror.head, stays=stays)
        answers, before = rest.answers, answers
        share_s = rest.pace.pause_s(answers - before)
        # So long the forge, or our own pace, wants no ordinary request.
        limited_s = (loop.context.troubles.resume_at - loop.context.clock()) / 1000
        is_limited = max(share_s, limited_s) > LONGEST_HOLD_S
        could_act = again or any(
            not isinstance(action, Show) for action in owed(loop.context)
        )
        could_act |= stays and loop.soon_s < inf
        is_awaited = waiting.worth_while(state, stays=stays)
        ends = is_limited or waiting.over or not (could_act or is_awaited)
        # A job that stays keeps the lease: to give it back and take it costs pushes.
        if ends or not (again or stays):
            with contextlib.suppress(Unavailable, Conflict):  # else the lease expires
                await loop.release()
        if is_limited:
            loop.tell("jobs have few API requests left; a later run will continue")
            return structs.replace(_left(state, again=False), by_clock=True)
        if ends:
            return _left(state, again=could_act or (stays and is_awaited))
        pause_s = RETRY_S if again else min(waiting.pause_s, loop.soon_s)
        await loop.wake.wait(max(pause_s, share_s))


def _stays(context: BotContext) -> bool:
    config = usable_configuration(context)
    return config is not None and config.actions.stay


def _left(state: State, *, again: bool) -> Left:
    live, goes_on = tuple(state.live()), False
    for convoy in live:  # whether it has work that waits for no person
        left = [task for task in convoy.tasks if not task.settled]
        is_stuck = bool(left) and all(is_stopped(convoy, task) for task in left)
        goes_on |= convoy.state != "paused" and not is_stuck
    return Left(
        convoys=len(live),
        running=sum(1 for _ in state.running()),
        blocked=sum(is_stopped(convoy, t) for convoy in live for t in convoy.tasks),
        by_clock=any(state.asides()) or goes_on,
        again=again,
    )


DONE, FAULT, TRY_LATER = 0, 1, 75


async def _job(inputs: OneshotInputs) -> Left:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101  asyncio.run makes one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    folder = inputs.settings.folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "actor").write_text(loops_actor(inputs.settings.repository))
    keys = {bot_folder.LOG_KEY_FILE: inputs.log_key, APP_KEY_FILE: inputs.key}
    written = {folder / name: key for name, key in keys.items() if key}
    for place, key in written.items():
        handle = os.open(place, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(key + "\n")
    async with bot_service.opened(inputs.settings, _tell) as loop:
        token = await loop.context.github.rest.tokens.token()
        made = [pair_of(token)]  # anything derived from a secret is secret too
        for place in written:
            place.unlink()
        if inputs.key:
            made.append(token)
        sys.stdout.writelines(f"::add-mask::{each}\n" for each in made)
        sys.stdout.flush()
        kept = kept_of(inputs, loop.context.login)
        if kept is not None:
            loop.context.inbox.put(f"run-{inputs.run}", kept)
        try:
            left = await run_once(loop, after=inputs.after, ci_wait_s=inputs.ci_wait_s)
        except BratError:
            await _wake_later(loop.context.github, on=True)  # what is left is not known
            raise
        if left.again:
            try:  # asking twice is harmless
                branch = loop.context.mirror.default_branch
                await loop.context.github.runs.start(branch, {})
            except BratError as error:
                _tell(f"cannot start another run now: {error}")
        await _wake_later(loop.context.github, on=left.by_clock)
        state = loop.context.mirror.state
        if inputs.output is not None:
            with inputs.output.open("a", encoding="utf-8") as file:
                for name, value in structs.asdict(left).items():
                    file.write(f"{name}={str(value).lower()}\n")
        if inputs.summary is not None:
            said = (
                convoy_table(convoy, state.shown_asides(convoy.name))
                for convoy in state.live()
            )
            with inputs.summary.open("a", encoding="utf-8", newline="\n") as file:
                file.write("\n\n".join(said) + "\n")
    return left


def kept_of(inputs: OneshotInputs, login: str) -> Kept | None:
    """Return the event's request, in the form in which a delivery's is kept."""
    if inputs.payload is None or not inputs.payload.is_file():
        return None
    try:
        delivery = delivery_meaning.read_delivery(
            inputs.event, inputs.payload.read_bytes()
        )
    except ValidationError:
        return None  # a schedule has another form; it asks for nothing
    label = inputs.settings.label
    return delivery_meaning.meaning(inputs.event, delivery, label, login).kept


async def _wake_later(github: GitHub, *, on: bool) -> None:
    """Let the clock wake the loop while there is work, and only then."""
    try:
        await github.runs.wake_by_clock(on=on)
    except BratError as error:
        _tell(f"cannot {'enable' if on else 'disable'} {WAKE_WORKFLOW}: {error}")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def main() -> int:
    try:
        left = asyncio.run(_job(read_inputs(environment())))
    except (asyncio.CancelledError, KeyboardInterrupt):
        _tell("brat: cancelled; the next run will continue")
        return FAULT
    except Unavailable as error:
        _tell(f"brat: cannot continue for now: {error}")
        return TRY_LATER
    except BratError as error:
        _tell(f"brat: {error}")
        return FAULT
    _tell(
        f"brat: {counted(left.convoys, 'convoy')}, "
        f"{counted(left.running, 'session')}, {counted(left.blocked, 'task')} blocked"
    )
    return DONE


if __name__ == "__main__":
    sys.exit(main())
