"""`brat up`, the loop with one role (`brat witness run` and the like), and the daemon.

The daemon is `brat up` in the background: one for each repository, recorded in a file.
An operating-system lock, which ends with its holder, prevents a second one.
"""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import psutil
from filelock import FileLock, Timeout

from bot.settings.bot_settings import ROLES
from brat.local import run_roles
from brat.local.local_mode import Local, ending_agents, run_to_end
from brat.local.other_processes import Daemon, known_daemon, note_daemon
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.registration import DAEMON_FILE
from brat.status import dashboard_server as dashboards
from brat.terminal.console import Tell, say
from brat.terminal.service_log import journal
from convoy.owed import Role
from grite.errors import BratError, Unavailable


def up(repo: Path, port: int, *, dashboard: bool) -> None:
    checkout = checkouts.find(repo)
    run_roles.checked(checkout)

    @asynccontextmanager
    async def beside(here: Local) -> AsyncIterator[None]:
        async with ending_agents(here, ROLES):
            if not dashboard:
                yield
                return
            async with dashboards.beside(here, port) as url:
                say(f"dashboard: {url}")
                yield

    run_to_end(run_roles.watch(checkout, ROLES, say, beside=beside))


def run_role(role: Role, repo: Path, *, once: bool, watch: bool) -> int:
    checkout = checkouts.find(repo)
    wanted = (role,)
    run_roles.checked(checkout, wanted)
    if watch:
        ending = partial(ending_agents, roles=wanted)
        run_to_end(run_roles.watch(checkout, wanted, say, beside=ending))
        return run_roles.OK
    return run_to_end(run_roles.run(checkout, wanted, say, once=once))


START_S: Final = 60.0
STOP_S: Final = 30.0
KILL_S: Final = 5.0
"""Only a process stuck in the kernel outlasts SIGKILL."""
AGAIN_S: Final = 1.0
AGAIN_MOST_S: Final = 60.0
LOG_BYTES: Final = 5_000_000
"""A longer log is moved aside at the next start and replaces the older one there."""
_LOCK: Final = "daemon.lock"
_LOG: Final = "daemon.log"
_POLL_S: Final = 0.05
_SHOWN: Final = 10


def daemon_log(folder: Path) -> Path:
    return folder / _LOG


# --- the process itself ---------------------------------------------------------------


def run_daemon(repo: Path, port: int) -> None:
    """Be the daemon until SIGTERM or Ctrl-C.

    Errors are logged; after each error everything starts again, after a longer wait.
    """
    checkout = _ready_checkout(repo)
    lock = FileLock(checkout.folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise _twice(known_daemon(checkout.folder)) from None
    try:
        asyncio.run(_run(checkout, port, journal()))
    finally:
        (checkout.folder / DAEMON_FILE).unlink(missing_ok=True)
        lock.release()


def _ready_checkout(path: Path) -> Checkout:
    """Return the checkout; raises where a daemon could do nothing."""
    checkout = checkouts.find(path)
    run_roles.checked(checkout)
    registrations.read(checkout.folder)
    return checkout


async def _run(checkout: Checkout, port: int, tell: Tell) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)

    @asynccontextmanager
    async def shown(here: Local) -> AsyncIterator[None]:
        async with dashboards.beside(here, port) as url:
            me = psutil.Process()
            daemon = Daemon(pid=me.pid, since=me.create_time(), url=url)
            note_daemon(here.checkout.folder, daemon)
            tell("ready")
            yield

    async def served() -> None:
        again_s = AGAIN_S
        while True:
            begun = time.monotonic()
            try:
                await run_roles.watch(checkout, ROLES, tell, beside=shown)
            except BratError as error:
                if time.monotonic() - begun > AGAIN_MOST_S:
                    again_s = AGAIN_S
                tell(f"{error}; restarting in {again_s:.0f} s")
            await asyncio.sleep(again_s)
            again_s = min(again_s * 2, AGAIN_MOST_S)

    async with asyncio.TaskGroup() as group:
        serving = group.create_task(served(), name="serve")
        await ended.wait()
        serving.cancel()
    tell("stopped; unfinished work continues at the next start")


# --- commands that start, stop and query the daemon -----------------------------------


def start_daemon(repo: Path, port: int) -> None:
    """Start the daemon and wait until it is ready."""
    checkout = _ready_checkout(repo)
    folder = checkout.folder
    if (before := known_daemon(folder)) and before.alive:
        raise _twice(before)
    log = daemon_log(folder)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.rename(log.with_suffix(".log.1"))
    where = ("--repo", str(checkout.top), "--port", str(port))
    with log.open("ab") as sink:
        child = subprocess.Popen(
            [sys.executable, "-I", "-m", "brat", "daemon", "run", *where],
            cwd=checkout.top,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    until, daemon = time.monotonic() + START_S, known_daemon(folder)
    while daemon is None or daemon.pid != child.pid or not daemon.url:
        if child.poll() is not None or time.monotonic() > until:
            child.kill()
            child.wait()
            text = log.read_text(encoding="utf-8", errors="replace")
            said = f"the background bot did not start; {log} ends with:"
            raise Unavailable("\n".join((said, *text.splitlines()[-_SHOWN:])))
        time.sleep(_POLL_S)
        daemon = known_daemon(folder)
    say(f"brat is running in the background (process {daemon.pid}); its log: {log}")
    say(f"dashboard: {daemon.url}")


def stop_daemon(repo: Path) -> int:
    """Stop the daemon and wait until it has ended; return 1 when none runs."""
    checkout = checkouts.find(repo)
    daemon = known_daemon(checkout.folder)
    if daemon is None or not daemon.alive:
        say("brat is not running in the background here")
        return run_roles.BLOCKED
    for number, within_s in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, KILL_S)):
        with suppress(psutil.NoSuchProcess):  # it ended in the meantime
            psutil.Process(daemon.pid).send_signal(number)
        if _ends(daemon, within_s):
            break
    if number == signal.SIGKILL:
        say(f"brat did not stop within {STOP_S:.0f} s and was killed; nothing is lost")
    (checkout.folder / DAEMON_FILE).unlink(missing_ok=True)
    say("stopped; unfinished work continues at the next start")
    return run_roles.OK


def _ends(daemon: Daemon, within_s: float) -> bool:
    """Wait until the daemon has ended; return whether it ended in time.

    A zombie counts as ended: in a container whose first process reaps nothing, the pid
    would never become free.
    """
    until = time.monotonic() + within_s
    while daemon.alive:
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def show_daemon(repo: Path) -> int:
    """Say whether the daemon runs; return 1 when it does not."""
    folder = checkouts.find(repo).folder
    daemon, log = known_daemon(folder), daemon_log(folder)
    if daemon is not None and daemon.alive:
        since = datetime.fromtimestamp(daemon.since, UTC)
        say(f"running since {since:%Y-%m-%d %H:%M:%S} UTC as process {daemon.pid}")
        say(f"dashboard: {daemon.url}")
        say(f"log: {log}")
        return run_roles.OK
    if daemon is not None:
        say(f"not running: the bot ended unexpectedly; see {log}")
    else:
        say("not running")
    say("next: brat daemon start")
    return run_roles.BLOCKED


def _twice(there: Daemon | None) -> BratError:
    which = f" (process {there.pid})" if there else ""
    return BratError(
        f"brat is already running in the background{which}; see: brat daemon status"
    )
