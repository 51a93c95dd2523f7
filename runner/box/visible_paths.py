"""The places that a box has: everything else of the machine is not in it.

The system's programs and libraries, the folders of PATH with what stands beside them,
and the runner's own code can be read; the session's folders can be written.
"""

import os
import pwd
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

import convoy
import grite
from runner.box import toolchains
from runner.box.hidden_paths import CREDENTIALS
from runner.box.root_folder import HIDDEN, LINK, SEEN, WRITABLE

Place = tuple[str, str, str]
"""How it is in the box, the machine's path, and the path inside."""

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"),
    *("/nix", "/gnu", "/run/current-system", "/home/linuxbrew/.linuxbrew"),
    *("/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm"),
    *("/var/lib/dpkg", "/var/lib/rpm", "/var/lib/alternatives"),
)
"""Where systems keep programs, libraries and what is said of the machine.

Of /opt a box shows what `installed`, PATH and the tools' variables name."""
TOOLCHAINS: Final = (
    *(".pyenv", ".rbenv", ".nodenv", ".goenv", ".jenv", ".asdf", ".nvm", ".volta"),
    *(".rustup", ".cargo", ".sdkman", ".deno", ".bun", ".dotnet", ".ghcup", ".opam"),
    *("go", ".local/bin", ".local/lib", ".local/pipx", ".local/share/uv"),
    *(".local/share/mise", ".local/share/pipx", ".local/share/pnpm"),
    *(".local/share/fnm", ".local/share/claude", ".linuxbrew", "miniconda3"),
    ".tool-versions",
)
"""Where people's installers put programs, in a home; of a home nothing else is seen."""
TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108  mounts of the session's own

_LINKS_MOST: Final = 40
_HOME_SIGNS: Final = (
    *(".ssh", ".gitconfig", ".netrc", ".profile", ".bashrc", ".bash_profile", ".zshrc"),
)
"""What stands in a person's home, however it is called."""
_PREFIX_SIGNS: Final = ("lib", "libexec", "pyvenv.cfg", "versions")
"""What stands beside a folder of programs that belongs to an installation."""


@cache
def own_code() -> tuple[str, ...]:
    """Return the folders of the runner's own code and of its Python."""
    libraries = (sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib"))
    rooms = (each.__path__[0] for each in (convoy, grite))
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    found = (
        *prefixes,
        *filter(None, sys.path),
        *libraries,
        str(Path(__file__).parents[1]),
        *rooms,
    )
    return tuple(each for each in dict.fromkeys(found) if Path(each).is_dir())


class Sight(Struct, frozen=True):
    """What of the machine the programs in a box may read."""

    path: str
    """The PATH on which they look for programs."""
    home: str = ""
    """A home in which toolchains may lie, besides the user's own."""
    tools: Mapping[str, str] = {}
    """The variables by which a person's tools find themselves."""
    shown: tuple[Path, ...] = ()
    """What may be read besides."""
    hidden: tuple[Path, ...] = ()
    """What is not seen, though it lies in what may be read."""


def visible(sight: Sight) -> Iterator[Place]:
    """Yield what every program in a box may read, and what is hidden in that."""
    homes = _homes(sight.home, sight.path)
    seen = (
        *SYSTEM,
        *own_code(),
        *installed(Path("/opt"), ("/usr/bin", "/usr/local/bin")),
        *_beside_programs(sight.path, homes),
        *(f"{home}/{each}" for home in homes for each in TOOLCHAINS),
        *map(str, (*toolchains.folders(sight.tools, homes), *sight.shown)),
        os.path.realpath("/etc/resolv.conf"),  # often below /run
    )
    for path in dict.fromkeys(seen):
        yield from places(SEEN, path)
    kept_away = (Path(home, each) for home in homes for each in CREDENTIALS)
    for place in (*kept_away, *sight.hidden):
        real = os.path.realpath(place)
        yield HIDDEN, real, real


def shows(sight: Sight, path: str) -> bool:
    """Whether a program in a box may read a path, but for its own folders."""
    real = os.path.realpath(path)
    kept = {place[2]: place for place in arranged(visible(sight))}
    place = kept.get(real) or _nearest(kept, real)
    return place is not None and place[0] != HIDDEN


def writable(source: Path, target: str = "") -> Iterator[Place]:
    """Yield what makes a folder writable, at its own path or at another one."""
    if target:
        yield WRITABLE, os.path.realpath(source), target
        return
    yield from places(WRITABLE, str(source))


def places(kind: str, path: str) -> Iterator[Place]:
    """Yield a path's place, and the links that lead there; nothing: it is missing."""
    real = os.path.realpath(path)
    if not os.path.lexists(real) or real == os.sep:
        return
    for _ in range(_LINKS_MOST):
        if path == real:
            break
        link = _first_link(path)
        if not link:
            break
        yield LINK, link, link
        into = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120  paths are words here
        path = os.path.normpath(f"{into}{path.removeprefix(link)}")
    yield kind, real, real


def arranged(found: Iterable[Place]) -> list[Place]:
    """Return the places from the outermost to the innermost, without idle ones."""
    kept: dict[str, Place] = {}
    order = sorted(dict.fromkeys(found), key=lambda place: place[2].count(os.sep))
    for place in order:
        kind, _, target = place
        above = _nearest(kept, target)
        is_there = above is not None and above[0] == SEEN
        if kind in (SEEN, LINK) and is_there:
            continue
        if kind == HIDDEN and above is None:
            continue
        kept.setdefault(target, place)
    return list(kept.values())


def _nearest(kept: dict[str, Place], target: str) -> Place | None:
    while target != os.sep:
        target = os.path.dirname(target)  # noqa: PTH120  paths are words here
        if target in kept:
            return kept[target]
    return None


def _first_link(path: str) -> str:
    for end, letter in enumerate(f"{path}/"):
        if letter == os.sep and end and os.path.islink(path[:end]):  # noqa: PTH114  paths are words here
            return path[:end]
    return ""


def installed(root: Path, programs: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of /opt into which links of the system's programs lead.

    Not all of /opt is shown: machines have other programs' keys there, such as those
    of GitHub's runner, which also keeps other jobs' checkouts.
    """
    try:
        folders = {each.name for each in root.iterdir()}
    except OSError:
        return ()
    if not folders:
        return ()
    base = f"{root}{os.sep}"
    found: set[str] = set()
    for folder in filter(os.path.isdir, programs):
        with os.scandir(folder) as entries:
            links = [each.path for each in entries if each.is_symlink()]
        leading = (os.path.realpath(link) for link in links)
        found.update(
            real.removeprefix(base).partition(os.sep)[0]
            for real in leading
            if real.startswith(base)
        )
    return tuple(
        f"{base}{each}"
        for each in sorted(found & folders)
        if not os.path.lexists(f"{base}{each}/.runner")
    )


def _beside_programs(search: str, homes: Iterable[str]) -> Iterator[str]:
    """Yield each folder of PATH, and for `X/bin` of an installation X itself.

    Not where X is a home, or `.local` in one: too much else lies there.
    """
    wide = {os.sep, *homes, *(f"{home}/.local" for home in homes)}
    for each in search.split(os.pathsep):
        if not each.startswith(os.sep):
            continue
        yield each
        beside = Path(each).parent
        if str(beside) not in wide and _holds_any(beside, _PREFIX_SIGNS):
            yield str(beside)


def _homes(told: str, search: str) -> tuple[str, ...]:
    """Return the homes in which toolchains may lie: the given one and the user's.

    The user's is read from the system's list, too, and from where folders of PATH lie:
    a job's HOME may be a folder of its own.
    """
    own = []
    with suppress(RuntimeError):  # some containers' users have none
        own.append(str(Path.home()))
    with suppress(KeyError):
        own.append(pwd.getpwuid(os.getuid()).pw_dir)
    programs = search.split(os.pathsep)
    above = dict.fromkeys(up for each in programs for up in Path(each).parents)
    lived_in = (str(up) for up in above if _is_lived_in(up))
    found = dict.fromkeys((told, *own, *lived_in))
    return tuple(each for each in found if each.startswith(os.sep) and each != os.sep)


def _is_lived_in(folder: Path) -> bool:
    return _holds_any(folder, _HOME_SIGNS)


def _holds_any(folder: Path, names: Iterable[str]) -> bool:
    """Whether one of the names is there; what may not be looked at is not there."""
    return any(os.path.exists(f"{folder}/{name}") for name in names)  # noqa: PTH110  a path's own `exists` raises PermissionError
