"""The patch gate: what an agent's commits may not do, whatever its prompt said. Pure.

The runner asks early, so that the attempt fails with a reason; the bot asks again about
the commits it fetched, and only its answer counts. Patterns mean what they mean in
.gitignore (https://git-scm.com/docs/gitignore#_pattern_format) but for POSIX classes
such as `[[:alpha:]]`; they are read here, as pathspec would cost every runner 25 ms to
import, and tested against git itself.

Whoever changes the files that tell CI what to run changes the judge: a green verdict
then says what they wanted it to say, so a person has to look. The protected paths that
a task needs are known before anything starts: who may write may let one task change
them; what brat itself and git obey, nobody may.

What a patch adds that looks like a secret is said by its file, never shown. What the
same patch takes away elsewhere is no news, so a file that is moved or laid out anew is
let through. Gate patterns name the files in which made-up ones may stand. Binary files
are read as they are. That is no wall: whoever encodes, compresses, encrypts or cuts up
a secret is not found out. https://git-scm.com/docs/diff-format
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from convoy.model.records import Gate, Limits
from convoy.model.state import Task
from convoy.text.redaction import NO_SECRETS, Redaction, secrets_in

SYMLINK, SUBMODULE, GONE = "120000", "160000", "000000"
_MODES: Final = frozenset((SYMLINK, SUBMODULE, GONE, "100644", "100755"))
"""git writes no others, and programs differ in what others mean."""
FILE_BYTES: Final = 50_000_000
"""The limit for each changed file."""
DEEPEST = 100
"""Folders above a file; a path with more is unsafe, and takes long to match."""
SHOWN_PATHS = 3
"""How many paths a sentence names before it counts the rest."""

_RECORD = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*")
# Control characters, line separators, what turns the reading direction round, and
# lone surrogates: how bytes that are not UTF-8 arrive here.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What HFS+ leaves out when it compares names: git's own list (utf8.c, next_hfs_char).
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_TOKEN = re.compile(
    r"(?P<dirs>(?:^|(?<=/))\*{2,}/)"
    r"|(?P<rest>(?:^|(?<=/))\*{2,}$)"
    r"|(?P<some>\*+)"
    r"|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|[^\]\\])*)\]"
    r"|\\?(?P<char>.)",
    re.DOTALL,
)
_MEMBER = re.compile(r"\\?(?P<low>.)(?:-\\?(?P<high>.))?", re.DOTALL)
_REGEX = {"dirs": "(?:.*/)?", "rest": ".+", "some": "[^/]*", "one": "[^/]"}


class PathChange(Struct, frozen=True, order=True):
    """One path that the patch adds, changes or deletes; modes are six octal digits."""

    path: str
    mode_before: str
    mode_after: str
    blob_before: str = ""
    blob_after: str = ""

    @property
    def link(self) -> str:
        """The blob of the symbolic link that it brings, or else takes away."""
        if self.mode_after == SYMLINK:
            return self.blob_after
        return self.blob_before if self.mode_before == SYMLINK else ""


class _Pattern(Struct, frozen=True):
    regex: re.Pattern[str]
    negated: bool
    folders_only: bool
    whole_path: bool

    def matches(self, path: str, *, folder: bool) -> bool:
        if self.folders_only and not folder:
            return False
        subject = path if self.whole_path else path.rpartition("/")[2]
        return self.regex.fullmatch(subject) is not None


def parse_raw(raw: bytes) -> tuple[PathChange, ...]:
    """Read the output of `git diff-tree -r --raw -z --no-renames`.

    A path that is not UTF-8 keeps its bytes as lone surrogates (and is refused below).

    Raises:
        ValueError: it is something else.
    """
    fields = raw.split(b"\0")
    if fields.pop() or len(fields) % 2:
        raise ValueError("the list of changed files is incomplete")
    changes: list[PathChange] = []
    for record, path in zip(fields[::2], fields[1::2], strict=True):
        found = _RECORD.fullmatch(record)
        if found is None:
            raise ValueError(f"not a record of a changed file: {record[:80]!r}")
        told = (each.decode() for each in found.groups())
        changes.append(PathChange(path.decode(errors="surrogateescape"), *told))
    return tuple(changes)


def refusals(
    changes: Sequence[PathChange],
    patch_bytes: int,
    gate: Gate,
    limits: Limits,
    largest: str = "",
) -> tuple[str, ...]:
    """Return why the patch may not land, a sentence for each reason; empty: it may.

    Args:
        changes: against the commit the attempt started from.
        patch_bytes: the length of `git diff --text` between the same two commits.
        gate: protected patterns match in any case (some file systems do not tell
            `.GitHub` from `.github`), allowed ones exactly.
        limits: how large the patch may be.
        largest: the largest file in words, where it is known.
    """
    too_much = oversized(len(changes), patch_bytes, limits, largest)
    return (*too_much, *_of_paths("The patch", changes, gate))


def passing(changes: Sequence[PathChange], gate: Gate) -> tuple[str, ...]:
    """Return why commits may not land whose changes are gone again behind them."""
    return _of_paths("An intermediate commit", changes, gate)


def _of_paths(what: str, changes: Sequence[PathChange], gate: Gate) -> tuple[str, ...]:
    kept = [change for change in changes if change.mode_after != GONE]
    found = {
        "adds or changes a symbolic link": sorted(refused_links(changes)),
        "adds or changes a submodule": _with_mode(kept, SUBMODULE),
        "has an unusual file mode": [
            change.path for change in changes if change.mode_after not in _MODES
        ],
        "has an unsafe path": [
            change.path for change in kept if not is_safe(change.path)
        ],
        "changes a protected path": [
            change.path
            for change in changes
            if any(
                is_matched(path, gate.protected, any_case=True)
                for path in (change.path, _as_written(change.path))
            )
            and not is_matched(change.path, gate.spared)
        ],
        "changes a path that its task does not allow": [
            change.path
            for change in changes
            if gate.allowed and not is_matched(change.path, gate.allowed)
        ],
    }
    return tuple(
        f"{what} {does}: {path_list(tuple(dict.fromkeys(paths)))}."
        for does, paths in found.items()
        if paths
    )


def is_safe(path: str) -> bool:
    """Say whether a path is relative, printable, not deep and nowhere near a `.git`."""
    parts = path.replace("\\", "/").split("/")
    return not (
        len(parts) > DEEPEST
        or _UNPRINTABLE.search(path)
        or any(part in {"", ".", ".."} or _is_dot_git(part) for part in parts)
    )


NOT_ON_WINDOWS: Final = re.compile(
    r'[<>:"|?*\\]|[ .](?:/|$)|(?:^|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)',
    re.IGNORECASE,
)
"""https://learn.microsoft.com/windows/win32/fileio/naming-a-file"""


def pattern(path: str) -> str:
    """Return the line of a .gitignore that means this path alone, or nearly so."""
    return "/" + re.sub(r"[\x00-\x1f]", "?", re.sub(r"([\\*?\[ ])", r"\\\1", path))


def is_matched(path: str, patterns: Iterable[str], *, any_case: bool = False) -> bool:
    """Say whether .gitignore lines would ignore the file `path`.

    As there: the last line that matches decides, `!` takes out again, and what lies in
    a matched folder is matched.
    """
    compiled = [found for text in patterns if (found := _compiled(text, any_case))]
    parts = path.split("/")
    for count in (*range(1, min(len(parts), DEEPEST)), len(parts)):
        upper, folder = "/".join(parts[:count]), count < len(parts)
        for pattern in reversed(compiled):
            if pattern.matches(upper, folder=folder):
                if not pattern.negated:
                    return True
                break
    return False


@cache
def _compiled(text: str, any_case: bool) -> _Pattern | None:  # noqa: FBT001  cached by position
    text = re.sub(r"(?<!\\) +$", "", text)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    body = text[negated:]
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    regex = "".join(map(_translated, _TOKEN.finditer(body.removeprefix("/"))))
    flags = re.DOTALL | (re.IGNORECASE if any_case else re.NOFLAG)
    return _Pattern(re.compile(regex, flags), negated, folders_only, "/" in body)


def _translated(token: re.Match[str]) -> str:
    if token["set"] is not None:
        chars = "".join(_members(token["set"]))
        if token["not"]:
            return f"[^/{chars}]"
        return f"(?!/)[{chars}]"
    if token["char"] is not None:
        return re.escape(token["char"])
    return _REGEX[str(token.lastgroup)]


def _members(chars: str) -> Iterable[str]:
    for member in _MEMBER.finditer(chars):
        low, high = member["low"], member["high"] or member["low"]
        # Of a range the wrong way round git takes the first character alone.
        yield f"{re.escape(low)}-{re.escape(max(high, low))}"


def _as_written(path: str) -> str:
    """Return where some machine would write a file."""
    # NTFS drops dots and blanks at the end and what follows a colon.
    parts = _IGNORED_BY_HFS.sub("", path).replace("\\", "/").split("/")
    return "/".join(part.partition(":")[0].rstrip(". ") for part in parts)


def _is_dot_git(part: str) -> bool:
    # git~1 is the short name that NTFS gives to .git.
    return _as_written(part).casefold() in {".git", "git~1"}


def _with_mode(changes: Iterable[PathChange], mode: str) -> list[str]:
    return [change.path for change in changes if change.mode_after == mode]


def refused_links(changes: Sequence[PathChange]) -> set[str]:
    """Return the symbolic links that may not land: all but those that only moved.

    And not up: a path up would lead elsewhere. So a link leads out of the repository,
    or into what git keeps, only if it did before.
    """
    gone = [each for each in changes if each.mode_after == GONE and each.link]
    moved = {
        each.path
        for each in changes
        if each.mode_before == GONE
        and any(
            each.link == old.link and each.path.count("/") >= old.path.count("/")
            for old in gone
        )
    }
    return {*_with_mode(changes, SYMLINK)} - moved


def oversized(
    files: int, patch_bytes: int, limits: Limits, largest: str = ""
) -> tuple[str, ...]:
    """Return why a patch is too large, a sentence for each reason; empty: it is not.

    `largest` is its largest file in words, where it is known.
    """
    told = f", and its largest file is {largest}" if largest else ""
    found = []
    if files > limits.patch_files:
        found.append(
            f"The patch changes {files} files; the limit is {limits.patch_files}."
        )
    if patch_bytes > limits.patch_bytes:
        allowed = f"the limit is {limits.patch_bytes}"
        found.append(f"The patch is {patch_bytes} bytes; {allowed}{told}.")
    return tuple(found)


def file_and_size(path: str, size: int) -> str:
    return f"{printable(path)} ({size} bytes)"


def path_list(paths: Sequence[str], most: int = SHOWN_PATHS) -> str:
    """Return the first of some paths, printable, and how many more there are."""
    more = len(paths) - most
    names = [printable(path) for path in paths[:most]]
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def printable(path: str) -> str:
    """Return `path` with all that does not print written as an escape."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", path)


CI_FILES: Final = (
    *("/.github/workflows/", "/.github/actions/", "action.yml", "action.yaml"),
    *("/.forgejo/workflows/", "/.gitea/workflows/", "/.circleci/", "/.buildkite/"),
    *("/.gitlab-ci.yml", "/.gitlab-ci/", "/.gitlab/ci/"),
    *("Jenkinsfile*", "*.jenkinsfile", "/.woodpecker*", "/.semaphore/", "/.teamcity/"),
    *("/azure-pipelines*.yml", "/azure-pipelines*.yaml", "/.azure-pipelines/"),
    *("/.azuredevops/", "/.pipelines/", "/.travis.yml", "/.cirrus.*", "/.drone.*"),
    *("/appveyor.yml", "/.appveyor.yml", "/.builds/", "/.build.yml"),
    *("/bitbucket-pipelines.yml", "/bitrise.yml", "/codemagic.yaml", "/wercker.yml"),
    *("/buildspec*.yml", "/cloudbuild.y*ml", "/codeship-*.yml", "/.tekton/", "/.prow*"),
    *("/.zuul.*", "/zuul.yaml", "/zuul.d/", "/.zuul.d/", "/.taskcluster.yml", "/.ci/"),
)
"""Patterns as in .gitignore, relative to the repository's top.

https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax,
https://circleci.com/docs/config-intro, https://docs.gitlab.com/ci/yaml,
https://www.jenkins.io/doc/book/pipeline/jenkinsfile,
https://buildkite.com/docs/pipelines/configure,
https://learn.microsoft.com/azure/devops/pipelines/customize-pipeline
"""


def ci_files(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of some paths that tell CI what to run, sorted."""
    return tuple(
        sorted({path for path in paths if is_matched(path, CI_FILES, any_case=True)})
    )


NEVER_ALLOWED: Final = (".brat/**", ".git/**", ".gitmodules")
"""Whoever may change these has the next agent, or the bot, do what they want."""


def protected(paths: Iterable[str], gate: Gate) -> tuple[str, ...]:
    """Return those of a task's paths that the gate would refuse.

    A folder (it ends in a slash) counts where all that is in it is protected.
    """
    found: dict[str, None] = {}
    for path in paths:
        inside = f"{path.rstrip('/')}/any"
        whole = (path, inside) if not path.endswith("/") else (inside,)
        if any(_is_protected(each, gate.protected) for each in whole):
            found[path] = None
    return tuple(found)


@lru_cache(maxsize=8192)
def _is_protected(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether patterns match a path: each page asks it again of all tasks' paths."""
    return is_matched(path, patterns, any_case=True)


def forbidden(paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of some protected paths that nobody may let an agent change."""
    return protected(paths, Gate(protected=NEVER_ALLOWED))


def unallowed(task: Task, gate: Gate) -> tuple[str, ...]:
    """Return the protected paths that a task declares and nobody has allowed."""
    found = protected(task.spec.paths, gate)
    folders = tuple(each for each in task.allowed if each.endswith("/"))
    kept = (path for path in found if path not in task.allowed)
    return tuple(path for path in kept if not path.startswith(folders))


def wants(number: int, paths: tuple[str, ...]) -> str:
    """Return why a task waits that needs protected paths, and who may help how."""
    if kept := forbidden(paths):
        return (
            f"its plan needs {path_list(kept)}, which no agent may change: a person "
            f"must make the change and then say /brat drop {number}"
        )
    return (
        f"its plan needs protected paths ({path_list(paths)}): someone with write "
        f"access must say /brat allow {number} or /brat drop {number}"
    )


def gate_of(gate: Gate, task: Task) -> Gate:
    """Return the gate for one task's work: without what people allowed it."""
    return replace(gate, spared=tuple(map(pattern, task.allowed)))


_COMMIT: Final = re.compile(rb"^[0-9a-f]{40}\b.*$", re.MULTILINE)
"""How git begins each of several commits."""


def leaks(
    what: str, patch: bytes, gate: Gate, known: Redaction = NO_SECRETS
) -> tuple[str, ...]:
    """Return why a patch may not land that adds a secret, a sentence; or nothing.

    Args:
        what: how the sentence begins, such as "The patch".
        patch: as `git diff-tree --patch --text` writes it, of one commit or of several.
        gate: names the files that may hold some.
        known: secrets that have no shape.
    """
    leaking = (path for each in _COMMIT.split(patch) for path in _leaking(each, known))
    kept = dict.fromkeys(leaking)  # each file once, in the order of the commits
    found = [path for path in kept if not is_matched(path, gate.secrets)]
    return (
        (f"{what} adds what looks like a secret: {path_list(found)}.",) if found else ()
    )


def _leaking(commit: bytes, known: Redaction) -> list[str]:
    """Return the files to which one commit adds a secret that it takes from none."""
    in_hunk, path = False, ""
    added: defaultdict[str, list[bytes]] = defaultdict(list)
    removed: list[bytes] = []
    for line in commit.split(b"\n"):
        if line.startswith(b"@@"):
            in_hunk = True
        elif in_hunk and line.startswith(b"+"):
            added[path].append(line[1:])
        elif in_hunk and line.startswith(b"-"):
            removed.append(line[1:])
        elif not (in_hunk and line.startswith((b" ", b"\\"))):
            in_hunk = False
            if line.startswith(b"+++ "):
                path = _path(line[4:])
    was_there = _secrets(removed, known)
    return [each for each, lines in added.items() if _secrets(lines, known) - was_there]


def _secrets(lines: Sequence[bytes], known: Redaction) -> frozenset[str]:
    text = b"\n".join(lines).decode("latin-1")
    return secrets_in(text) | known.known_in(text)


def _path(name: bytes) -> str:
    """Return the path that git writes after `+++`, quoted where it must be."""
    name = name.removesuffix(b"\t")
    if name.startswith(b'"'):  # git escapes as C does, and so as Python does
        name = ast.literal_eval(name.decode("latin-1")).encode("latin-1")
    return name.removeprefix(b"b/").decode(errors="surrogateescape")
