"""The local forge for as long as it is needed, also when several terminals need it.

It is a child process, as the bot is, and ends with this one. The first terminal starts
the forge. Later ones use it, and one of them takes over on the same port when the first
ends. An operating-system lock on the folder decides.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec.structs import replace

from bot.forge import transport
from bot.settings import bot_folder
from brat.forge.resources.forge_records import Ci
from brat.forge.service.run_start import SECRET
from brat.repository import registration as registrations
from brat.repository.forge_files import forge_in_use
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER, Registration
from grite import outbound
from grite.errors import Unavailable
from runner.box import surroundings

ALLOWED_SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"
"""The variable that tells jobs which keys may sign hand-offs."""
START_S: Final = 20.0
STOP_S: Final = 5.0
NONE: Final[Mapping[str, str]] = {}
FORGE: Final = "brat.forge"
_GIT_FILES: Final = ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME")


def _environment(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return a child's environment: tools, the way to others and its secrets."""
    path = os.pathsep.join(os.get_exec_path())
    own = {"PATH": path, "HOME": str(Path.home()), "LANG": "C.UTF-8"}
    own |= surroundings.own_tool_variables() | outbound.here().variables
    have = os.environ  # noqa: TID251  where the person's own git is configured
    own |= {name: have[name] for name in _GIT_FILES if have.get(name)}
    return own | {SECRET + name: value for name, value in secrets.items()}


class Process:
    """A child that says one line when it is ready and ends when its stdin closes."""

    def __init__(
        self, module: str, *args: str, log: Path, secrets: Mapping[str, str] = NONE
    ) -> None:
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
        """Return the line that the child prints when it is ready."""
        out = self._child.stdout
        if out is not None and select.select([out], [], [], START_S)[0]:
            line = out.readline().decode().strip()
            if line:
                return line
        self.stop()
        said = self._log.read_text(errors="replace")[-2000:].strip()
        said = said or f"it was not ready within {START_S:.0f} s"
        raise Unavailable(f"{self._child.args[3]!r} did not start: {said}")  # type: ignore[index]  # a list

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def running(self) -> bool:
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
) -> Iterator[tuple[str, Process]]:
    """Serve the forge in `folder` and give its address and process.

    Its runs take hand-offs from the bot whose folder lies beside the forge's: nothing
    is committed that says so, and a repository's variables are not kept here. They get
    `secrets` as values of variables. If the port is taken, any free one is used. `log`
    takes the stderr of `program`: the forge, or one that adds to it.
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


LOOK_S: Final = 0.3
TELL_S: Final = 10.0
_LOG: Final = "forge.log"


@dataclass(frozen=True)
class Served:
    """A forge that answers."""

    url: str
    alive: Callable[[], bool]
    """Whether the forge's process lives, as far as this process knows."""


@dataclass
class ServeOptions:
    """How a forge is to be served."""

    ci: Ci
    """How candidates are judged."""
    secrets: Mapping[str, str]
    """The variables that the forge's runs get, by name."""


def judge_by(url: str, known: Registration, options: ServeOptions, ci: Ci) -> None:
    """Let a forge judge candidates in another way from now on, whoever serves it.

    The options change too, for when this process comes to serve the forge.
    """
    with transport.client_of(url, TELL_S) as client:
        try:
            client.put(
                f"{url}/_ci/{known.repository}",
                headers={"Authorization": f"Bearer {known.person_token}"},
                content=msgspec.json.encode(ci),
            ).raise_for_status()
        except httpx.HTTPError as error:
            raise Unavailable(
                f"the local forge still uses the old [ci]: {error}"
            ) from error
    options.ci = ci


@asynccontextmanager
async def served(folder: Path, options: ServeOptions) -> AsyncIterator[Served]:
    """Yield the forge in brat's folder; start it if no process serves it.

    The options count for nothing while another process serves it.
    """
    with contextlib.ExitStack() as stack:
        if own := _started(stack, folder, options):
            yield own
            return
        port = registrations.read(folder).port
        async with _attached(stack, folder, options):
            yield Served(f"http://127.0.0.1:{port}", lambda: True)


@asynccontextmanager
async def _attached(
    stack: contextlib.ExitStack, folder: Path, options: ServeOptions
) -> AsyncIterator[None]:
    """Watch another process's forge, and serve the forge when that process ends."""

    async def take_over() -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if forge_in_use(folder):
                continue
            # Another terminal may be quicker; then this one goes on watching.
            with contextlib.suppress(Unavailable):
                if await asyncio.to_thread(_started, stack, folder, options):
                    return

    async with asyncio.TaskGroup() as group:
        watch = group.create_task(take_over(), name="take over the forge")
        try:
            yield
        finally:
            watch.cancel()


def _started(
    stack: contextlib.ExitStack, folder: Path, options: ServeOptions
) -> Served | None:
    """Start the forge; None: another process serves it, at the registered port.

    If several processes begin at once, the others wait until the first serves it.
    """
    with registrations.turn(folder):
        known = registrations.read(folder)
        if forge_in_use(folder) and known.port:
            return None
        registrations.set_ci(folder, known, options.ci)
        serving = forge(
            folder / FORGE_FOLDER,
            known.port,
            *("--feed", str(folder / BOT_FOLDER)),
            log=folder / _LOG,
            secrets=options.secrets,
        )
        url, process = stack.enter_context(serving)
        registrations.write(folder, replace(known, port=urlsplit(url).port or 0))
    return Served(url, lambda: process.running)
