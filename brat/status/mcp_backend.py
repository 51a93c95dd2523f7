"""The MCP server's backend in a checkout or clone: it reads as the commands read.

A decision runs one command of ours as if the user had typed it.
"""

import asyncio
import errno
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot import wall_clock
from bot.dashboard.dashboard_source import LogTail
from bot.dashboard.mcp_tools import Decision, Snapshot, ToolRefused
from bot.requests.verb import Endpoint
from bot.requests.verb_table import BY_CONVOY_WORD, BY_TASK_WORD
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.log_reader import Reader, log_repository
from brat.status import task_output
from brat.status.local_attention import here
from convoy.model.state import Convoy, Task
from convoy.text import clean
from convoy.views.history import LogLine
from grite.errors import BratError

_PREFIX: Final = "brat: "


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    status: int
    out: str
    """What it wrote to standard output."""
    lines: tuple[str, ...]
    """What it told people."""


async def typed(path: Path, words: Sequence[str], *given: str) -> Said:
    """Run `brat WORDS --repo PATH -- GIVEN`; a cancelled one ends as by Ctrl-C.

    What is given may be by others: it is never read as an option.
    """
    # -I: a folder `brat` in the repository must not be run in our place.
    command = (sys.executable, "-I", "-m", "brat")
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            *map(clean, words),
            f"--repo={path}",
            "--",
            *map(clean, given),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        return Said(1, "", ("the text is too long: shorten it, or put it in a file",))
    try:
        out, err = await child.communicate()
    except asyncio.CancelledError:
        child.send_signal(signal.SIGINT)
        raise
    lines = err.decode(errors="replace").splitlines()
    told = tuple(line.removeprefix(_PREFIX) for line in lines if line.strip())
    return Said(child.returncode or 0, out.decode(errors="replace"), told)


class CheckoutBackend:
    """One repository on this machine; for one event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: Reader | None = None

    async def snapshot(self) -> Snapshot:
        """Return what the log and this machine say now."""
        return await asyncio.to_thread(self._look)

    async def log(self, number: int) -> Sequence[LogLine]:
        """Return the log's last lines."""
        return await asyncio.to_thread(self._lines, number)

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of a session's output, if it ran on this machine."""
        if task.newest_run is None:
            return ""
        return await asyncio.to_thread(self._printed, convoy, task)

    async def decide(self, decision: Decision) -> str:
        """Let the command that stands for the decision carry it out."""
        command, given = _command(decision)
        said = await typed(self._path, command, *given)
        if said.status:
            raise ToolRefused(_ended(said))
        return " ".join(said.lines) or "done"

    async def start(self, text: str, *, plan_only: bool) -> dict[str, Any]:
        """Open an issue and plan its convoy, as `brat mayor start` does."""
        wanted = (f"--task={text}", "--json", *["--plan-only"] * plan_only)
        said = await typed(self._path, ("mayor", "start", *wanted))
        if not said.out.strip():
            raise ToolRefused(_ended(said))
        return {"convoy": json.loads(said.out), "said": " ".join(said.lines)}

    def _look(self) -> Snapshot:
        if self._reader is None:
            self._reader = Reader(log_repository(self._path))
        state = self._reader.read()
        return Snapshot(
            state=state,
            now=wall_clock(),
            faults=self._reader.faults,
            here=here(self._path, state),
        )

    def _lines(self, number: int) -> Sequence[LogLine]:
        return LogTail(log_repository(self._path)).last(number)

    def _printed(self, convoy: Convoy, task: Task) -> str:
        checkout = checkouts.find(self._path)
        if not registrations.known(checkout.folder):
            raise BratError(
                "its sessions run elsewhere: the forge's page of the run shows what "
                "they print, and so does: brat session tail --bot"
            )
        printed = task_output.of(checkout.folder, convoy, task)
        return printed.last(running=task.attempt is not None)


def _command(decision: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the command for a decision, and what is given to it."""
    words = BY_TASK_WORD if decision.task else BY_CONVOY_WORD
    if decision.word not in words:
        raise ToolRefused(f"{decision.word} needs the number of a task")
    verb = words[decision.word]
    end: Endpoint | None = verb.of_task if decision.task else verb.of_convoy
    told = (decision.text,) if verb.text_help else ()
    whose = (f"--convoy={decision.convoy}",)
    command = tuple(end.typed.split()) if end else ()
    if decision.task:
        return (*command, *whose), (str(decision.task), *told)
    if told:
        return (*command, *whose), told
    return command, (decision.convoy,)


def _ended(said: Said) -> str:
    return " ".join(said.lines) or f"the command ended with status {said.status}"
