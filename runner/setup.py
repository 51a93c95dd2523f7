"""The project's own toolchain: `.brat/setup.sh` of the base commit, before the engine.

It is the project's word, not an agent's: the patch gate lets no attempt touch it. It
runs as the witness does and gets no secret. What it adds to the checkout is no work,
and what it changes there is undone.
"""

import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from convoy.text.plaintext import clean, shortened
from convoy.text.redaction import Redaction
from grite import git
from runner import store
from runner.engines.events import Text
from runner.home import plain_environment
from runner.inputs import Inputs
from runner.stop import Stop
from runner.supervise import Ending, Order, Stream, supervise
from runner.transcript import Transcript
from runner.workspace import Workspace

SCRIPT: Final = ".brat/setup.sh"
OUTPUT_BYTES: Final = 1_000_000
SAID_CHARS: Final = 300
"""Of its last line of output, in the reason."""
_MEANT: Final = re.compile(r"[\\*?\[\]!# ]")
"""What a line of .gitignore does not take for itself."""


class Setting(Struct, frozen=True):
    """Where the script runs, and who is told of it."""

    inputs: Inputs
    scratch: Path
    """Has `home` and `tmp`."""
    limit_s: int
    transcript: Path
    redaction: Redaction
    show: Callable[[str], None]
    """Gets the redacted output as it comes."""


class Prepared(Struct, frozen=True):
    """What came of it."""

    litter: tuple[str, ...] = ()
    """What it added to the checkout: patterns as in .gitignore."""
    why: str = ""
    """Why the workspace is not ready, a sentence; empty: it is."""
    cancelled: bool = False


def set_up(workspace: Workspace, setting: Setting, stop: Stop) -> Prepared:
    """Run the base commit's script, if it has one; all it started has ended then.

    Raises:
        GitFailed: the checkout cannot be put in order behind it.
    """
    script = workspace.folder / SCRIPT
    if not script.is_file() or script.is_symlink():
        return Prepared()
    said: list[str] = []
    ending = _run(script, workspace.folder, setting, stop, said.append)
    if ending.cancelled:
        return Prepared(cancelled=True)
    if why := fault(SCRIPT, ending, setting.limit_s, "".join(said[-20:])):
        return Prepared(why=why)
    return Prepared(litter=_put_in_order(workspace))


def _run(
    script: Path,
    folder: Path,
    setting: Setting,
    stop: Stop,
    keep: Callable[[str], None],
) -> Ending:
    def take(_stream: Stream, text: str) -> None:
        setting.show(text)
        keep(text)

    transcript = Transcript(setting.transcript, setting.redaction, OUTPUT_BYTES, take)
    home, temp = setting.scratch / "home", setting.scratch / "tmp"
    env = plain_environment(setting.inputs, home, temp)
    argv = (str(script),) if os.access(script, os.X_OK) else ("sh", str(script))
    try:
        transcript.note(Text(text=f"brat runs {SCRIPT}", by="program"))
        with _kept(script, setting.inputs.cache) as cache:
            told = {"BRAT_CACHE": str(cache or temp)}
            order = Order(argv, folder, env | told, setting.limit_s)
            return supervise(order, transcript.write, stop)
    finally:
        transcript.close()


@contextmanager
def _kept(script: Path, base: Path | None) -> Iterator[Path | None]:
    """Give the folder that this machine keeps for this very script, to one at a time.

    Agents are told nothing of it.
    """
    if base is None:
        yield None
        return
    name = hashlib.sha256(script.read_bytes()).hexdigest()[:32]
    folder = base / "brat-setup" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder.parent / f"{name}.lock").open("w")
    except OSError:  # the machine keeps nothing
        yield None
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def fault(what: str, ending: Ending, limit_s: int, said: str) -> str:
    """Return why a program failed, which is called `what`; empty: it did not."""
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


def _put_in_order(workspace: Workspace) -> tuple[str, ...]:
    """Undo what it changed, and let neither git see what it added."""
    workspace.git("read-tree", "--reset", "-u", "HEAD", deadline_s=git.DEADLINE_S)
    listing = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    found = workspace.git(*listing, deadline_s=git.DEADLINE_S).stdout
    names = found.decode(errors="surrogateescape").split("\0")
    litter = tuple("/" + _MEANT.sub(r"\\\g<0>", name) for name in names if name)
    if (own := workspace.folder / ".git").is_dir():
        store.ignore(own, litter)
    return litter
