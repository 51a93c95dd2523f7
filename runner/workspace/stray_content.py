"""What lies in an agent's work tree and is no part of its work: found, and named.

Repositories of their own, what tools make again by themselves, submodules, and files
in which git alone changes something. The rest of the work lands without them.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from convoy import gate
from convoy.gate import GONE, PathChange, is_safe, path_list
from runner.box.surroundings import read_hostile

REPOSITORY: Final = "Left out: a nested repository"
IGNORED: Final = "Left out: .gitignore names it"
LINKED: Final = "Left out: agents may neither add nor change symbolic links"
MADE_AGAIN: Final = "Left out: tools regenerate it"
UNSAFE: Final = "Left out: some systems forbid its name"
NO_SUBMODULE: Final = "Unchanged: submodules are not checked out here"
TWIN: Final = "Kept, but another name differs only in case"
LINE_ENDS: Final = "Kept with its old line endings"
UNPORTABLE: Final = "Kept, but Windows forbids this name"
ASIDE: Final = "Left out: the agent committed it on another branch or stashed it"
_UNFILTERED: Final = "Kept unfiltered, but .gitattributes asks for the filter {}"
_UNENCRYPTED: Final = (
    "Left out: it would land unencrypted, but .gitattributes asks for the filter {}"
)
NOT_IN_LFS: Final = (
    "Left out: .gitattributes assigns it to Git LFS, to which agents cannot write"
)
_ENCRYPTS: Final = re.compile(r"crypt|sops|\bage\b", re.IGNORECASE)
"""Filters that hide a file: git-crypt, transcrypt (`crypt`), git-agecrypt, sops."""
_NO_VALUES: Final = frozenset(("unspecified", "unset", "set"))
CONVERTING: Final = ("text", "eol", "ident", "working-tree-encoding")
"""The attributes by which git writes a file otherwise than it holds it.
https://git-scm.com/docs/gitattributes
"""
LOOKED_MOST: Final = 200_000
"""The most files and folders to look at; what lies beyond counts as work."""

_MADE_FOLDERS: Final = frozenset(
    (
        *("__pycache__", "node_modules", ".venv", ".tox", ".nox", ".eggs"),
        *(".gradle", ".hypothesis", ".ipynb_checkpoints", ".pytest_cache"),
        *(".mypy_cache", ".ruff_cache", ".nyc_output", ".pnpm-store"),
        ".playwright-mcp",
    )
)
_MARKS: Final = frozenset(("pyvenv.cfg", "CACHEDIR.TAG"))
"""Files by which a folder says that it is an environment, or a cache.
https://bford.info/cachedir/
"""
_MADE_FILE: Final = re.compile(
    r"\.DS_Store|Thumbs\.db|\.coverage|coverage\.out|lcov\.info|nohup\.out|.+~"
    r"|.*\.(?:py[co]|swp|gcda|gcno|profraw)"
    r"|\.aider\.(?:chat|input|llm)\.history(?:\.md)?|settings\.local\.json"
)
_OUTPUT: Final = re.compile(
    r"\.?(?:build|dist|out|obj|bin|output|target|coverage|htmlcov|logs?|te?mp|cache"
    r"|[\w-]*[._-]cache|next|nuxt|svelte-kit|turbo|parcel-cache|terraform|serverless)"
    r"|.*\.(?:log|o|a|d|obj|so|dylib|dll|exe|class|jar|war|min\.js|map|tmp|bak|pid|lock"
    r"|tsbuildinfo|gem|whl|db|sqlite3?|aux|toc|bbl|blg|fls|fdb_latexmk)|\.eslintcache"
)
"""Names of what builds and tests leave, where a .gitignore names it, too."""
_MADE_BESIDE: Final = {
    "target": ("pom.xml", "Cargo.toml", "build.sbt"),
    "build": ("build.gradle", "build.gradle.kts"),
}
"""Folders that are made where a build's own file is beside them."""
_PROGRAM: Final = re.compile(
    rb"\x7fELF|MZ.\0|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe|!<arch>\n", re.DOTALL
)
"""How a compiler's and a linker's files begin, Java's too, on every system.
https://man7.org/linux/man-pages/man5/elf.5.html
"""
_HEAD_BYTES: Final = 8
NOT_ON_WINDOWS: Final = re.compile(
    r'[<>:"|?*\\]|[ .](?:/|$)|(?:^|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)',
    re.IGNORECASE,
)
"""https://learn.microsoft.com/windows/win32/fileio/naming-a-file"""
POINTER: Final = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS has written.
https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""


class Staged(Struct, frozen=True):
    """One path in which the index differs from the base."""

    path: str
    mode_before: str
    mode_after: str
    blob_before: str
    blob_after: str

    @property
    def is_changed_file(self) -> bool:
        """Whether it is a plain file before and after, with another content."""
        modes = self.mode_before, self.mode_after
        is_file = all(mode.startswith("100") for mode in modes)
        return is_file and self.blob_before != self.blob_after

    def undone(self, *, keeps_mode: bool = False) -> bytes:
        """Return what undoes it, a line for `git update-index -z --index-info`."""
        mode = self.mode_after if keeps_mode else self.mode_before
        return os.fsencode(f"{mode} {self.blob_before}\t{self.path}\0")


LINK_MODE: Final = b"\0\0\xe0\0"
"""The mode of a submodule, 160000, as an index holds it."""


def staged_in(raw: bytes) -> tuple[Staged, ...]:
    """Read the output of `git diff-index --cached --raw -z`."""
    return tuple(Staged(*each) for each in gate.raw_records(raw))


def untracked(folder: Path, listed: Iterable[str]) -> dict[str, str]:
    """Return what of `git ls-files --others --directory` is no work, and why."""
    left = iter(range(LOOKED_MOST))
    found: dict[str, str] = {}
    for entry in listed:
        if entry.endswith("/"):
            spared = _is_made_folder(PurePosixPath(entry).parent, folder)
            found.update(_strays(folder, entry.rstrip("/"), left, spared=spared))
        elif _is_made_file(folder / entry):
            found[entry] = MADE_AGAIN
    return found


def _strays(
    top: Path, entry: str, left: Iterator[int], *, spared: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is no work in an untracked folder, each folder once and whole.

    `left` has one for each file and folder that may still be looked at; an entry is
    `spared` in what the base holds of such a folder.
    """
    folders = [entry]
    while folders:
        path = folders.pop()
        try:
            with os.scandir(top / path) as found:
                here = {each.name: each.is_dir(follow_symlinks=False) for each in found}
        except OSError:
            continue
        if ".git" in here:
            yield path, REPOSITORY
        elif not spared and _is_made(top, path, here):
            yield path, MADE_AGAIN
        else:
            for (name, is_folder), _ in zip(here.items(), left, strict=False):
                if is_folder:
                    folders.append(f"{path}/{name}")
                elif not spared and _is_made_file(top / path / name):
                    yield f"{path}/{name}", MADE_AGAIN


def _is_made_file(path: Path) -> bool:
    """Whether a tool made a file; patch and merges leave `.rej` and `.orig` beside."""
    is_beside = path.suffix in (".orig", ".rej") and path.with_suffix("").is_file()
    return is_beside or _MADE_FILE.fullmatch(path.name) is not None


def _is_made(top: Path | None, path: str, names: Iterable[str]) -> bool:
    above, _, name = path.rpartition("/")
    builds = [top / above / each for each in _MADE_BESIDE.get(name, ())] if top else ()
    is_named = name in _MADE_FOLDERS or name.endswith(".egg-info")
    is_named |= name.startswith(".aider.tags.cache.")
    is_marked = not _MARKS.isdisjoint(names)
    return is_named or is_marked or any(map(Path.is_file, builds))


def _is_made_folder(path: PurePosixPath, top: Path | None = None) -> bool:
    folders = (path, *path.parents[:-1]) if path.name else ()
    return any(_is_made(top, str(each), ()) for each in folders)


def hidden_work(folder: Path, listed: Iterable[str]) -> list[str]:
    """Return what of `git ls-files --others --ignored` may be work."""
    is_output = cache(_OUTPUT.fullmatch)  # one name for thousands of files
    parts = ((path, path.split("/")) for path in listed)
    paths = [
        path
        for path, names in parts
        if _MADE_FOLDERS.isdisjoint(names) and not any(map(is_output, names))
    ]
    news = [Staged(path, GONE, "100644", "", "") for path in paths]
    made = {each.path for all_ in made_folders(folder, news).values() for each in all_}
    return [path for path in paths if path not in made]


def made_folders(folder: Path, added: Iterable[Staged]) -> dict[str, list[Staged]]:
    """Return what is added in tools' folders, by the uppermost, and built programs."""
    news = [each for each in added if each.mode_before == GONE]
    marked = {
        str(path.parent)
        for each in news
        if (path := PurePosixPath(each.path)).name in _MARKS
    }
    found: dict[str, list[Staged]] = {}
    for each in news:
        above = reversed(PurePosixPath(each.path).parents[:-1])
        made = (
            str(one)
            for one in above
            if _is_made(folder, str(one), ()) or str(one) in marked
        )
        if _is_made_file(folder / each.path):
            found.setdefault(next(made, each.path), []).append(each)
        elif uppermost := next(made, ""):
            found.setdefault(uppermost, []).append(each)
        elif each.mode_after.startswith("100") and _PROGRAM.match(
            read_hostile(folder / each.path, _HEAD_BYTES)
        ):
            found.setdefault(each.path, []).append(each)
    return found


def batched(said: bytes) -> Iterator[bytes]:
    """Yield what `git cat-file --batch` wrote of each object."""
    at = 0
    while (end := said.find(b"\n", at)) >= 0:
        size = int(said[at:end].rpartition(b" ")[2])
        yield said[end + 1 : end + 1 + size]
        at = end + size + 2


def with_line_ends_of(before: bytes, after: bytes) -> bytes | None:
    """Return a text with the line ends that all of it had, or None if it has them."""
    had, lines = before.count(b"\r\n"), before.count(b"\n")
    has, news = after.count(b"\r\n"), after.count(b"\n")
    if not lines or b"\0" in before or b"\0" in after:
        return None
    plain = after.replace(b"\r\n", b"\n")
    if had == lines and has < news:
        return plain.replace(b"\n", b"\r\n")
    return plain if b"\r" not in before and has == news else None


def unfit(changes: Sequence[Staged]) -> Iterator[tuple[Staged, str]]:
    """Yield what can never land, with the reason: links, submodules, unsafe names.

    What lies in a submodule's place, or did in a link's, is as it was, too.
    """
    modules = {each.path for each in changes if each.mode_before == gate.SUBMODULE}
    links = gate.refused_links([gate.path_change(*astuple(each)) for each in changes])
    for each in changes:
        here = {each.path, *map(str, PurePosixPath(each.path).parents)}
        if not modules.isdisjoint(here):
            yield each, NO_SUBMODULE
        elif not links.isdisjoint(here):
            yield each, LINKED
        elif each.mode_after == gate.SUBMODULE:
            yield each, REPOSITORY
        elif each.mode_after != GONE and not is_safe(each.path):
            yield each, UNSAFE


def is_stray(change: PathChange) -> bool:
    """Whether a commit should not have made a change that later ones undid."""
    is_link = change.mode_after in (gate.SYMLINK, gate.SUBMODULE)
    is_made = _is_made_folder(PurePosixPath(change.path).parent)
    return is_link or is_made or not is_safe(change.path)


def is_empty(folder: Path, link: str) -> bool:
    """Whether a submodule's folder is as git leaves it: empty, and no link."""
    with suppress(OSError):
        return not (folder / link).is_symlink() and not any((folder / link).iterdir())
    return False


def changed_attributes(before: bytes, after: bytes) -> set[str]:
    """Return the files of which two outputs of `git check-attr -z` differ."""
    both = (each.split(b"\0") for each in (before, after))
    old, new = ([*zip(each[::3], each[2::3], strict=False)] for each in both)
    pairs = zip(old, new, strict=True)
    return {os.fsdecode(path) for (path, was), (_, now) in pairs if was != now}


def converted(attributes: bytes) -> set[str]:
    """Return the files that `git check-attr -z` gives any value but "unset"."""
    fields = attributes.split(b"\0")
    pairs = zip(fields[::3], fields[2::3], strict=False)
    return {os.fsdecode(path) for path, value in pairs if not value.startswith(b"uns")}


def unfiltered(
    folder: Path, attributes: bytes, *, landing: bool
) -> dict[str, set[str]]:
    """Return the files that a filter should have written, by the reason.

    `attributes` are by `git check-attr -z filter`. `landing`: return those that may
    land as they are, or else those that may not: whoever clones them gets a raw file
    in the place of a pointer, or reads what should be hidden.
    """
    fields = [*map(os.fsdecode, attributes.split(b"\0"))]
    found: dict[str, set[str]] = {}
    for path, driver in zip(fields[::3], fields[2::3], strict=False):
        encrypts = bool(_ENCRYPTS.search(driver))
        is_kept = not encrypts and driver != "lfs"
        if driver in _NO_VALUES or landing != is_kept:
            continue
        if encrypts or read_hostile(folder / path, len(POINTER)) != POINTER:
            reason = _UNENCRYPTED if encrypts else _UNFILTERED
            reason = reason.format(gate.printable(driver)[:40])
            reason = NOT_IN_LFS if driver == "lfs" else reason
            found.setdefault(reason, set()).add(path)
    return found


def sentences(found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{why}: {path_list(sorted({*at}))}." for why, at in found.items())


def pattern(path: str) -> str:
    """Return the line of a .gitignore that means this path alone, or nearly so."""
    return "/" + re.sub(r"[\x00-\x1f]", "?", re.sub(r"([\\*?\[ ])", r"\\\1", path))
