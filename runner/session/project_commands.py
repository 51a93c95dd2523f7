"""Runs the project's own commands: its setup script, and a task's acceptance command.

Each gets a box as the agent does. `.brat/setup.sh` of the base commit sets the
toolchain up. No agent can have written it, for the patch gate lets no attempt touch it.
But what it runs (a Makefile, a package's scripts) may be an earlier attempt's work. So
it gets hosts of its own, and neither a secret, nor the model's key, nor the proxy that
holds it. Files that it adds to the checkout do not count as work, and its changes to
other files are undone.

The acceptance command runs the agent's work, and has no network at all if the agent's
was closed. Its result is a claim. What it writes does not count: the work is kept
before.
"""

import fcntl
import hashlib
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from convoy.gate import pattern
from convoy.text import clean, shortened
from convoy.text.redaction import Redaction
from grite import outbound
from runner.box import surroundings
from runner.box.agent_box import BoxReport, NetworkExit, Room, boxed
from runner.box.supervisor import (
    Cancelled,
    Ending,
    Order,
    Sink,
    Stop,
    Stream,
    supervise,
)
from runner.box.surroundings import Sight
from runner.engines.engine_events import Text
from runner.inputs.job_inputs import Inputs
from runner.proxy.proxy_protocol import ProxyOrder
from runner.session.proxy_client import ProxyClient, unreached
from runner.session.result_folder import TRANSCRIPT, Folder, Reader, Transcript
from runner.workspace.workspace import Workspace, ignore_files

OUTPUT_BYTES: Final = 1_000_000
SAID_CHARS: Final = 300
"""How many characters of the last line of output the reason quotes."""
_LAST_PIECES: Final = 20


class Setting(Struct):
    """Where a session's programs run, what ends them, and who sees their output."""

    inputs: Inputs
    started: TaskStarted
    scratch: Path
    """The witness's folder, which holds `home` and `tmp`."""
    checkout: Path
    folder: Folder
    redaction: Redaction
    stop: Stop
    show: Callable[[str], None] = lambda _text: None

    def environment(self) -> dict[str, str]:
        home, inputs = self.scratch / "home", self.inputs
        return {
            # First, so that programs that the project's setup script installs win.
            "PATH": f"{home / '.local/bin'}{os.pathsep}{inputs.path}",
            "HOME": str(home),
            "TMPDIR": str(self.scratch / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "CI": "true",
            # git uses no credential helper, and no repository above the checkout.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CEILING_DIRECTORIES": str(inputs.workspace),
            **surroundings.tool_variables(inputs.offered),
            **outbound.named_in(inputs.offered).without_passwords(),
        }

    @property
    def room(self) -> Room:
        inputs, scratch = self.inputs, self.scratch
        cache = (inputs.cache,) if inputs.cache else ()
        hidden = (*inputs.hidden, inputs.result, inputs.temp, inputs.workspace)
        runners = (each for each in inputs.temp.parents if (each / ".runner").exists())
        sight = Sight(
            path=inputs.path,
            home=inputs.offered.get("HOME", ""),
            tools=surroundings.tool_variables(inputs.offered),
            shown=(*inputs.shown, scratch / "prompt.md", *cache),
            # GitHub's runners have its key and other jobs' checkouts.
            hidden=(*hidden, *runners),
        )
        own, is_boxed = (scratch / "home", scratch / "tmp"), self.started.box == "on"
        return Room(self.checkout, *own, sight, is_boxed)

    def run(
        self,
        order: Order,
        sink: Sink,
        way: NetworkExit = (),
        also: tuple[Path, ...] = (),
    ) -> tuple[Ending, BoxReport]:
        """Run a program in a box if it is to have one; say which walls stood.

        One that cannot have one is not started.
        """
        with boxed(order.argv, self.room, way, also) as box:
            boxed_in = replace(order, argv=box.argv, fds=box.fds)
            ending = supervise(boxed_in, sink, self.stop)
            report = BoxReport() if ending.fault else box.report()
        refusal = report.refusal(is_killed=ending.is_killed)
        return Ending(fault=refusal) if refusal else ending, report

    def transcript(self, limit_bytes: int, reader: Reader) -> Transcript:
        """Return what keeps and shows a program's output; the reader gets it, too."""

        def seen(stream: Stream, text: str) -> None:
            self.show(text)
            reader(stream, text)

        path = self.folder.path / TRANSCRIPT
        return Transcript(path, self.redaction, limit_bytes, seen)


def _run_script(
    name: str,
    order: Order,
    setting: Setting,
    way: NetworkExit,
    also: tuple[Path, ...] = (),
) -> tuple[Ending, str]:
    """Run a command to its end; return how it ended, and the end of its output."""
    said: list[str] = []
    transcript = setting.transcript(OUTPUT_BYTES, lambda _, text: said.append(text))
    with closing(transcript):
        transcript.note(Text(text=f"brat runs {name}", by="program"))
        ending, _ = setting.run(order, transcript.write, way, also)
    return ending, "".join(said[-_LAST_PIECES:])


def script_fault(what: str, ending: Ending, limit_s: int, said: str) -> str:
    """Return a sentence on why a command failed, or "" if it did not."""
    lines = [line for line in clean(said).splitlines() if line.strip()]
    last = f": {shortened(lines[-1].strip(), SAID_CHARS)}" if lines else ""
    last = last.rstrip(".")
    if ending.fault:
        return f"{what} did not start. {ending.fault}"
    if ending.timed_out:
        return f"{what} was stopped after {limit_s} s{last}."
    if ending.called_off:
        return f"{what} was stopped because the proxy to its hosts ended{last}."
    if ending.signal is not None:
        return f"{what} was killed by signal {ending.signal}{last}."
    if ending.exit_code != 0:
        return f"{what} exited with status {ending.exit_code}{last}."
    return ""


SCRIPT: Final = ".brat/setup.sh"
KEPT_FOLDERS: Final = 16


def set_up(
    workspace: Workspace, setting: Setting, hosts: tuple[str, ...] | None
) -> tuple[tuple[str, ...], str]:
    """Run the base commit's script, if any, with these hosts to reach; None: all.

    Returns the files it added to the checkout, patterns as in .gitignore, and why the
    workspace is not ready, a sentence; empty: it is. Raises Cancelled.
    """
    script = workspace.folder / SCRIPT
    if not script.is_file() or script.is_symlink():
        return (), ""
    limit_s = setting.started.limits.setup_s
    argv = (str(script),) if os.access(script, os.X_OK) else ("sh", str(script))
    is_boxed, offered = setting.started.box == "on", setting.inputs.offered
    asked = ProxyOrder(egress=hosts)
    with (
        _kept(script, workspace.base, setting.inputs.cache) as cache,
        closing(ProxyClient(asked, offered, is_boxed=is_boxed)) as proxy,
    ):
        env = setting.environment() | proxy.environment()
        env["BRAT_CACHE"] = str(cache[0] if cache else setting.scratch / "tmp")
        order = Order(argv, workspace.folder, env, limit_s, watcher=proxy)
        ending, said = _run_script(SCRIPT, order, setting, proxy.way(), cache)
    if ending.cancelled:
        raise Cancelled
    said += unreached(proxy.refused, "[runner] setup_hosts")
    if why := script_fault(SCRIPT, ending, limit_s, said):
        return (), why
    workspace.git("read-tree", "--reset", "-u", "HEAD")  # undoes its changes
    # With what is ignored: none of it is the agent's.
    found = workspace.paths("ls-files", "--others", "--directory")
    litter = tuple(map(pattern, found))
    if (own := workspace.folder / ".git").is_dir():
        ignore_files(own, litter)
    return litter, ""


@contextmanager
def _kept(script: Path, commit: str, base: Path | None) -> Iterator[tuple[Path, ...]]:
    """Yield the folder that this machine keeps for this script; none: it keeps none.

    Only sessions that start from the same commit share it: what they run there is the
    same, so none can leave anything to those that start from other work. Only one
    session at a time has the folder, and agents are not told of it.
    """
    with ExitStack() as held:
        kept: tuple[Path, ...] = ()
        if base is not None:
            what = script.read_bytes() + commit.encode()
            name = hashlib.sha256(what).hexdigest()[:32]
            folder = base / "brat-setup" / name
            with suppress(OSError):  # the machine keeps no folder
                folder.mkdir(parents=True, exist_ok=True)
                lock = (folder.parent / f"{name}.lock").open("w")
                fcntl.flock(held.enter_context(lock), fcntl.LOCK_EX)
                found = [each for each in folder.parent.iterdir() if each.is_dir()]
                found.sort(key=lambda each: each.stat().st_mtime_ns)
                for old in found[:-KEPT_FOLDERS]:
                    own = old.with_name(f"{old.name}.lock")
                    with own.open("w") as other, suppress(BlockingIOError):
                        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # none has it
                        shutil.rmtree(old, ignore_errors=True)
                kept = (folder,)
        yield kept


def acceptance_fault(setting: Setting, *, closed: bool) -> str:
    """Run the command in the checkout; return why work is not accepted, or ""."""
    command, limit_s = setting.started.acceptance, setting.started.limits.acceptance_s
    argv = ("sh", "-c", command)
    env = setting.environment()
    env |= surroundings.own_sources(env, setting.checkout)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        order = Order(argv, setting.checkout, env, limit_s)
        way = (theirs.fileno(),) if closed else ()  # which leads to no proxy
        ending, said = _run_script(command, order, setting, way)
    if ending.cancelled:
        return "The acceptance command was stopped with the job."
    return script_fault("The acceptance command", ending, limit_s, said)
