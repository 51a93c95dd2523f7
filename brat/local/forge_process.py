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
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec.structs import replace

from bot.forge import transport
from bot.settings import bot_folder
from brat.forge.resources.forge_records import Ci
from brat.forge.service.programs import SECRET, plain_environment
from brat.repository import registration as registrations
from brat.repository.forge_files import forge_in_use
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from grite import outbound
from grite.errors import Unavailable

ALLOWED_SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"
"""The variable that tells jobs which keys may sign hand-offs."""
START_S: Final = 20.0
STOP_S: Final = 5.0
NONE: Final[Mapping[str, str]] = {}
FORGE: Final = "brat.forge"
_GIT_FILES: Final = ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME")


def _environment(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return a child's environment: tools, the way to others and its secrets."""
    own = plain_environment() | outbound.here().variables | {"HOME": str(Path.home())}
    have = os.environ  # noqa: TID251  where the person's own git is configured
    own |= {name: have[name] for name in _GIT_FILES if have.get(name)}
    return own | {SECRET + name: value for name, value in secrets.items()}


_spare: list[subprocess.Popen[bytes]] = []


@contextmanager
def forked_ahead() -> Iterator[None]:
    """Keep a fork of this process for the block, for a forge to begin in.

    It has most of what a forge loads, which takes 0.25 s of a processor. A fork must
    come before threads and loops, so this is entered before it is known whether another
    process serves the forge; then the fork ends unused, with the block. macOS forbids
    a fork to go on without a new program once its frameworks are loaded.
    """
    if sys.platform == "darwin":
        yield
        return
    sys.stdout.flush()
    child = subprocess.Popen(
        [FORGE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_become_forge,  # noqa: PLW1509  it never returns, so nothing is run
    )
    _spare.append(child)
    try:
        yield
    finally:
        if child in _spare:
            _spare.remove(child)
            child.communicate()


def _become_forge() -> None:
    """Wait for the line that says what the forge is told, and be it to the end."""
    status = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        said = b""
        while not said.endswith(b"\n"):
            if not (more := os.read(0, 65_536)):
                return  # nobody needs a forge
            said += more
        told = json.loads(said)
        log = os.open(told["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.dup2(log, 2)
        env = os.environ  # noqa: TID251  the place of what it is told
        env.clear()
        env.update(told["env"])
        sys.argv = [FORGE, *told["args"]]
        status = import_module(f"{FORGE}.__main__").main()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(status)


class Process:
    """A child that says one line when it is ready and ends when its stdin closes."""

    def __init__(
        self, module: str, *args: str, log: Path, secrets: Mapping[str, str] = NONE
    ) -> None:
        self._log, self._module = log, module
        env = _environment(secrets)
        if module == FORGE and _spare:
            self._child = _spare.pop()
            if stdin := self._child.stdin:
                told = json.dumps({"args": args, "env": env, "log": str(log)})
                stdin.write(f"{told}\n".encode())
                stdin.flush()
            return
        with log.open("ab") as sink:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", module, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=env,
                start_new_session=True,
            )

    def ready(self) -> str:
        out = self._child.stdout
        if out is not None and select.select([out], [], [], START_S)[0]:
            line = out.readline().decode().strip()
            if line:
                return line
        self.stop()
        said = self._log.read_text(errors="replace")[-2000:].strip()
        said = said or f"it was not ready within {START_S:.0f} s"
        raise Unavailable(f"{self._module!r} did not start: {said}")

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


@dataclass
class ServedForge:
    """The forge in brat's folder, as this process or another one serves it."""

    folder: Path
    ci: Ci
    """How candidates are judged."""
    secrets: Mapping[str, str]
    """The variables that the forge's runs get, by name; here, where it is ours."""
    url: str = ""
    soon: bool = False
    """Whether who started it is to start sessions."""
    process: Process | None = None
    """None: another process serves it."""

    def alive(self) -> bool:
        """Whether the forge's process lives, as far as this process knows."""
        return self.process is None or self.process.running

    def judge_by(self, ci: Ci) -> None:
        """Let it judge candidates in another way from now on, whoever serves it."""
        known = registrations.read(self.folder)
        with transport.client_of(self.url, TELL_S) as client:
            try:
                client.put(
                    f"{self.url}/_ci/{known.repository}",
                    headers={"Authorization": f"Bearer {known.person_token}"},
                    content=msgspec.json.encode(ci),
                ).raise_for_status()
            except httpx.HTTPError as error:
                raise Unavailable(
                    f"the local forge still uses the old [ci]: {error}"
                ) from error
        self.ci = ci

    def start(self, stack: contextlib.ExitStack) -> tuple[str, Process] | None:
        """Start it; None: another process serves it, at the registered port.

        If several processes begin at once, the others wait until the first serves it.
        """
        folder = self.folder
        with registrations.turn(folder):
            known = registrations.read(folder)
            if forge_in_use(folder) and known.port:
                return None
            registrations.set_ci(folder, known, self.ci)
            serving = forge(
                folder / FORGE_FOLDER,
                known.port,
                *("--feed", str(folder / BOT_FOLDER)),
                *(("--soon",) if self.soon else ()),
                log=folder / _LOG,
                secrets=self.secrets,
            )
            url, process = stack.enter_context(serving)
            registrations.write(folder, replace(known, port=urlsplit(url).port or 0))
        return url, process

    async def take_over(self, stack: contextlib.ExitStack) -> None:
        """Watch another process's forge, and serve the forge when that ends."""
        while True:
            await asyncio.sleep(LOOK_S)
            if forge_in_use(self.folder):
                continue
            # Another terminal may be quicker; then this one goes on watching.
            with contextlib.suppress(Unavailable):
                if await asyncio.to_thread(self.start, stack):
                    return


@asynccontextmanager
async def served(
    folder: Path, ci: Ci, secrets: Mapping[str, str], *, soon: bool = False
) -> AsyncIterator[ServedForge]:
    """Yield the forge in brat's folder; start it if no process serves it.

    `soon`: whether who calls is to start sessions, which then begin sooner.
    """
    found = ServedForge(folder, ci, secrets, soon=soon)
    with contextlib.ExitStack() as stack:
        if own := found.start(stack):
            found.url, found.process = own
            yield found
            return
        found.url = f"http://127.0.0.1:{registrations.read(folder).port}"
        async with asyncio.TaskGroup() as group:
            watch = group.create_task(
                found.take_over(stack), name="take over the forge"
            )
            try:
                yield found
            finally:
                watch.cancel()
