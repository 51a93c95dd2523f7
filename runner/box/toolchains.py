"""The variables by which a person's tools find themselves, whatever HOME is.

A box has a new HOME, where rustup, pyenv or nvm would find nothing that is installed.
They are told of their folders in the person's home, which a box shows read-only. Where
code is loaded from (PYTHONPATH, NODE_PATH) is told to nobody: it may be the person's
own work tree, and CI would test that.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from runner.box.hidden_paths import CREDENTIALS
from runner.box.hostile_file import read_hostile

HOMES: Final = {
    "RUSTUP_HOME": ".rustup",  # cargo's own home is written to, so it is a new one
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "NODENV_ROOT": ".nodenv",
    "GOENV_ROOT": ".goenv",
    "JENV_ROOT": ".jenv",
    "ASDF_DIR": ".asdf",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "NVM_DIR": ".nvm",
    "FNM_DIR": ".local/share/fnm",
    "VOLTA_HOME": ".volta",
    "SDKMAN_DIR": ".sdkman",
    "BUN_INSTALL": ".bun",
    "OPAMROOT": ".opam",
}
"""Variables of version managers, and the folder that each means if it is not set."""
FOLDERS: Final = (
    *HOMES,
    *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "JDK_HOME", "GRAALVM_HOME"),
    *("M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT"),
    *("ANDROID_NDK_HOME", "GOROOT", "DOTNET_ROOT", "FLUTTER_ROOT", "CUDA_HOME"),
    *("SCALA_HOME", "KOTLIN_HOME", "GEM_HOME", "SWIFTLY_HOME_DIR", "VCPKG_ROOT"),
    "RUNNER_TOOL_CACHE",
)
"""Variables that name the folder of a tool."""
CHOICES: Final = (
    *("RUSTUP_TOOLCHAIN", "PYENV_VERSION", "RBENV_VERSION", "NODENV_VERSION"),
    *("GOENV_VERSION", "JENV_VERSION", "GOTOOLCHAIN", "CONDA_DEFAULT_ENV"),
    *("RUSTUP_AUTO_INSTALL", "UV_PYTHON_DOWNLOADS"),
)
"""Variables that choose among the versions that are installed, or say that no other
is to be.
"""

_NAMED_IN: Final = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME: Final = re.compile(r"\bname\s*=\s*[\"']?([\w.-]{1,200})")
_EDITABLE: Final = re.compile(rb'"editable"\s*:\s*true')
_READ_BYTES: Final = 100_000


def named_in(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of tools that an environment sets, or means by its HOME."""
    found = {name: env[name] for name in (*FOLDERS, *CHOICES) if env.get(name)}
    home = Path(env.get("HOME") or os.devnull)
    meant = {name: home / at for name, at in HOMES.items() if name not in found}
    return found | {name: str(at) for name, at in meant.items() if _is_folder(at)}


def here() -> dict[str, str]:
    """Return the variables of this process's tools."""
    return named_in(os.environ)  # noqa: TID251  a person's own terminal


def own_sources(variables: Mapping[str, str], checkout: Path) -> dict[str, str]:
    """Return what lets Python import a checkout's project from that checkout.

    An editable install leads to the person's own work tree: CI would find nothing, or
    judge that instead of the candidate. The path comes before what is installed.
    https://packaging.python.org/specifications/direct-url/

    Args:
        variables: of tools.
        checkout: that of the session or the CI job; an agent may have written to it.
    """
    places = (variables.get(name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    editable = {name for each in places if each for name in _editable(Path(each))}
    texts = (read_hostile(checkout / each, _READ_BYTES) for each in _NAMED_IN)
    named = _NAME.findall(b"\n".join(texts).decode(errors="replace"))
    if editable.isdisjoint(map(_normal, named)):
        return {}
    sources = checkout / "src"
    is_there = sources.is_dir() and not sources.is_symlink()
    return {"PYTHONPATH": str(sources if is_there else checkout)}


def _editable(place: Path) -> Iterator[str]:
    """Yield the projects that a virtual environment takes from their work trees."""
    for packages in place.glob("lib/python3*/site-packages"):
        for file in packages.glob("*.dist-info/direct_url.json"):
            if _EDITABLE.search(read_hostile(file, _READ_BYTES)):
                yield _normal(file.parent.name.partition("-")[0])
        for file in packages.glob("*.egg-link"):
            yield _normal(file.stem)


def _normal(name: str) -> str:
    """Return a project's name as installers compare it.

    https://packaging.python.org/specifications/name-normalization/
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def folders(variables: Mapping[str, str], homes: Iterable[str]) -> Iterator[Path]:
    """Yield the folders of tools that may be shown.

    Not a home, nor what holds one or is one of its logins: too much else lies there.

    Args:
        variables: of tools.
        homes: of people.
    """
    real = [Path(os.path.realpath(home)) for home in homes]
    logins = [home / each for home in real for each in CREDENTIALS]
    for name in FOLDERS:
        at = Path(os.path.realpath(variables.get(name, os.devnull)))
        if not _is_folder(at) or any(home.is_relative_to(at) for home in real):
            continue
        if not any(at.is_relative_to(login) for login in logins):
            yield Path(variables[name])


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  a path's own `is_dir` raises PermissionError
