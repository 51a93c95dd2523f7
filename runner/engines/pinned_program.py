"""An engine's program at its pinned version, for a job of a forge that has none.

It is installed before there is an agent, from the lock files in `pins`, which name each
package by its content; no package runs anything meanwhile. On a machine that keeps a
folder of tools from job to job the next one finds it there.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from convoy.model.records import EngineSpec
from grite import outbound
from grite.errors import Unavailable
from runner import engines
from runner.engines.row import program_of
from runner.inputs.job_inputs import Inputs

PINS: Final = Path(__file__).with_name("pins")
INSTALL_S: Final = 600
_AIDER: Final = "aider"
_LOCK: Final = PINS / _AIDER / "requirements.lock"
_TOO_NEW: Final = (3, 13)
_SAID_CHARS: Final = 1000
_SETTINGS: Final = ("npm_config_", "pip_", "node_extra_ca")
"""How the variables begin by which a machine names its registries."""
NPM: Final = {name: row.npm for name, row in engines.ENGINES.items() if any(row.npm)}
"""No package has to run anything when it is installed."""


def at_hand(inputs: Inputs, spec: EngineSpec, *, is_boxed: bool) -> Inputs:
    """Return the inputs with a PATH on which the engine's program is found.

    A job in which it is stays as it is. Where an agent has no box it could change what
    is kept for the next job, so nothing is.

    Raises:
        Unavailable: it could not be installed; the text says why.
    """
    if spec.type not in (*NPM, _AIDER):
        return inputs
    program = program_of(engines.found(spec.type), spec)
    if os.sep in program or shutil.which(program, path=inputs.path):
        return inputs
    kept = inputs.cache if is_boxed and inputs.cache else inputs.temp
    folder = installed(spec.type, program, kept, inputs.path, inputs.offered)
    return replace(inputs, path=os.pathsep.join((inputs.path, str(folder))))


def installed(
    kind: str, program: str, kept: Path, path: str, offered: Mapping[str, str]
) -> Path:
    """Install an engine below a folder that exists; return where its program is.

    What is `offered` may say by which proxy, and from which registry. Safe to call
    again, from several processes, and after being killed: the stamp of what is there
    whole is written last.
    """
    is_python = kind == _AIDER
    lock = _LOCK.read_bytes() if is_python else msgspec.json.encode(npm_lock(kind))
    name = f"{kind}-{hashlib.sha256(lock).hexdigest()[:16]}"
    folder = kept / "brat-engines" / name
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "bin").mkdir(parents=True)
            env = {
                **{n: v for n, v in offered.items() if n.lower().startswith(_SETTINGS)},
                **outbound.named_in(offered).variables,
                "PATH": path,
                "HOME": offered.get("HOME", str(folder)),
            }  # with none of the job's secrets
            found = _by_pip(folder, env) if is_python else _by_npm(kind, folder, env)
            (folder / "bin" / program).symlink_to(found)
            (folder / "whole").touch()
    return folder / "bin"


def npm_lock(kind: str) -> dict[str, Any]:
    """Return npm's lock of one engine alone: its package and what that depends on."""
    package, _ = NPM[kind]
    whole = msgspec.json.decode((PINS / "package-lock.json").read_bytes())
    known: Mapping[str, Any] = whole["packages"]
    needed, left = {}, [package]
    while left:
        at = f"node_modules/{left.pop()}"  # no package lies in another one
        if at in known and at not in needed:
            needed[at] = known[at]
            kinds = "dependencies", "optionalDependencies", "peerDependencies"
            left += [name for kind in kinds for name in known[at].get(kind, ())]
    wanted = {package: known[f"node_modules/{package}"]["version"]}
    first = {"name": "brat-engine", "dependencies": wanted}
    return {
        "name": "brat-engine",
        "lockfileVersion": whole["lockfileVersion"],
        "requires": True,
        "packages": {"": first, **dict(sorted(needed.items()))},
    }


def _by_npm(kind: str, folder: Path, env: Mapping[str, str]) -> Path:
    npm = shutil.which("npm", path=env["PATH"])
    if npm is None:
        raise Unavailable(
            f"Neither {kind} nor npm is installed in this job. Set the variable "
            f"BRAT_CONTAINER to an image that has {kind}."
        )
    lock = npm_lock(kind)
    modules = folder / "lib"
    modules.mkdir()
    (modules / "package-lock.json").write_bytes(msgspec.json.encode(lock))
    (modules / "package.json").write_bytes(msgspec.json.encode(lock["packages"][""]))
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run((npm, "ci", *quiet), modules, env)
    _, where = NPM[kind]
    found = next(iter((modules / "node_modules").glob(where)), None)
    if found is None:
        raise Unavailable(f"The {kind} package has no executable for this platform.")
    return found


def _by_pip(folder: Path, env: Mapping[str, str]) -> Path:
    if sys.version_info >= _TOO_NEW:
        raise Unavailable(
            f"{_AIDER} is not installed in this job and does not run on Python "
            f"{'.'.join(map(str, _TOO_NEW))} or newer. Set the variable BRAT_CONTAINER "
            f"to an image that has {_AIDER}."
        )
    place = folder / "lib"
    _run((sys.executable, "-I", "-m", "venv", str(place)), folder, env)
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    locked = ("--only-binary", ":all:", "--require-hashes", "-r", str(_LOCK))
    python = str(place / "bin/python")
    _run((python, "-I", "-m", "pip", "install", *quiet, *locked), folder, env)
    return place / "bin" / _AIDER


def _run(command: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"{command[0]} took longer than {INSTALL_S} s to install the engine."
        ) from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-_SAID_CHARS:]
        raise Unavailable(f"The engine could not be installed: {said}")
