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
from pathlib import Path
from typing import Final

from msgspec import Struct

import convoy
import grite
from convoy.model.records import ENGINE_TYPES
from grite import outbound
from runner.box.root_folder import HIDDEN, LINK, SEEN
from runner.inputs.job_inputs import Inputs

STORE: Final = "store.git"
CREDENTIALS: Final = (
    *(".netrc", ".git-credentials", ".config/git", ".config/gh", ".gitconfig"),
    *(".ssh", ".gnupg", ".docker", ".kube", ".aws", ".azure", ".config/gcloud"),
    *(".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".config/hub"),
    *(path for each in ENGINE_TYPES.values() for path in each.logins),
)
"""Files and folders in a person's home by which programs speak for that person."""


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


_ENVS: Final = ("pyenv", "rbenv", "nodenv", "goenv", "jenv", "plenv")
"""Version managers that are alike, each with a root and a variable for the version."""
TOOL_HOMES: Final = {
    "RUSTUP_HOME": ".rustup",  # cargo's own home is written to, so it is a new one
    "ELAN_HOME": ".elan",
    **{f"{each.upper()}_ROOT": f".{each}" for each in _ENVS},
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "PROTO_HOME": ".proto",
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
TOOL_FOLDERS: Final = (
    *TOOL_HOMES,
    *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "JDK_HOME", "GRAALVM_HOME"),
    *("M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT"),
    *("ANDROID_NDK_HOME", "GOROOT", "DOTNET_ROOT", "FLUTTER_ROOT", "CUDA_HOME"),
    *("SCALA_HOME", "KOTLIN_HOME", "GEM_HOME", "SWIFTLY_HOME_DIR", "VCPKG_ROOT"),
    "RUNNER_TOOL_CACHE",
)
TOOL_CHOICES: Final = (
    *(f"{each.upper()}_VERSION" for each in _ENVS),
    *("RUSTUP_TOOLCHAIN", "RUSTUP_AUTO_INSTALL", "ELAN_TOOLCHAIN", "GOTOOLCHAIN"),
    *("CONDA_DEFAULT_ENV", "UV_PYTHON", "UV_PYTHON_DOWNLOADS"),
)
"""Variables that choose among installed versions, or say that no other is to be."""

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


Place = tuple[str, str, str]
"""How it is in the box, the machine's path, and the path inside."""

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/nix/store", "/nix/var/nix/profiles", "/gnu/store", "/run/current-system"),
    *("/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm"),
    *("/var/lib/dpkg", "/var/lib/rpm", "/var/lib/alternatives"),
)
"""Where systems keep programs, libraries and what is said of the machine.

Of /opt a box shows what `installed`, PATH and the tools' variables name. Not the socket
of Nix's daemon, which would fetch for an agent what it may not reach."""
ETC: Final = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "static"),
    *("passwd", "group", "nsswitch.conf", "shells", "inputrc", "terminfo"),
    *("hosts", "host.conf", "hostname", "networks", "protocols", "services", "rpc"),
    *("ethertypes", "netconfig", "gai.conf", "bindresvport.blacklist"),
    *("localtime", "timezone", "locale.alias", "locale.conf", "locale.gen"),
    *("debian_version", "ca-certificates", "ca-certificates.conf", "crypto-policies"),
    *("ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/ca-trust", "pki/java"),
    *("pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "pki/tls/openssl.d"),
    *("mime.types", "mailcap", "magic", "magic.mime", "mke2fs.conf", "manpath.config"),
    *("dpkg", "rpm", "perl", "R", "julia", "dotnet", "maven/m2.conf", "maven/logging"),
    *("odbcinst.ini", "postgresql-common", "gdb", "vim", "sgml", "xml", "ant.conf"),
    *("groff", "papersize", "ghostscript", "fonts", "glvnd", "vulkan", "OpenCL"),
    *("X11", "pango", "alsa", "dictionaries-common", "xattr.conf"),
)
"""What toolchains read of /etc, besides `_ETC_OF_VERSIONS` and `_ETC_SETTINGS`."""
_ETC_OF_VERSIONS: Final = re.compile(
    r"(?:java|jvm|python|php|ruby|lua|ImageMagick|gtk|chromium|erlang|tex)"
    r"[\w.+-]*|ld-musl-\w+\.path|[\w-]+-release"
)
_ETC_SETTINGS: Final = (
    *("pip.conf", "xdg/pip/pip.conf", "npmrc", "wgetrc", "maven/settings.xml"),
)
"""What may hold a login, too; it is shown where it holds none."""
_HOLDS_LOGIN: Final = re.compile(rb"://[^/\s]*@|_auth|token|passw", re.IGNORECASE)
TOOLCHAINS: Final = (
    *(f".{each}" for each in _ENVS),
    *(".asdf", ".nvm", ".volta", ".rustup", ".elan", ".proto", ".pixi", ".sdkman"),
    *(".deno", ".bun", ".ghcup", ".opam", ".local/share/pypoetry"),
    *(".local/bin", ".local/lib", ".local/pipx", ".local/share/mise"),
    *(".local/share/pipx", ".local/share/pnpm", ".local/share/fnm"),
    *(".local/share/claude", "miniconda3", ".tool-versions"),
)
"""Where people's installers put programs, in a home; of a home nothing else is seen but
"""
PARTS: Final = {
    ".cargo": ("bin", "env"),
    ".dotnet": (
        *("dotnet", "sdk", "shared", "host", "packs", "templates", "tools"),
        *("metadata", "sdk-manifests", "library-packs"),
    ),
    ".local/share/uv": ("python", "tools"),
    "go": ("bin", "pkg"),
    ".linuxbrew": (
        *("bin", "sbin", "lib", "opt", "Cellar", "share", "include", "Homebrew"),
        *("etc/ca-certificates", "etc/openssl@3"),
    ),
}
"""the programs of these, where keys, logins, data and people's own work lie, too."""
_BREW: Final = "/home/linuxbrew/.linuxbrew"
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
        for folder, shown in PARTS.items()
    } | {_BREW: PARTS[".linuxbrew"]}
    asked = (
        *partial,
        *_beside_programs(sight.path, homes),
        *map(str, tool_folders(sight.tools, homes)),
    )
    seen = (
        *SYSTEM,
        *own_code(),
        *installed(Path("/opt"), ("/usr/bin", "/usr/local/bin")),
        *(part for path in asked for part in _parts(path, real(path), partial)),
        *(f"{home}/{each}" for home in homes for each in TOOLCHAINS),
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
    yield from (f"{folder}/{each}" for each in ETC)
    for name in _ETC_SETTINGS:
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
    place = kept.get(real) or _nearest(kept, real)
    return place is not None and place[0] != HIDDEN


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
        above = _nearest(kept, target)
        is_there = above is not None and above[0] == SEEN
        if kind in (SEEN, LINK) and is_there:
            continue
        if kind == HIDDEN and above is None:
            continue
        kept.setdefault(target, place)
    over = {at: _nearest(kept, at) for at in kept if kept[at][0] == HIDDEN}
    inside = [at for at, place in over.items() if place and place[0] == SEEN]
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


def _nearest(kept: dict[str, Place], target: str) -> Place | None:
    while target != os.sep:
        target = os.path.dirname(target)  # noqa: PTH120  paths are words here
        if target in kept:
            return kept[target]
    return None


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
    lived_in = (str(up) for up in above if _holds_any(up, _HOME_SIGNS))
    found = dict.fromkeys((told, *own, *lived_in))
    return tuple(each for each in found if each.startswith(os.sep) and each != os.sep)


def _holds_any(folder: Path, names: Iterable[str]) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in names)  # noqa: PTH110  a path's own `exists` raises PermissionError


LEFT_BYTES = 10_000_000


def plain_environment(inputs: Inputs, home: Path, temp: Path) -> dict[str, str]:
    """Return the variables that every program of a session gets."""
    return {
        # First, so that programs that the project's setup script installs win.
        "PATH": f"{home / '.local/bin'}{os.pathsep}{inputs.path}",
        "HOME": str(home),
        "TMPDIR": str(temp),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "CI": "true",
        # git uses no credential helper, and no repository above the checkout.
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CEILING_DIRECTORIES": str(inputs.workspace),
        **tool_variables(inputs.offered),
        **outbound.named_in(inputs.offered).without_passwords(),
    }


def fill_home(home: Path, files: Mapping[str, str]) -> None:
    """Write the files into a fresh home, for its owner alone."""
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")


def left_in(home: Path, name: str) -> str:
    """Return the text of a file that the engine left, or "" if there is none."""
    return read_hostile(home / name, LEFT_BYTES).decode("utf-8", "replace")
