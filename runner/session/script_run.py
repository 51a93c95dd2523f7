"""Runs a command of the project: its setup script or a task's acceptance command.

The output goes into the transcript, and to the people who watch the session.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from convoy.text import Redaction, clean, shortened
from runner.box.agent_box import Box, Room, session_room
from runner.box.engine_home import plain_environment
from runner.box.stop_signals import Stop
from runner.box.supervisor import Ending, Order, Stream, supervise
from runner.engines.engine_events import Text
from runner.inputs.job_inputs import Inputs
from runner.result.transcript import Transcript

OUTPUT_BYTES: Final = 1_000_000
SAID_CHARS: Final = 300
"""How many characters of the last line of output the reason quotes."""
_LAST_PIECES: Final = 20


class Setting(Struct, frozen=True):
    """Where a command runs, for how long, and who sees its output."""

    inputs: Inputs
    scratch: Path
    """The witness's folder, which holds `home` and `tmp`."""
    limit_s: int
    transcript: Path
    redaction: Redaction
    show: Callable[[str], None]
    """Gets the redacted output as it comes."""
    is_boxed: bool
    """Whether it gets a box, as the agent does."""

    def environment(self) -> dict[str, str]:
        """Return the variables that every program of the session gets."""
        return plain_environment(
            self.inputs, self.scratch / "home", self.scratch / "tmp"
        )

    def room(self, folder: Path) -> Room:
        """Return where the command works: in this checkout, as the agent does."""
        return session_room(self.inputs, folder, self.scratch, is_boxed=self.is_boxed)


def run_script(
    name: str, order: Order, setting: Setting, stop: Stop, box: Box | None
) -> tuple[Ending, str]:
    """Run a command to its end; return how it ended, and the end of its output.

    Args:
        name: the command's name in the transcript.
        order: the command.
        setting: its folder, time and output's receivers.
        stop: ends the command when the job is cancelled.
        box: that the command gets; None: there is no such program.
    """
    said: list[str] = []

    def take(_stream: Stream, text: str) -> None:
        setting.show(text)
        said.append(text)

    transcript = Transcript(setting.transcript, setting.redaction, OUTPUT_BYTES, take)
    try:
        transcript.note(Text(text=f"brat runs {name}", by="program"))
        ending = supervise(order, transcript.write, stop)
    finally:
        transcript.close()
    if box and (refusal := box.report().refusal(is_killed=ending.is_killed)):
        ending = Ending(fault=refusal)
    return ending, "".join(said[-_LAST_PIECES:])


def fault(what: str, ending: Ending, limit_s: int, said: str) -> str:
    """Return a sentence on why a command failed, or "" if it did not.

    Args:
        what: how the sentence calls the command.
        ending: how it ended.
        limit_s: how long it was allowed to take.
        said: the last of its output.
    """
    lines = [line for line in clean(said).splitlines() if line.strip()]
    last = f": {shortened(lines[-1].strip(), SAID_CHARS)}" if lines else ""
    last = last.rstrip(".")
    if ending.fault:
        return f"{what} does not start. {ending.fault}"
    if ending.timed_out:
        return f"{what} was ended after {limit_s} s{last}."
    if ending.signal is not None:
        return f"{what} was ended by signal {ending.signal}{last}."
    if ending.exit_code != 0:
        return f"{what} exited with status {ending.exit_code}{last}."
    return ""
