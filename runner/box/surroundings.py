"""What an agent's programs find around them: places, variables, a HOME of their own.

A box has the system's programs and libraries, the folders of PATH with what stands
beside them, and the runner's own code, to be read; the session's folders, to be
written; and nothing else of the machine, no login among it.

In a new HOME rustup, pyenv or nvm would find nothing that is installed. So they are
told of their folders in the person's home, which a box shows read-only. Where code is
loaded from (PYTHONPATH, NODE_PATH) is told to nobody: it may be the person's own work
tree, and CI would test that.
"""

import os
import pwd
import re
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct

import convoy
import grite
from convoy.model.engine_types import ENGINE_TYPES
from runner.box.kernel import Place
from runner.box.root_folder import HIDDEN, LINK, SEEN, WRITABLE

STORE: Final = "store.git"


@cache
def _rows(name: str) -> tuple[list[str], ...]:
    """Return the words of each line that `shown.txt` has below a name."""
    text = Path(__file__).with_name("shown.txt").read_text(encoding="utf-8")
    section = text.partition(f"[{name}]\n")[2].partition("\n\n")[0]
    lines = re.sub(r"#.*\n|\n(?= )", "", section).splitlines()
    return tuple(line.split() for line in lines)


def _listed(name: str) -> Iterator[str]:
    return chain.from_iterable(_rows(name))


CREDENTIALS: Final = (
    *_listed("credentials"),
    *(path for each in ENGINE_TYPES.values() for path in each.logins),
)


def read_hostile(file: Path, most_bytes: int) -> bytes:
    """Return a regular file's beginning, else nothing; follow no link, never wait."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(number, "rb") as source:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return b""
        return source.read(most_bytes)


_ENVS: Final = tuple(_listed("version managers"))
TOOL_HOMES: Final = {row[0]: row[1] for row in _rows("homes of tools")} | {
    f"{each.upper()}_ROOT": f".{each}" for each in _ENVS
}
TOOL_FOLDERS: Final = (*TOOL_HOMES, *_listed("folders of tools"))
TOOL_CHOICES: Final = (
    *(f"{each.upper()}_VERSION" for each in _ENVS),
    *_listed("choices of tools"),
)
_NAMED_IN: Final = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME: Final = re.compile(r"\bname\s*=\s*[\"']?([\w.-]{1,200})")
_EDITABLE: Final = re.compile(rb'"editable"\s*:\s*true')
_READ_BYTES: Final = 100_000


def tool_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of tools that an environment sets, or means by its HOME."""
    found = {
        name: env[name] for name in (*TOOL_FOLDERS, *TOOL_CHOICES) if env.get(name)
    }
    home = Path(env.get("HOME") or os.devnull)
    meant = {name: home / at for name, at in TOOL_HOMES.items() if name not in found}
    return found | {name: str(at) for name, at in meant.items() if _is_folder(at)}


def own_tool_variables() -> dict[str, str]:
    return tool_variables(os.environ)  # noqa: TID251  a person's own terminal


def own_sources(variables: Mapping[str, str], checkout: Path) -> dict[str, str]:
    """Return what lets Python import a checkout's project from that checkout.

    An editable install leads to the person's own work tree: CI would find nothing, or
    judge that instead of the candidate. The path comes before what is installed. An
    agent may have written to the checkout.
    https://packaging.python.org/specifications/direct-url/
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


def tool_folders(variables: Mapping[str, str], homes: Iterable[str]) -> Iterator[Path]:
    """Yield the folders of tools that may be shown.

    Not a home of people, nor what holds one or is one of its logins: too much else lies
    there.
    """
    real = [Path(os.path.realpath(home)) for home in homes]
    logins = [home / each for home in real for each in CREDENTIALS]
    for name in filter(variables.get, TOOL_FOLDERS):
        at = Path(os.path.realpath(variables[name]))
        if not _is_folder(at) or any(home.is_relative_to(at) for home in real):
            continue
        if not any(at.is_relative_to(login) for login in logins):
            yield Path(variables[name])


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  a path's own `is_dir` raises PermissionError


_ETC_OF_VERSIONS: Final = re.compile(
    r"(?:java|jvm|python|php|ruby|lua|ImageMagick|gtk|chromium|erlang|tex)"
    r"[\w.+-]*|ld-musl-\w+\.path|[\w-]+-release"
)
_HOLDS_LOGIN: Final = re.compile(rb"://[^/\s]*@|_auth|token|passw", re.IGNORECASE)
_PARTS: Final = {folder: tuple(shown) for folder, *shown in _rows("parts of a home")}
_BREW: Final = "/home/linuxbrew/.linuxbrew"
TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108  mounts of the session's own

_LINKS_MOST: Final = 40


@cache
def own_code() -> tuple[str, ...]:
    libraries = (sysconfig.get_path(each) for each in ("stdlib", "purelib", "platlib"))
    rooms = convoy.__path__[0], grite.__path__[0], str(Path(__file__).parents[1])
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    found = (*prefixes, *filter(None, sys.path), *libraries, *rooms)
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
    hidden: tuple[Path, ...] = ()
    """What is not seen, though it lies in what may be read."""


def visible(sight: Sight) -> Iterator[Place]:
    """Yield what every program in a box may read, and what is hidden in that."""
    homes, real = _homes(sight.home, sight.path), _many_real()
    partial = {
        real(f"{home}/{folder}"): shown
        for home in homes
        for folder, shown in _PARTS.items()
    } | {_BREW: _PARTS[".linuxbrew"]}
    asked = (
        *partial,
        *_beside_programs(sight.path, homes),
        *map(str, tool_folders(sight.tools, homes)),
    )
    seen = (
        *_listed("system"),
        *own_code(),
        *installed(Path("/opt"), ("/usr/bin", "/usr/local/bin")),
        *(part for path in asked for part in _parts(path, real(path), partial)),
        *(f"{home}/{each}" for home in homes for each in _listed("toolchains")),
        *(f"{home}/.{each}" for home in homes for each in _ENVS),
        *map(str, sight.shown),
        *of_etc(Path("/etc")),
        real("/etc/resolv.conf"),  # often below /run
    )
    for path in dict.fromkeys(seen):
        yield from places(SEEN, path, real)
    kept_away = (f"{home}/{each}" for home in homes for each in CREDENTIALS)
    for place in (*kept_away, *runners_in(Path("/usr")), *sight.hidden):
        hidden = real(str(place))
        yield HIDDEN, hidden, hidden


def of_etc(folder: Path) -> Iterator[str]:
    """Yield what is shown of /etc, where keys and others' logins lie, too."""
    with suppress(OSError):
        names = sorted(each.name for each in folder.iterdir())
        yield from (
            f"{folder}/{name}" for name in filter(_ETC_OF_VERSIONS.fullmatch, names)
        )
    yield from (f"{folder}/{each}" for each in _listed("etc"))
    for name in _listed("settings in etc"):
        text = read_hostile(folder / name, _READ_BYTES)
        if text and not _HOLDS_LOGIN.search(text):
            yield f"{folder}/{name}"


def _parts(
    path: str, real: str, partial: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield a path, or the parts of a folder of which only parts are shown."""
    shown = partial.get(real)
    if shown is None or os.path.isfile(f"{path}/VERSION"):  # noqa: PTH113  Go
        yield path
    else:
        yield from (f"{path}/{each}" for each in shown)


def shows(sight: Sight, path: str) -> bool:
    """Whether a program in a box may read a path, but for its own folders."""
    real = os.path.realpath(path)
    kept = {place[2]: place for place in arranged(visible(sight))}
    kind = kept[real][0] if real in kept else _around(kept, real)
    return kind not in ("", HIDDEN)


def places(
    kind: str, path: str, real_of: Callable[[str], str] = os.path.realpath
) -> Iterator[Place]:
    """Yield a path's place, and the links that lead there; nothing: it is missing."""
    real = real_of(path)
    if not os.path.lexists(real) or real == os.sep:
        return
    for _ in range(_LINKS_MOST):
        if path == real:
            break
        ends = (at for at, letter in enumerate(f"{path}/") if letter == os.sep and at)
        link = next((path[:at] for at in ends if os.path.islink(path[:at])), "")  # noqa: PTH114  paths are words here
        if not link:
            break
        yield LINK, link, link
        into = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120  paths are words here
        path = os.path.normpath(f"{into}{path.removeprefix(link)}")
    yield kind, real, real


def arranged(found: Iterable[Place]) -> list[Place]:
    """Return the places from the outermost to the innermost, without idle ones.

    A folder that may be read, but for something in it, is named entry by entry: what
    covered the path of a login would fall off when that is saved anew.
    """
    kept: dict[str, Place] = {}
    order = sorted(dict.fromkeys(found), key=lambda place: place[2].count(os.sep))
    for place in order:
        kind, _, target = place
        idle = "" if kind == HIDDEN else SEEN
        if kind == WRITABLE or _around(kept, target) != idle:
            kept.setdefault(target, place)
    hidden = (at for at, place in kept.items() if place[0] == HIDDEN)
    inside = [at for at in hidden if _around(kept, at) == SEEN]
    named: list[Place] = []
    for at, place in kept.items():
        if place[0] == SEEN:
            named += _apart(at, inside)
        elif at not in inside:
            named.append(place)
    return named


def _apart(path: str, hidden: Iterable[str]) -> Iterator[Place]:
    """Yield a folder, or its entries where something of it is hidden."""
    inside = [each for each in hidden if f"{each}/".startswith(f"{path}/")]
    if not inside:
        yield LINK if os.path.islink(path) else SEEN, path, path  # noqa: PTH114  words
        return
    if path not in inside:
        with suppress(OSError):  # nor could the agent read it
            for each in sorted(Path(path).iterdir()):
                yield from _apart(str(each), inside)


def _around(kept: dict[str, Place], target: str) -> str:
    """Return how the nearest place is in which a path lies, or ""."""
    while target != os.sep:
        target = os.path.dirname(target)  # noqa: PTH120  paths are words here
        if target in kept:
            return kept[target][0]
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
    real = _many_real()
    for folder in filter(os.path.isdir, programs):
        with os.scandir(folder) as entries:
            links = [each.path for each in entries if each.is_symlink()]
        # One that leads to its own folder leads to a file, or to a link that is here.
        away = (link for link in links if os.sep in os.readlink(link))  # noqa: PTH115
        found.update(
            end.removeprefix(base).partition(os.sep)[0]
            for end in map(real, away)
            if end.startswith(base)
        )
    return tuple(
        f"{base}{each}"
        for each in sorted(found & folders)
        if not os.path.lexists(f"{base}{each}/.runner")
    )


def runners_in(system: Path) -> Iterator[Path]:
    """Yield the folders of GitHub's runners in one that is shown."""
    for at in ("*", "local/*", "local/*/*"):
        yield from (each.parent for each in system.glob(f"{at}/.runner"))


def _many_real() -> Callable[[str], str]:
    """Return what does as `os.path.realpath`, for many paths in few folders.

    It looks at each folder once, so use it for as long as they stay as they are.
    """
    known: Callable[[str], str] = cache(os.path.realpath)

    def real(path: str) -> str:
        for _ in range(_LINKS_MOST):
            folder, _, name = path.rpartition(os.sep)
            if name in {"", ".", ".."}:
                return known(path)
            above = known(folder or os.sep).rstrip(os.sep)
            try:
                told = os.readlink(f"{above}/{name}")  # noqa: PTH115  it takes longer
            except OSError:
                return f"{above}/{name}"
            path = told if told.startswith(os.sep) else f"{above}/{told}"
        return known(path)

    return real


def _beside_programs(search: str, homes: Iterable[str]) -> Iterator[str]:
    """Yield each folder of PATH, and for `X/bin` also X, unless it is a home."""
    wide = {os.sep, *homes, *(f"{home}/.local" for home in homes)}
    for each in search.split(os.pathsep):
        if not each.startswith(os.sep):
            continue
        yield each
        beside = Path(each).parent
        if str(beside) not in wide and _holds_any(
            beside, _listed("signs of an installation")
        ):
            yield str(beside)


def _homes(told: str, search: str) -> tuple[str, ...]:
    """Return the homes in which toolchains may lie: the given one and the user's.

    The user's is read from the system's list, and from where folders of PATH lie: a
    job's HOME may be a folder of its own.
    """
    own = []
    with suppress(KeyError):  # some containers' users are in no list
        own.append(pwd.getpwuid(os.getuid()).pw_dir)
    programs = search.split(os.pathsep)
    above = dict.fromkeys(up for each in programs for up in Path(each).parents)
    lived_in = (str(up) for up in above if _holds_any(up, _listed("signs of a home")))
    found = dict.fromkeys((told, *own, *lived_in))
    return tuple(each for each in found if each.startswith(os.sep) and each != os.sep)


def _holds_any(folder: Path, names: Iterable[str]) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in names)  # noqa: PTH110  a path's own `exists` raises PermissionError


LEFT_BYTES = 10_000_000


def fill_home(home: Path, files: Mapping[str, str]) -> None:
    """Write the files into a home, for its owner alone.

    The project's setup may have left links there, which are replaced.
    """
    for name, text in files.items():
        *folders, last = Path(name).parts
        at = home
        for folder in folders:
            at /= folder
            if at.is_symlink():
                at.unlink()
            at.mkdir(exist_ok=True)
        path = at / last
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def left_in(home: Path, name: str) -> str:
    """Return the text of a file that the engine left, or "" if there is none."""
    return read_hostile(home / name, LEFT_BYTES).decode("utf-8", "replace")
