"""Turns what an attempt leaves into commits: the agent's own, and one for the rest.

It works on whatever the agent left: no `.git`, another history, half a file. The
agent's commits are kept if they descend from the base; if not, one commit on the base
holds all of the work.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from msgspec import Struct
from msgspec.structs import replace

from convoy import gate
from convoy.events.session_events import TaskStarted
from convoy.gate import GONE, PathChange, path_list
from convoy.model.records import Gate
from convoy.text import SIGNED_OFF, with_line_ends_of
from convoy.text.redaction import NO_SECRETS, Redaction
from grite import errors, git
from grite.errors import BratError, GitFailed, Unavailable
from runner.box.surroundings import left_in, read_hostile
from runner.workspace import stray_content as stray
from runner.workspace.side_branches import (
    BUNDLE_LIMIT,
    PATCH_BYTES,
    agents_repository,
    bundled_beside,
    fetch,
    side_branches,
)
from runner.workspace.workspace import (
    ATTRIBUTES,
    IGNORES,
    Workspace,
    configure_own,
    has_foreign_objects,
    ignore_files,
    point_ref,
    ref_value,
)

ALONE_MOST = 1_000
"""How many files are added one by one, where git gives up over one of them."""
TEXT_BYTES = 1_000_000
"""A larger file keeps the line ends that it was given."""
INDEX_BYTES = 100_000_000
"""The most that is read of the agent's own index."""
MEMORY_BYTES = 1_000_000_000
"""The limit for each git process: a tree of a few bytes can stand for 10^10 files."""
PATCH = "patch"
"""The file in the store that holds the whole change, as `git apply` takes it."""
_TEXT_PATCH = "patch.text"
"""The same with binary files as they are: its size counts, and it is searched."""
_AGENT = "refs/brat/agent"
_DIFF = ("diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv")
_IS_COMMITTED = (
    *("diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD"),
)
_TREES = (*_DIFF, "--raw", "-z", "--root")


class Work(Struct, frozen=True):
    commit: str | None = None
    """The newest commit; None: there is none besides the base."""
    changes: tuple[PathChange, ...] = ()
    between: tuple[PathChange, ...] = ()
    """Changes of single commits that later commits undid."""
    patch_bytes: int = 0
    bundle: Path | None = None
    """The bundle of all commits from the base on; it may be moved away."""
    faults: tuple[str, ...] = ()
    """A sentence on each part of the work that could not be kept."""
    leftover: bool = False
    """Whether the witness had to commit some of the work."""
    largest: str = ""
    """The largest file that it adds or changes, in words; empty: none is there."""
    oversized: str = ""
    """Why not all of it could be kept, a sentence; empty: all could."""
    leaks: tuple[str, ...] = ()
    """What looks like a secret in it, a sentence each; if any, nothing is kept."""
    left_out: tuple[str, ...] = ()
    """Sentences on what the agent left that is no part of it, or not as it should be;
    the rest lands all the same."""


def without_leaks(
    work: Work, workspace: Workspace, rules: Gate, known: Redaction = NO_SECRETS
) -> Work:
    """Return the work, but without its commits if they would show a secret.

    A key that the base shows, such as an ordinary word, is none to keep from it. Call
    it after `AttemptCommits.keep`, in the same workspace.
    """
    file = workspace.store / _TEXT_PATCH
    if not file.is_file():
        return work
    with file.open("rb") as source:
        patch = source.read(PATCH_BYTES)
    told = gate.leaks("The patch", patch, rules, known)
    if told and known.known:

        def is_in_base(text: str) -> bool:
            # Git reads it where nobody else can.
            find = ("grep", "--quiet", "--fixed-strings", "-f", "-", workspace.base)
            found = workspace.git(*find, stdin=text.encode(), check=False)
            return found.status == 0 and "\n" not in text

        hidden = known.but(filter(is_in_base, known.known))
        told = gate.leaks("The patch", patch, rules, hidden)
    return replace(work, commit=None, bundle=None, leaks=told) if told else work


def gate_refusals(work: Work, started: TaskStarted) -> tuple[str, ...]:
    """Return why the patch gate would not let the work land, a sentence each."""
    found = (
        *too_large(work, started),
        *gate.refusals(work.changes, 0, started.gate, started.limits),
        *gate.passing(work.between, started.gate),
        *work.leaks,
    )
    return tuple(dict.fromkeys(found))


def too_large(work: Work, started: TaskStarted) -> tuple[str, ...]:
    if work.oversized:
        return (work.oversized,)
    size = len(work.changes), work.patch_bytes
    return gate.oversized(*size, started.limits, work.largest)


class AttemptCommits(Struct):
    """The work of one workspace, once its agent has ended."""

    _workspace: Workspace
    _budget_s: float
    _litter: tuple[str, ...] = ()
    """New files to leave out, patterns as in .gitignore."""
    keeps_patch: bool = False
    """Whether the whole change is left in the store, too, as `PATCH`."""
    _left_out: dict[str, list[str]] = {}
    """Paths of what is no part of the work, or not as it should be, by the why."""
    _unfiltered: dict[str, set[str]] = {}
    """Paths of files that may land all the same, as far as they are in the work."""

    def keep(self, title: str, *, half_done: bool = False) -> Work:
        """Commit and bundle all new work; never raise for what the agent did.

        `half_done`: the agent was ended, or failed, before it was done.
        """
        deadline = time.monotonic() + self._budget_s
        limits = {"deadline": deadline, "memory_bytes": MEMORY_BYTES}
        self._workspace = replace(self._workspace, **limits)
        folder = self._workspace.folder
        # In a box the folder is a mount, so it can only be emptied.
        is_there = folder.is_dir() and not folder.is_symlink()
        if not is_there or not any(folder.iterdir()):
            return Work(faults=("The agent removed its workspace.",))
        title = " ".join(title.split())[:200] or "Work of an agent"
        mark = "Brat-Half-Done: yes\n" if half_done else ""
        trailers = f"Brat-Task: {self._workspace.branch}\n{mark}{SIGNED_OFF}\n"
        try:
            return self._keep(f"{title}\n\n{trailers}".encode(errors="replace"))
        except (BratError, OSError, ValueError) as error:
            why = str(error).rstrip(".")
            if errors.is_disk_full(error):  # git may say it in an earlier line
                why = errors.NO_SPACE
            return Work(faults=(f"The work could not be kept: {why}.",))

    def with_sides(self, work: Work, rules: Gate, known: Redaction) -> Work:
        """Return the work, bundled with what is beside it; call it after `keep`."""
        bundle = bundled_beside(self._workspace, work.commit, rules, known)
        return replace(work, bundle=bundle or work.bundle)

    def _leave(self, why: str, paths: Iterable[str]) -> None:
        if found := [*paths]:
            self._left_out.setdefault(why, []).extend(found)

    def _keep(self, message: bytes) -> Work:
        workspace = self._workspace
        configure_own(workspace.store)
        ignore_files(workspace.store, self._litter)
        self._leave_submodules()
        theirs = self._agents_commit() or workspace.base
        faults, known = self._stage()
        own, staged = self._unstage(theirs)
        point_ref(workspace.store, workspace.ref, own)
        # With nothing to commit, it would run git in submodules, as they configure it.
        is_new = bool(staged) and own == workspace.base
        if is_new or not self._says_yes(*_IS_COMMITTED):
            commit = ("commit", "--quiet", "--no-verify", "--cleanup=verbatim")
            self._workspace.git(*commit, "--file=-", stdin=message)
        head = ref_value(workspace.store, workspace.ref)
        sides = side_branches(workspace)
        self._leave(stray.ASIDE, (each.removeprefix("refs/heads/") for each in sides))
        changes = staged or gate.parse_raw(self._diff("--raw", "-z"))
        if not any(each.path.endswith(IGNORES) for each in changes):
            self._leave(stray.IGNORED, self._ignored())
        if head == workspace.base:
            return Work(faults=faults, left_out=stray.sentences(self._left_out))
        for why, paths in self._unfiltered.items():
            self._leave(why, (each.path for each in changes if each.path in paths))
        faults += self._unmerged(changes)
        self._leave(stray.TESTS_GONE, stray.removed_tests(changes))
        self._note_odd_names(changes, known if theirs == workspace.base else None)
        sizes = stray.sizes_of(changes, workspace.folder)
        work = Work(
            changes=changes,
            faults=faults,
            leftover=head != own,
            largest=gate.file_and_size(*sizes[0]) if sizes else "",
            left_out=stray.sentences(self._left_out),
        )
        bundle = workspace.store / "work.bundle"
        size, most = sizes[0][1] if sizes else 0, gate.FILE_BYTES
        if size <= most:
            ends = "HEAD", f"^{workspace.base}"
            self._workspace.git("bundle", "create", "--quiet", str(bundle), *ends)
            size, most = bundle.stat().st_size, BUNDLE_LIMIT
        if size <= most:
            size, most = self._patch_bytes(), PATCH_BYTES
        if size > most:
            lighter = self._lighter(message, sizes, bundle)
            said = f"The work is {size} bytes; the largest file is {work.largest}."
            return replace(
                work,
                commit=lighter.commit,
                bundle=lighter.bundle,
                patch_bytes=size,
                oversized=f"{said} The limit is {most}.{lighter.oversized}",
            )
        lasting = {(each.path, each.mode_after) for each in changes}
        steps = () if own == workspace.base else self._steps("HEAD")
        undone = (e for e in steps if (e.path, e.mode_after) not in lasting)
        return replace(
            work,
            commit=head,
            bundle=bundle,
            between=tuple(undone),
            patch_bytes=size,
        )

    def _unmerged(self, changes: Iterable[PathChange]) -> tuple[str, ...]:
        """Return a fault for the files in which the agent left a merge unfinished."""
        theirs = agents_repository(self._workspace)
        folder = self._workspace.folder
        files = (e.path for e in changes if e.mode_after.startswith("100"))
        texts = ((e, b"\n" + read_hostile(folder / e, TEXT_BYTES)) for e in files)
        marked = {e for e, text in texts if all(map(text.__contains__, stray.CONFLICT))}
        if theirs is None or not marked:
            return ()
        index = self._workspace.store / "index.theirs"
        index.write_bytes(read_hostile(theirs / "index", INDEX_BYTES))
        asked = ("ls-files", "-z", "--unmerged")
        told = self._workspace.git(*asked, index=index, check=False).stdout
        lines = os.fsdecode(told).split("\0")
        left = sorted(marked & {line.partition("\t")[2] for line in lines})
        return (f"Conflict markers remain in {path_list(left)}.",) if left else ()

    def _lighter(
        self, message: bytes, sizes: Sequence[tuple[str, int]], bundle: Path
    ) -> Work:
        """Bundle the work again, as one commit without its largest files."""
        room = PATCH_BYTES
        gone = [path for path, size in reversed(sizes) if (room := room - size) < 0]
        base = self._workspace.base
        self._workspace.git("read-tree", "HEAD")
        staged = self._staged()
        self._undo(each for each in staged if each.path in {*gone})
        tree = self._workspace.git("write-tree").stdout.decode().strip()
        if self._says_yes("diff", "--quiet", base, tree):
            return Work(oversized=" There were no other changes to keep.")
        commit = ("commit-tree", tree, "-p", base, "-F", "-")
        head = self._workspace.git(*commit, stdin=message).stdout.decode().strip()
        point_ref(self._workspace.store, self._workspace.ref, head)
        self._workspace.git(
            "bundle", "create", "--quiet", str(bundle), "HEAD", f"^{base}"
        )
        if bundle.stat().st_size > BUNDLE_LIMIT:
            return Work(oversized=" brat kept none of it.")
        self._patch_bytes()  # which is then searched for secrets
        said = f" brat kept everything except {path_list(gone[::-1])}." if gone else ""
        return Work(head, bundle=bundle, oversized=said)

    def _agents_commit(self) -> str | None:
        """Return the agent's HEAD if the work can be built on it."""
        workspace = self._workspace
        theirs = agents_repository(workspace)
        if theirs is None:
            return None
        at = (left_in(theirs, each).strip() for each in ("HEAD", workspace.ref))
        if (f"ref: {workspace.ref}", workspace.base) == tuple(at):
            return None  # it committed nothing
        if has_foreign_objects(theirs):
            return None
        try:
            fetch(workspace, theirs, f"+HEAD:{_AGENT}")
        except (GitFailed, Unavailable):
            return None
        commit = ref_value(workspace.store, _AGENT)
        ancestor = ("merge-base", "--is-ancestor", workspace.base)
        if commit == workspace.base or not self._says_yes(*ancestor, commit):
            return None
        # Keeps the stat data of what did not change, and asks nothing of the files.
        self._workspace.git("read-tree", "-i", "-m", commit)
        # A repository that it made a submodule, even of a file, is searched like any
        # folder. If it were added again, git would run in it, as it configures it.
        made = (e for e in self._staged() if e.mode_after == gate.SUBMODULE)
        self._undo(each for each in made if each.mode_before != gate.SUBMODULE)
        return commit

    def _ignored(self) -> list[str]:
        """Return the new files that a .gitignore hides, but for what tools make."""
        if not self._workspace.mentions(IGNORES.encode()):
            return []
        asked = ("ls-files", "--others", "--ignored")
        paths = self._workspace.paths(*asked, f"--exclude-per-directory={IGNORES}")
        found = stray.hidden_work(self._workspace.folder, paths)
        return [each for each in found if not gate.is_matched(each, self._litter)]

    def _leave_submodules(self) -> None:
        """Let git leave submodules as they are."""
        if not self._workspace.mentions(stray.LINK_MODE):
            return
        listed = self._workspace.paths("ls-files", "--stage")
        listed = [each for each in listed if each.startswith("160000 ")]
        links = [each.partition("\t")[2] for each in listed]
        if links:
            skip = ("update-index", "-z", "--skip-worktree", "--stdin")
            self._workspace.git(*skip, stdin=_listed(links))
        top = self._workspace.folder
        changed = (link for link in links if not stray.is_empty(top, link))
        self._leave(stray.NO_SUBMODULE, changed)

    def _stage(self) -> tuple[tuple[str, ...], set[str]]:
        """Put the work into the index, without strays.

        Returns what cannot be kept, and what the index held before.
        """
        workspace = self._workspace
        kinds = ("--cached", "--others", "--directory", "--exclude-standard")
        listed = self._workspace.paths("ls-files", "-t", *kinds)
        others = [each[2:] for each in listed if each.startswith("? ")]
        known = {each[2:] for each in listed if not each.startswith("? ")}
        strays = stray.untracked(workspace.folder, others)
        if begun := [each for each in strays if stray.is_begun(workspace.folder, each)]:
            self._leave(stray.BEGUN, begun)
            for path in begun:
                shutil.rmtree(workspace.folder / path / ".git", ignore_errors=True)
            strays = stray.untracked(workspace.folder, others)
        for path, why in strays.items():
            self._leave(why, [path])
        ignore_files(workspace.store, (*self._litter, *map(gate.pattern, strays)))
        added = self._workspace.git("add", "--all", "--ignore-errors", check=False)
        return () if added.status == 0 else self._stage_each(), known

    def _stage_each(self) -> tuple[str, ...]:
        """Put file after file into the index: over some git adds none."""
        kinds = ("--modified", "--deleted", "--others", "--exclude-standard")
        paths = self._workspace.paths("ls-files", "--deduplicate", *kinds)
        refused, why = paths[ALONE_MOST:], "there are too many files"
        for path in paths[:ALONE_MOST]:
            add = ("update-index", "--add", "--remove", "--", path)
            done = self._workspace.git(*add, check=False)
            if not gate.is_safe(path):  # git takes only some of them
                self._leave(stray.UNSAFE, [path])
            elif done.status != 0:
                refused.insert(0, path)
                why = errors.git_reason(done.stderr)
        return (f"{path_list(refused)} could not be kept: {why}.",) if refused else ()

    def _unstage(self, own: str) -> tuple[str, tuple[PathChange, ...]]:
        """Take out of the index what is no work although it was added.

        Returns the commit that the rest stands on: the agent's own, or the base if its
        commits hold some of it; and the difference of index and base if nothing was
        taken out.
        """
        staged = self._staged()
        undone = list[PathChange]()
        for folder, news in self._made_again(staged).items():
            self._leave(stray.MADE_AGAIN, [folder])
            undone += news
        made = {each.path for each in undone}
        for each, why in stray.unfit([e for e in staged if e.path not in made]):
            self._leave(why, [each.path])
            undone.append(each)
        files = [each for each in staged if each.mode_after.startswith("100")]
        paths = [each.path for each in files]
        told = self._attributes(paths, "filter") if self._has_attributes(paths) else []
        shown, self._unfiltered = stray.unfiltered(self._workspace.folder, told)
        # What is no pointer of Git LFS in the base, either, stays as it is.
        unfit = shown.get(stray.NOT_IN_LFS, ())
        known = [e for e in files if e.path in unfit and e.mode_before != GONE]
        blobs = self._contents(each.blob_before for each in known)
        held = zip(known, blobs, strict=False)
        raw = {each.path for each, was in held if not was.startswith(stray.POINTER)}
        for why, found in shown.items():
            self._leave(why, found - raw)
            undone += [each for each in files if each.path in found - raw]
        if stray.NO_SUBMODULE in self._left_out:  # `git rm` of one edits this file, too
            about = [each for each in staged if each.path == ".gitmodules"]
            self._leave(stray.NO_SUBMODULE, (each.path for each in about))
            undone += about
        untouched = self._untouched(staged)
        gone = {each.path for each in (*undone, *untouched)}
        rewritten = self._rewritten([e for e in staged if e.path not in gone])
        self._leave(stray.LINE_ENDS, (each.path for each in rewritten))
        self._undo(undone)
        self._undo((*untouched, *rewritten), keeps_mode=True)
        base = self._workspace.base
        gone |= {each.path for each in rewritten}
        kept = {each.path for each in staged} - gone
        steps = self._steps(own) if own != base else ()
        is_mixed = any(
            each.path in gone or (each.path not in kept and stray.is_stray(each))
            for each in steps
        )
        is_whole = not (undone or untouched or rewritten)
        return base if is_mixed else own, staged if is_whole else ()

    def _staged(self) -> tuple[PathChange, ...]:
        asked = ("diff-index", "--cached", "--raw", "-z", self._workspace.base)
        return gate.parse_raw(self._workspace.git(*asked).stdout)

    def _undo(self, changes: Iterable[PathChange], *, keeps_mode: bool = False) -> None:
        lines = sorted(stray.undone(each, keeps_mode=keeps_mode) for each in changes)
        if lines:
            self._workspace.git(
                "update-index", "-z", "--index-info", stdin=b"".join(lines)
            )

    def _made_again(self, staged: Sequence[PathChange]) -> dict[str, list[PathChange]]:
        """Return what is added in folders that tools make, unless the base has them."""
        found = stray.made_folders(self._workspace.folder, staged)
        if not found:
            return found
        listed = self._workspace.paths(
            "ls-tree", "-r", "--name-only", self._workspace.base
        )
        paths = [*map(PurePosixPath, listed)]
        had = {above for path in paths for above in path.parents}
        had |= {path.with_name(f"_{path.suffix}") for path in paths if path.suffix}

        def is_new(made: str) -> bool:
            path = PurePosixPath(made)
            alike = path.with_name(f"_{path.suffix}") if path.suffix else path
            return had.isdisjoint((path, alike))

        return {made: news for made, news in found.items() if is_new(made)}

    def _rewritten(self, staged: Sequence[PathChange]) -> list[PathChange]:
        """Return the texts whose line ends an edit changed, as what sets them right.

        Where any file was changed in nothing else, line ends are what is asked for.
        """
        folder = self._workspace.folder
        sizes = dict(stray.sizes_of(stray.changed_files(staged), folder))
        texts = [e for e in staged if sizes.get(e.path, TEXT_BYTES) < TEXT_BYTES]
        pairs = ((each.blob_before, each.blob_after) for each in texts[:ALONE_MOST])
        held = self._contents(chain.from_iterable(pairs))
        found = []
        for each, before, after in zip(texts, held[::2], held[1::2], strict=False):
            meant = with_line_ends_of(before, after)
            if meant == before:
                return []
            if meant is not None:
                write = ("hash-object", "-w", "--stdin")
                blob = self._workspace.git(*write, stdin=meant).stdout.decode().strip()
                found.append(replace(each, blob_before=blob))
        told = self._attributes([each.path for each in found], *stray.CONVERTING)
        gits = {path for path, _, to in told if to not in ("unspecified", "unset")}
        return [each for each in found if each.path not in gits]

    def _untouched(self, staged: Sequence[PathChange]) -> list[PathChange]:
        """Return the files that are in the work tree as they were checked out.

        Git changes such a file where the base holds it in another form than the
        attributes ask for, such as with CRLF. It may where the work changes those.
        """
        files = stray.changed_files(staged)
        paths = [each.path for each in files]
        is_asked = any(each.path.endswith(ATTRIBUTES) for each in staged)
        if not files or not (is_asked or self._has_attributes(paths)):
            return []
        store, folder = self._workspace.store, self._workspace.folder
        index, again = store / "checked-out.index", store / "checked-out"
        index.unlink(missing_ok=True)
        now = self._attributes(paths, *stray.CONVERTING)
        self._workspace.git("read-tree", self._workspace.base, index=index)
        was = self._attributes(paths, *stray.CONVERTING, "--cached", index=index)
        asked_for = {path for path, *_ in {*was} ^ {*now}}
        write = ("checkout-index", "-z", "--stdin", f"--prefix={again}/")
        try:
            self._workspace.git(*write, stdin=_listed(paths), index=index)
            found = [e for e in files if stray.is_same(folder, again, e.path)]
        finally:
            shutil.rmtree(again, ignore_errors=True)
        return [each for each in found if each.path not in asked_for]

    def _note_odd_names(
        self, changes: Sequence[PathChange], base: set[str] | None
    ) -> None:
        """Note the new files whose names not every machine can hold.

        `base` are the names there without the changes; None: that is not known.
        """
        news = [each.path for each in changes if each.mode_before == GONE]
        if base is None and news:
            names = {*self._workspace.paths("ls-tree", "-r", "--name-only", "HEAD")}
        else:
            gone = (each.path for each in changes if each.mode_after == GONE)
            names = (base or set()).difference(gone).union(news)
        alike = {e: normalize("NFC", e).casefold() for e in (names if news else ())}
        counted = Counter(alike.values())
        self._leave(stray.UNPORTABLE, filter(gate.NOT_ON_WINDOWS.search, news))
        self._leave(stray.TWIN, (path for path in news if counted[alike[path]] > 1))

    def _steps(self, head: str) -> tuple[PathChange, ...]:
        new = self._workspace.git("rev-list", f"^{self._workspace.base}", head).stdout
        form = ("--stdin", "-m", "--no-commit-id")
        return gate.parse_raw(self._workspace.git(*_TREES, *form, stdin=new).stdout)

    def _patch_bytes(self) -> int:
        store = self._workspace.store
        if self.keeps_patch:
            self._diff("--patch", "--binary", f"--output={store / PATCH}")
        self._diff("--patch", "--text", f"--output={store / _TEXT_PATCH}")
        return (store / _TEXT_PATCH).stat().st_size

    def _diff(self, *form: str) -> bytes:
        ends = self._workspace.base, "HEAD"
        return self._workspace.git(*_DIFF, *form, *ends).stdout

    def _contents(self, blobs: Iterable[str]) -> list[bytes]:
        asked = "".join(f"{each}\n" for each in blobs).encode()
        cat = ("cat-file", "--batch")
        said = self._workspace.git(*cat, stdin=asked).stdout if asked else b""
        return [content for _, content in git.batched(said)]

    def _has_attributes(self, paths: Iterable[str]) -> bool:
        above = {each for path in paths for each in PurePosixPath(path).parents}
        files = (self._workspace.folder / each / ATTRIBUTES for each in above)
        is_listed = self._workspace.mentions(ATTRIBUTES.encode())
        return is_listed or any(map(os.path.lexists, files))

    def _attributes(
        self, paths: Sequence[str], *what: str, index: Path | None = None
    ) -> list[tuple[str, str, str]]:
        """Return each path with an attribute's name and its value there."""
        if not paths:
            return []
        ask = ("check-attr", "-z", "--stdin", *what)
        told = self._workspace.git(*ask, stdin=_listed(paths), index=index).stdout
        return [*zip(*[iter(os.fsdecode(told).split("\0"))] * 3, strict=False)]

    def _says_yes(self, *args: str) -> bool:
        return self._workspace.git(*args, check=False).status == 0


def _listed(paths: Iterable[str]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))
