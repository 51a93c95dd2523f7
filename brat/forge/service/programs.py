"""Programs the forge starts: their environment and identity, their start and their end.

Runs outlive the forge, so a process is identified by its pid and creation time, which
stay valid across a restart; a pid alone may be reused by another program. Our runner is
forked by a process that has it loaded, or started by itself; either lives on when the
forge dies, and is found again.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import psutil
from msgspec import Raw, json

from brat.forge.resources.forge_records import Repository, Run
from brat.forge.resources.wire import Site
from grite import outbound
from runner.box import surroundings
from runner.box.agent_box import LAUNCHER

GONE_S: Final = 1.0
"""How long a program that was ended may take to be gone."""


def plain_environment() -> dict[str, str]:
    """Return the environment every child starts from: tools, language, way to others.

    The path is the person's own: a project's `python` is the one that they would run.
    """
    own = {"PATH": os.pathsep.join(os.get_exec_path()), "LANG": "C.UTF-8"}
    return own | surroundings.own_tool_variables() | outbound.here().without_passwords()


def git_environment() -> dict[str, str]:
    """Return the environment for git: nobody's configuration, no prompt."""
    return plain_environment() | {
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }


def born(pid: int) -> float | None:
    """Return when a process was created, in clock ticks since boot; None: it is gone.

    Unlike psutil's times, these do not change when the wall clock is set.
    """
    found = _look(pid)
    return found[0] if found is not None else None


def alive(pid: int, since: float) -> bool:
    """Say whether the process that was created at `since` still runs."""
    return _look(pid) == (since, False)


def _look(pid: int) -> tuple[float, bool] | None:
    """Return when a process was created, and whether it only waits to be reaped."""
    try:
        said = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # After the name, which may hold anything: fields 3 (state) and 22 (starttime).
    # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    fields = said.rpartition(b")")[2].split()
    return float(fields[19]), fields[0] == b"Z"


async def gone(pid: int, since: float) -> None:
    """Wait until the process has ended; it need not be a child of ours."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(watch, ended.set)
    try:
        if alive(pid, since):  # else the pid was reused before we looked
            await ended.wait()
    finally:
        loop.remove_reader(watch)
        os.close(watch)


def status_of(pid: int) -> int:
    """Return the exit status of a child that has ended, and forget it; blocks."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def tell(pid: int, since: float, number: signal.Signals) -> None:
    """Send a signal to one process, if it is still the same one."""
    if alive(pid, since):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def end_tree(pid: int | None, since: float | None) -> None:
    """Kill a process, if there is one, all its descendants, and its group."""
    if pid is None or since is None or not alive(pid, since):
        return
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    end_group(pid)


def end_group(pid: int) -> None:
    """Kill what is left in the process group that `pid` leads.

    Call it only before that process is reaped: until then its pid cannot be reused.
    """
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def inside(folder: Path) -> bool:
    """Say whether a process of ours works in a folder or below it, and stays there.

    One that was ended takes a moment to be gone; it has that long.
    """
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    _, staying = psutil.wait_procs(found, timeout=GONE_S)
    return bool(staying)


SECRET: Final = "BRAT_SECRET_"  # noqa: S105  the beginning of a name
"""The prefix of the forge's variables that runs get as secrets, without prefix."""
SHOWN: Final = "BRAT_SHOWN"
HIDDEN: Final = "BRAT_HIDDEN"
"""What agents and CI may read besides, and what not: paths with `:` between."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one run, runs/<id>/."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """Where the process starts."""
        return self.folder / "workspace"

    @property
    def result(self) -> Path:
        """The runner's result folder; its files become the artifact."""
        return self.folder / "result"

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def artifact(self, name: str) -> Path:
        return self.folder / "artifacts" / f"{name}.zip"

    def prepare(self, event: dict[str, Any] | Raw) -> None:
        """Make the folders and event.json; safe to call twice."""
        for name in ("workspace", "home", "temp", "artifacts"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "event.json").write_bytes(json.encode(event))

    def put_away(self, into: Path) -> None:
        """Move folders that GitHub discards with its machine; safe to call twice.

        A killed run leaves its checkout there.
        """
        for name in ("workspace", "home", "temp"):
            with suppress(OSError):  # it is not there, or the disk is full
                into.mkdir(parents=True, exist_ok=True)
                (self.folder / name).rename(into / name)


def environment(site: Site, repo: Repository, run: Run, place: Place) -> dict[str, str]:
    """Return what a run is told, as GitHub tells it: what our runner reads of that.

    The event's name, the branch and the workflow are for others that start runs.
    """
    folder = place.folder
    return (
        plain_environment()
        | outbound.here().variables
        | {
            "GITHUB_EVENT_NAME": run.event,
            "GITHUB_RUN_ID": str(run.id),
            "GITHUB_REPOSITORY": repo.full_name,
            "GITHUB_REPOSITORY_ID": str(repo.id),
            "GITHUB_SERVER_URL": site.base,
            "GITHUB_API_URL": site.api,
            "GITHUB_REF": f"refs/heads/{run.branch}",
            "GITHUB_REF_NAME": run.branch,
            "GITHUB_SHA": run.head_sha,
            "GITHUB_WORKFLOW": run.path.rpartition("/")[2].rpartition(".")[0],
            "HOME": str(folder / "home"),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_WORKSPACE": str(place.workspace),
            "RUNNER_TEMP": str(folder / "temp"),
            "RUNNER_TOOL_CACHE": str(folder.parent / "tools"),
            "BRAT_SESSION": run.inputs.get("session", ""),
            "BRAT_LOG": run.inputs.get("log", ""),
            "BRAT_RESULT": str(place.result),
        }
        | run_secrets()
    )


def run_secrets() -> dict[str, str]:
    ours = os.environ  # noqa: TID251  they are settings of the forge
    return {
        name.removeprefix(SECRET): value
        for name, value in ours.items()
        if name.startswith(SECRET)
    }


def told_places(name: str) -> tuple[Path, ...]:
    """Return the paths that the person's terminal lists in a variable of runs."""
    listed = run_secrets().get(name, "").split(os.pathsep)
    return tuple(Path(each) for each in listed if each)


OUR_RUNNER: Final = (sys.executable, "-I", "-m", "runner")
WARM_RUNNER: Final = (*OUR_RUNNER[:-1], "brat.local.warm_runner")
START_S: Final = 60.0
"""How long the process that forks runners may take to load."""


def launch(
    argv: tuple[str, ...],
    place: Place,
    env: Mapping[str, str],
    handed: Mapping[str, bytes],
) -> subprocess.Popen[bytes]:
    """Start a process that lives on when the forge dies.

    Each value of `handed` travels through a pipe whose number is in the variable that
    its key names: it can be read once, and is in no process's environment. Raises
    `OSError`: it could not be started.
    """
    with ExitStack() as stack:
        pipes = {name: _filled(stack, said) for name, said in handed.items()}
        with place.log.open("wb") as log:
            return subprocess.Popen(
                argv,
                cwd=place.workspace,
                env={**env, **{name: str(pipe) for name, pipe in pipes.items()}},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=tuple(pipes.values()),
                start_new_session=True,
            )


def _filled(stack: ExitStack, said: bytes) -> int:
    """Return the read end of a pipe that holds a short text; the stack closes it."""
    read, write = os.pipe()
    stack.callback(os.close, read)
    os.write(write, said)
    os.close(write)
    return read


class Forked:
    """A process that has our runner loaded, and waits for what it is to run."""

    def __init__(self, line: socket.socket, pid: int, control: socket.socket) -> None:
        self._line, self.pid, self._control = line, pid, control
        self.close = line.close

    def begin(
        self, place: Place, env: Mapping[str, str], handed: Mapping[str, bytes]
    ) -> None:
        """Let it run, as `launch` does; until then it has done nothing.

        Raises `OSError`: it has ended.
        """
        with ExitStack() as stack, place.log.open("wb") as log:
            pipes = [_filled(stack, said) for said in handed.values()]
            told = {"folder": place.workspace, "env": env, "handed": [*handed]}
            socket.send_fds(self._line, [b" "], [log.fileno(), *pipes])
            self._line.sendall(json.encode(told, enc_hook=str))
        self._line.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """Return the exit status of an ended process, whose number is then free."""
        with self._line:
            self._line.settimeout(0.0)
            try:
                said = self._line.recv(1)
            except OSError:
                said = b""
        with suppress(OSError):  # the process that forks has ended
            self._control.send(b"%d" % self.pid)
        return said[0] if said else -signal.SIGKILL


class WarmRunner:
    """The process that forks runners: `brat.local.warm_runner`, kept while we live.

    A runner's start and imports take 70 ms of a processor, a fork a few. Where it does
    not answer, the next session starts by itself.
    """

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start that process, so that it is loaded when the first session comes."""
        with suppress(OSError):  # it is tried again then
            self._control = self._control or self._started()

    async def fork(self) -> Forked | None:
        """Return a new process; None: there can be none now."""
        try:
            line, pid = await self._told(b"+")
        except (OSError, ValueError, TimeoutError):
            self.end()
            return None
        assert self._control  # noqa: S101  it has just answered
        return Forked(line, pid, self._control)

    async def start(
        self,
        argv: tuple[str, ...],
        folder: Path,
        env: Mapping[str, str],
        output: IO[bytes],
        fds: tuple[int, ...],
    ) -> int:
        """Start a program without input as a child of ours; return its process ID.

        What builds a box is forked: to load it takes 17 ms of a processor. The child's
        group is its own, and whoever asked waits for its end. Raises `OSError`: it
        cannot be started.
        """
        if self._control and argv[: len(LAUNCHER)] == LAUNCHER:
            order = {"argv": argv[len(LAUNCHER) :], "folder": folder, "env": env}
            said = json.encode({**order, "fds": (1, 2, *fds)}, enc_hook=str)
            outputs = (output.fileno(),) * 2
            with suppress(OSError, ValueError, TimeoutError):
                line, pid = await self._told(said, *outputs, *fds)
                with line:
                    line.sendall(b"!")
                return pid
        child = subprocess.Popen(  # noqa: ASYNC220  it dies with the thread it is from
            argv,
            cwd=folder,
            env=env,
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        child.returncode = 0  # somebody else waits for it: keep Popen from warning
        return child.pid

    async def _told(self, what: bytes, *fds: int) -> tuple[socket.socket, int]:
        """Return the line to a new process, which waits there, and its process ID.

        When the line is closed, that process ends and has done nothing. Raises
        `OSError`, `ValueError` or `TimeoutError`: there is none.
        """
        ours, theirs = socket.socketpair()
        try:
            control = self._control or self._started()
            with theirs:
                socket.send_fds(control, [what], [theirs.fileno(), *fds])
            ours.settimeout(0.0)
            async with asyncio.timeout(START_S):
                said = await asyncio.get_running_loop().sock_recv(ours, 20)
            ours.settimeout(None)
            return ours, int(said)
        except BaseException:
            ours.close()
            raise

    def _started(self) -> socket.socket:
        # Each message is one: https://man7.org/linux/man-pages/man7/unix.7.html
        self._control, given = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with given:
            self._process = subprocess.Popen(
                WARM_RUNNER,
                cwd="/",
                env={"PATH": plain_environment()["PATH"], "LANG": "C.UTF-8"},
                stdin=given.fileno(),
                start_new_session=True,
            )
        return self._control

    def end(self) -> None:
        """End that process; its runners live on. Safe to call again."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


def find(place: Place) -> int | None:
    """Return the pid of a run's process, recognised by its environment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("BRAT_RESULT") == str(place.result):
                return process.pid
        except (psutil.Error, OSError):
            continue
    return None


def reap(child: subprocess.Popen[bytes] | Forked | None) -> int | None:
    """Return the exit status of an ended child, and kill the processes it left."""
    if child is None:
        return None
    end_group(child.pid)
    return child.wait()
