"""What a person decides at a terminal: by the rules here, or by a comment afar.

In a repository that brat serves on this machine it goes through the loop; in a clone
of any other it is said as a `/brat` comment on the convoy's issue, and the bot there
asks the forge whether this person may.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brat import checkout as checkouts, elsewhere, registration as registrations, roles
from brat.checkout import Checkout
from brat.console import say
from brat.local import Local, serving
from brat.places import log_repository
from brat.reading import Reader
from brat.status.find import live_or_named, task_in
from convoy.commands import (
    AddTask,
    ApprovePlan,
    BlockTask,
    Command,
    DropTask,
    PauseConvoy,
    ResumeConvoy,
    RetryTask,
    TellTask,
)
from convoy.decide import Refusal
from convoy.planner import tasklist
from convoy.state import Convoy
from convoy.text.plaintext import clean
from convoy.text.redaction import redacted
from grite.errors import BratError, Conflict

TRIES: Final = 5
"""So often it is put to the rules while the log moves."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One thing that a person decides, in both its forms."""

    command: Callable[[str], Command]
    """Takes who decides."""
    comment: str
    """As it is said on the convoy's issue."""


Decides = Callable[[Convoy], Decision]


def retry(number: int) -> Decides:
    """Queue a blocked task again."""
    return lambda convoy: Decision(
        command=lambda by: RetryTask(convoy=convoy.name, task=number, by=by),
        comment=f"/brat retry task-{number}",
    )


def drop(number: int) -> Decides:
    """Give a task up."""
    return lambda convoy: Decision(
        command=lambda by: DropTask(
            convoy=convoy.name, task=number, why=f"dropped by {by}"
        ),
        comment=f"/brat drop task-{number}",
    )


def stop(number: int) -> Decides:
    """Stop a task's session; the task waits for a person.

    Raises:
        BratError: it has none.
    """

    def decides(convoy: Convoy) -> Decision:
        if task_in(convoy, number).attempt is None:
            raise BratError(f"task {number} of {convoy.name} has no session that runs")
        return Decision(
            command=lambda by: BlockTask(
                convoy=convoy.name, task=number, why=f"stopped by {by}", by=by
            ),
            comment=f"/brat cancel task-{number}",
        )

    return decides


def tell(number: int, text: str) -> Decides:
    """Say something to a task."""
    said = redacted(clean(text))
    return lambda convoy: Decision(
        command=lambda by: TellTask(convoy=convoy.name, task=number, by=by, text=said),
        comment=f"/brat tell task-{number} -- {said}",
    )


def add(text: str) -> Decides:
    """Add a task, written as in a task list.

    Raises:
        PlanError: it is not written so.
    """

    def decides(convoy: Convoy) -> Decision:
        known = {task.number: task.state == "merged" for task in convoy.tasks}
        engines = convoy.settings.workers
        spec = tasklist.addition(convoy.title, text, known, engines)
        return Decision(
            command=lambda by: AddTask(convoy=convoy.name, spec=spec, by=by),
            comment=f"/brat add -- {text}",
        )

    return decides


def pause(convoy: Convoy) -> Decision:
    """Start nothing new in a convoy."""
    return Decision(
        command=lambda by: PauseConvoy(convoy=convoy.name, by=by),
        comment="/brat pause",
    )


def resume(convoy: Convoy) -> Decision:
    """Let a paused convoy go on."""
    return Decision(
        command=lambda by: ResumeConvoy(convoy=convoy.name, by=by),
        comment="/brat resume",
    )


def approve(convoy: Convoy) -> Decision:
    """Let a plan that waits be carried out."""
    return Decision(
        command=lambda by: ApprovePlan(
            convoy=convoy.name, by=by, staged=convoy.settings.staged
        ),
        comment="/brat approve",
    )


def decided(path: Path, convoy: str | None, decides: Decides) -> int:
    """Put what a person decides to whoever rules here; return the exit status.

    Args:
        path: a folder of the repository, or of a clone of it.
        convoy: its name; None: the live one.
        decides: what of it.

    Raises:
        BratError: there is no such convoy or task, or it cannot be said.
    """
    checkout = _served_here(path)
    if checkout is not None:
        bare = registrations.bare_path(
            checkout.folder, registrations.read(checkout.folder)
        )
        found = live_or_named(Reader(bare).read(), convoy)
        return asyncio.run(_by_the_loop(checkout, decides(found)))
    log = log_repository(path)
    found = live_or_named(Reader(log).read(), convoy)
    comment = decides(found).comment
    where = elsewhere.say(log, found.issue, comment)
    say(f"said on {where}: {comment}; the bot answers there")
    return roles.OK


def _served_here(path: Path) -> Checkout | None:
    """Return the checkout, if brat has its forge on this machine."""
    try:
        checkout = checkouts.find(path)
        registrations.read(checkout.folder)
    except BratError:
        return None
    return checkout


async def _by_the_loop(checkout: Checkout, decision: Decision) -> int:
    async with serving(checkout, (), say) as here:
        command = decision.command(checkout.person())
        refused = await _asked(here, command)
        if refused is not None:
            say(f"brat: {refused.why}")
            return roles.BLOCKED
        if isinstance(command, BlockTask):
            await _cancelled(here, command)
        roles.report(here)
        return roles.OK


async def _asked(here: Local, command: Command) -> Refusal | None:
    for _ in range(TRIES):
        with suppress(Conflict):  # somebody wrote first: it is decided anew
            return await here.loop.ask(command)
    raise Conflict("the log keeps moving; try again")


async def _cancelled(here: Local, stopped: BlockTask) -> None:
    """End a stopped task's run at once; whoever runs the witness would, later."""
    desk = here.loop.desk
    for convoy, task in desk.mirror.state.running():
        if (convoy.name, task.number) == (stopped.convoy, stopped.task):
            attempt = task.attempt
            if attempt is not None and attempt.run:
                await desk.github.cancel_run(attempt.run)
