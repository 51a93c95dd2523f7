"""`python -I -m bot.oneshot`: the loop once, as a job of the repository's own workflow.

It does all it can do now, starts no engine, and ends; the end of a session or of CI
starts the next run. Two runs at once take turns by the bot's lease. The exit status is
0 when everything possible was done, 75 when the forge does not answer (the next run
continues), and 1 on any other fault.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from bot.door import delivery_meaning
from bot.door.inbox import Kept
from bot.forge.github import GitHub
from bot.forge.github_actions import WAKE_WORKFLOW
from bot.serving import bot_service
from bot.serving.oneshot_loop import Left, run_once
from bot.settings import bot_folder
from bot.settings.oneshot_settings import (
    APP_KEY_FILE,
    OneshotInputs,
    environment,
    loops_actor,
    read_inputs,
)
from bot.text.convoy_comment import convoy_table
from convoy.model.state import State, shown_asides
from convoy.text import counted
from grite.errors import BratError, Unavailable
from grite.git import pair_of

DONE, FAULT, TRY_LATER = 0, 1, 75


async def _job(inputs: OneshotInputs) -> Left:
    _prepare(inputs)
    async with bot_service.opened(inputs.settings, _tell) as loop:
        token = await loop.context.github.token()
        made = [pair_of(token)]  # anything derived from a secret is secret too
        (inputs.settings.folder / bot_folder.LOG_KEY_FILE).unlink()
        if inputs.key:
            (inputs.settings.folder / APP_KEY_FILE).unlink()
            made.append(token)
        sys.stdout.writelines(f"::add-mask::{each}\n" for each in made)
        sys.stdout.flush()
        kept = kept_of(inputs, loop.context.login)
        if kept is not None:
            loop.context.inbox.put(f"run-{inputs.run}", kept)
        try:
            left = await run_once(
                loop,
                after=inputs.after,
                ci_wait_s=inputs.ci_wait_s,
            )
        except BratError:
            await _wake_later(loop.context.github, on=True)  # what is left is not known
            raise
        if left.again:
            await _continue(loop.context.github, loop.context.mirror.default_branch)
        await _wake_later(loop.context.github, on=left.by_clock)
        _report(inputs, left, loop.context.mirror.state)
    return left


def _prepare(inputs: OneshotInputs) -> None:
    """Make the bot's folder, with its actor id, the log's key and the App's."""
    folder = inputs.settings.folder
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "actor").write_text(loops_actor(inputs.settings.repository))
    keys = {bot_folder.LOG_KEY_FILE: inputs.log_key, APP_KEY_FILE: inputs.key}
    for name, key in keys.items():
        if key:
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(key + "\n")


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


async def _continue(github: GitHub, branch: str) -> None:
    """Ask for another run of the loop; asking twice is harmless."""
    try:
        await github.runs.start(branch, {})
    except BratError as error:
        _tell(f"the next run comes by the clock: {error}")


async def _wake_later(github: GitHub, *, on: bool) -> None:
    """Let the clock wake the loop while there is work, and only then."""
    try:
        await github.timed_wake.turn(on=on)
    except BratError as error:
        _tell(
            f"{WAKE_WORKFLOW} is left as it is, and the net comes once a day: {error}"
        )


def _report(inputs: OneshotInputs, left: Left, state: State) -> None:
    if inputs.output is not None:
        with inputs.output.open("a", encoding="utf-8") as file:
            file.write(f"convoys={left.convoys}\nrunning={left.running}\n")
            file.write(f"blocked={left.blocked}\nagain={str(left.again).lower()}\n")
            file.write(f"by_clock={str(left.by_clock).lower()}\n")
    if inputs.summary is not None:
        said = (
            convoy_table(convoy, shown_asides(state, convoy.name))
            for convoy in state.live()
        )
        _append(inputs.summary, "\n\n".join(said))


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8", newline="\n") as open_file:
        open_file.write(text + "\n")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


async def _until_stopped(inputs: OneshotInputs) -> Left:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101  asyncio.run makes one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    return await _job(inputs)


def main() -> int:
    """Run the loop once and return the exit status."""
    try:
        left = asyncio.run(_until_stopped(read_inputs(environment())))
    except (asyncio.CancelledError, KeyboardInterrupt):
        _tell("brat: cancelled; the next run goes on")
        return FAULT
    except Unavailable as error:
        _tell(f"brat: the forge does not answer: {error}")
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
