"""The forge and the bot as child processes, which end with this process."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bot.settings import bot_folder
from brat.forge.service.run_environment import SECRET
from brat.repository.registration import BOT_FOLDER
from grite import outbound
from grite.errors import Unavailable
from runner.box import surroundings

ALLOWED_SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"
"""The variable that tells jobs which keys may sign hand-offs."""
START_S: Final = 20.0
STOP_S: Final = 5.0
NONE: Final[Mapping[str, str]] = {}
FORGE: Final = "brat.forge"


def _environment(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return a child's environment: tools, the way to others and its secrets."""
    path = os.pathsep.join(os.get_exec_path())
    own = {"PATH": path, "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    own |= surroundings.own_tool_variables() | outbound.here().variables
    return own | {SECRET + name: value for name, value in secrets.items()}


class Process:
    """A child that says one line when it is ready and ends when its stdin closes."""

    def __init__(
        self, module: str, *args: str, log: Path, secrets: Mapping[str, str] = NONE
    ) -> None:
        """Start `python -I -m MODULE ARGS`; its stderr is appended to `log`."""
        self._log = log
        with log.open("ab") as sink:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", module, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=_environment(secrets),
                start_new_session=True,
            )

    def ready(self) -> str:
        """Return the line that the child prints when it is ready.

        Raises:
            Unavailable: it ended, or printed nothing in time; quotes its log's end.
        """
        out = self._child.stdout
        if out is not None and select.select([out], [], [], START_S)[0]:
            line = out.readline().decode().strip()
            if line:
                return line
        self.stop()
        said = self._log.read_text(errors="replace")[-2000:].strip()
        said = said or f"it was not ready in {START_S:.0f} s"
        raise Unavailable(f"{self._child.args[3]!r} did not start: {said}")  # type: ignore[index]  # a list

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether the child still runs."""
        return self._child.poll() is None

    def kill(self) -> None:
        """Kill the child with SIGKILL, as if its machine had died."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._close()

    def stop(self) -> None:
        """Ask the child to end, and kill it if it does not; safe to call twice."""
        if self._child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._child.stdin.close()
        self._child.terminate()
        try:
            self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._close()

    def _close(self) -> None:
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextmanager
def forge(
    folder: Path,
    port: int,
    *options: str,
    log: Path,
    secrets: Mapping[str, str] = NONE,
    program: str = FORGE,
) -> Iterator[str]:
    """Serve the forge in `folder` and give its address; see `forge_process`."""
    served = forge_process(
        folder, port, *options, log=log, secrets=secrets, program=program
    )
    with served as (url, _):
        yield url


@contextmanager
def forge_process(
    folder: Path,
    port: int,
    *options: str,
    log: Path,
    secrets: Mapping[str, str] = NONE,
    program: str = FORGE,
) -> Iterator[tuple[str, Process]]:
    """Serve the forge in `folder` and give its address and process.

    Its runs take hand-offs from the bot whose folder lies beside the forge's: nothing
    is committed that says so, and a repository's variables are not kept here.

    Args:
        folder: the forge's folder.
        port: the port to try first; if it is taken, any free port is used.
        options: more arguments for the forge.
        log: the file for the forge's stderr.
        secrets: values of the variables that the forge's runs get, by name.
        program: the module that is run: the forge, or one that adds to it.

    Raises:
        Unavailable: it did not start.
        BratError: the key of that bot cannot be kept or read.
    """
    signers = {ALLOWED_SIGNERS: bot_folder.log_key_in(folder.parent / BOT_FOLDER).line}
    secrets = signers | dict(secrets)
    args = ("--dir", str(folder), *options)
    first, any_port = ("--port", str(port)), ("--port", "0")
    process = Process(program, *args, *first, log=log, secrets=secrets)
    try:
        said = process.ready()
    except Unavailable:
        if not port:
            raise
        process = Process(program, *args, *any_port, log=log, secrets=secrets)
        said = process.ready()
    try:
        yield str(json.loads(said)["url"]), process
    finally:
        process.stop()
