"""Builds candidates: a task's work as commits on another base, by merge strategy.

libgit2 builds them in the mirror, without a work tree; git merges what conflicts or has
attributes. Authors are kept; committer and dates are fixed by the log, so that building
again gives the same ids.

A commit may claim any encoding for its message. Readers differ in whether they believe
it, so that bytes that mean nothing to us can be an order to a forge. What carries such
a claim, or is not UTF-8, is written again: what we write is always UTF-8.
https://git-scm.com/docs/git-commit#_discussion

git reads `.gitattributes` from a work tree, which a bare clone does not have. A folder
that holds these files alone stands in for it. An agent resolves what conflicts: the
labels of git's markers are the two commits, so that whatever is left over of them is
found again.
https://git-scm.com/docs/gitattributes#_performing_a_three_way_merge
https://git-scm.com/docs/git-merge-tree
"""

import codecs
import math
import re
import tempfile
from collections.abc import Container, Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import pygit2
from msgspec import Struct
from msgspec.structs import replace

from bot.repository.strangers_commits import has_twin
from convoy import text
from convoy.model.records import Strategy
from grite import git

_ATTRIBUTES_FILE: Final = ".gitattributes"
_WORDS: Final = (b"merge", b"binary")
"""No attribute changes how files are merged unless its file has one of these words."""
_OURS: Final = ("-c", "merge.ours.driver=true")
"""The driver that git's own manual tells people to define by this name.
https://git-scm.com/book/en/v2/Customizing-Git-Git-Attributes#_merge_strategies
"""
_MERGE: Final = ("-c", "merge.conflictStyle=merge", "merge-tree", "--write-tree")
NAMELESS: Final = "Work of an agent\n"
"""For a commit without a message, which git refuses to cherry-pick."""
_FORM: Final = ("-z", "--name-only", "--no-messages", "--allow-unrelated-histories")
_CONFLICTS: Final = 1
_CONFLICTS_MOST: Final = 1_000
_DAY_S: Final = 24 * 3_600
_UPDATES_MOST: Final = 20
_ATTRIBUTES_BYTES: Final = 100_000
"""Bytes; a longer file of attributes is left alone."""
_MERGED_BYTES: Final = 100_000


def _merged_by_git(
    repository: Path, base: pygit2.Tree, ours: str, theirs: str
) -> tuple[pygit2.Oid, tuple[str, ...]]:
    """Return the tree of a merge, and the files that conflict; moves no ref.

    Some of these, such as deleted ones, have no markers. Attributes count as `base` has
    them: by `* merge=ours` one side would throw away what the other changed meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="brat-merge-") as folder:
        known = ("ls-tree", "-r", "-z", "--name-only", str(base.id))
        listed = git.run(known, cwd=repository)
        for name in listed.stdout.split(b"\0"):
            path = PurePosixPath(name.decode(errors="surrogateescape"))
            if path.name != _ATTRIBUTES_FILE or ".." in path.parts:
                continue
            blob = blob_in(base, str(path), _ATTRIBUTES_BYTES)
            if blob is not None and not path.is_absolute():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(blob.data)
        line = (*_OURS, *_MERGE, *_FORM, ours, theirs)
        env = {"GIT_DIR": str(repository.resolve()), "GIT_WORK_TREE": folder}
        run = partial(git.run, line, cwd=Path(folder), env=env)
        done = run(check=False)
        if done.status not in (0, _CONFLICTS):
            run()
    made, *paths = done.stdout.decode(errors="surrogateescape").split("\0")
    # A path that is not UTF-8 has lone surrogates, which no event can carry.
    shown = {path.encode(errors="replace").decode() for path in paths if path}
    # So git calls a file whose name is a folder's on the other side.
    for side in (ours, theirs):
        shown = {path.removesuffix(f"~{side}") for path in shown}
    return pygit2.Oid(hex=made), tuple(sorted(shown))


def is_for_git(base: pygit2.Tree, ours: pygit2.Tree, theirs: pygit2.Tree) -> bool:
    """Whether attributes may say how a file is merged that both sides changed.

    Nor is one merged here that is large: lines that differ may take seconds.
    """
    here, there = (
        {each.new_file.path: each.new_file.id for each in base.diff_to_tree(one).deltas}
        for one in (ours, theirs)
    )
    paths = [path for path in here.keys() & there.keys() if here[path] != there[path]]
    blobs = (blob_in(tree, path) for tree in (ours, theirs) for path in paths)
    if any(blob.size > _MERGED_BYTES for blob in blobs if blob):
        return True
    folders = {folder for path in paths for folder in PurePosixPath(path).parents}
    names = (str(folder / _ATTRIBUTES_FILE) for folder in folders)
    files = (blob_in(base, name, _ATTRIBUTES_BYTES) for name in names)
    return any(word in file.data for file in files if file for word in _WORDS)


def blob_in(tree: pygit2.Tree, path: str, most: float = math.inf) -> pygit2.Blob | None:
    """Return a file; None: it is not there, is no file, or has more bytes."""
    try:
        found = tree[path]
    except (KeyError, UnicodeError):
        return None
    return found if isinstance(found, pygit2.Blob) and found.size <= most else None


def _only_adds(
    base: pygit2.Tree, sides: Iterable[pygit2.Tree], paths: Sequence[str]
) -> bool:
    """Whether both have these files as text, and neither changed or removed a line."""
    for side in sides:
        for path in paths:
            old, new = (blob_in(tree, path, _MERGED_BYTES) for tree in (base, side))
            if new is None or new.is_binary:
                return False
            hunks = old.diff(new).hunks if old is not None else ()
            if any(line.origin == "-" for hunk in hunks for line in hunk.lines):
                return False
    return True


def _marks(tree: pygit2.Tree, path: str) -> set[bytes]:
    """Return the lines of a file that look like a conflict's first or last."""
    blob = blob_in(tree, path)
    lines = blob.data.splitlines() if blob else ()
    return {line for line in lines if line.startswith((b"<<<<<<< ", b">>>>>>> "))}


_PRINTABLE: Final = bytes(range(0x20, 0x7F)) + rb"\x41 +AFs- ~{AA~} =41"
_LINE_ENDS: Final = re.compile(r"\r\n?")
_NO_NAME: Final = re.compile(r"[<>\x00-\x1f\x7f]")
_ENCODING: Final = b"encoding "


def message_of(commit: pygit2.Commit) -> str:
    """Return the message with plain line ends.

    An encoding is believed only if it reads ASCII as everybody does; what cannot be
    read is replaced.
    """
    text = _text(_parts(commit)[1], _claimed(commit))
    return _LINE_ENDS.sub("\n", text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def author_of(commit: pygit2.Commit) -> pygit2.Signature:
    """Return the author, whose name and address are UTF-8."""
    who, claimed = commit.author, _claimed(commit)
    if _is_utf8(who.raw_name) and _is_utf8(who.raw_email):
        return who
    name, email = (
        _NO_NAME.sub("", _text(raw, claimed)).strip() or "unknown"
        for raw in (who.raw_name, who.raw_email)
    )
    return pygit2.Signature(name, email, who.time, who.offset)


def is_plain(commit: pygit2.Commit) -> bool:
    """Whether everybody reads the commit alike: as UTF-8, with no other claim."""
    head, said = _parts(commit)
    lines = head.split(b"\n")
    if any(line.startswith(_ENCODING) for line in lines):
        return False
    return all(map(_is_utf8, lines)) and message_of(commit).encode() == said


def _parts(commit: pygit2.Commit) -> tuple[bytes, bytes]:
    """Return a commit's head and message: libgit2's own would end at a zero byte."""
    head, _, said = commit.read_raw().partition(b"\n\n")
    return head, said.lstrip(b"\n")


def _claimed(commit: pygit2.Commit) -> str | None:
    """Return the encoding that a commit claims; libgit2's own may raise at it."""
    for line in _parts(commit)[0].split(b"\n"):
        if line.startswith(_ENCODING):
            return line.removeprefix(_ENCODING).decode("ascii", "replace")
    return None


def _text(raw: bytes, claimed: str | None) -> str:
    try:
        return raw.decode(claimed if claimed and _keeps_ascii(claimed) else "utf-8")
    except UnicodeError:
        return raw.decode(errors="replace")


def _keeps_ascii(encoding: str) -> bool:
    """Whether an encoding reads printable ASCII as ASCII, unlike UTF-7 or UTF-16."""
    try:
        known = codecs.lookup(encoding).name
        if "escape" in known:  # Python's own
            return False
        return _PRINTABLE.decode(known) == _PRINTABLE.decode("ascii")
    except (LookupError, ValueError, TypeError):
        return False


def _is_utf8(raw: bytes) -> bool:
    return raw.decode(errors="replace").encode() == raw


BOT: Final = text.AUTHOR


class Conflicted(Struct, frozen=True):
    """The work does not apply; holds the conflicting paths."""

    paths: tuple[str, ...]
    only_adds: bool = False
    """Whether both sides only added lines to these files."""
    are_twins: bool = False
    """Whether their names differ from others only in case or Unicode form."""


class Piece(Struct, frozen=True, kw_only=True):
    """A candidate to build: `base..work` on `onto`."""

    base: str
    work: str
    onto: str
    message: str
    """For a squash or merge commit."""
    at: int
    """Committer date, unix ms."""
    target: str = ""
    """For a task that takes the target in: the target's commit."""
    is_again: bool = False
    """Whether CI has judged this before: the candidate must be another commit."""
    drops: bool = False
    """For a branch that takes its target in: whether it loses all that it has of the
    target since `base`, which people took out there by force."""
    strategy: Strategy | None = None
    """How a task's work is put there; None: in the convoy's way."""


class Composer:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._repo = pygit2.Repository(str(path))
        self._conflicts: dict[tuple[pygit2.Oid, ...], Conflicted] = {}
        """What conflicts, by the three trees. Of what merges, the tree may be gone."""

    def build(self, strategy: Strategy, piece: Piece) -> str | Conflicted:
        """Return the candidate commit; writes objects, moves no ref; deterministic."""
        match strategy:
            case "merge":
                base = self.base_of(piece.onto, piece.work) or piece.base
                tree = self._merged_tree(piece, base, piece.work)
                if isinstance(tree, Conflicted):
                    return tree
                bot, parents = _bot(piece.at), [piece.onto, piece.work]
                return self._write(bot, bot, piece.message, tree, parents)
            case "squash":
                return self._squash(piece)
            case "rebase":
                return self._rebase(piece)

    def updated(self, work: str, heads: Container[str], base: str) -> str:
        """Return what of `base` a commit merges into a head; empty: it adds more.

        The forge's button "Update branch" may have been pressed several times.
        """
        newest = ""
        for _ in range(_UPDATES_MOST):
            said, *parents = self.told(work)
            match parents:
                case [onto, taken] if text.inert(said) == said and (
                    self.is_ancestor(taken, base) and self.is_merge(onto, taken, work)
                ):
                    newest, work = newest or taken, onto
                case _:
                    return ""
            if onto in heads:
                return newest
        return ""

    def told(self, commit: str) -> tuple[str, ...]:
        """Return its message, then its parents."""
        made = self._commit(commit)
        return message_of(made), *map(str, made.parent_ids)

    def is_merge(self, ours: str, theirs: str, made: str) -> bool:
        """Whether a commit has the files that git makes of two."""
        piece = Piece(base=theirs, work=theirs, onto=ours, message="", at=0)
        merged = self.build("merge", piece)
        return isinstance(merged, str) and self.same_tree(merged, made)

    def unresolved(self, piece: Piece) -> str:
        """Return a merge, with git's markers, of `onto` and what `work` changed."""
        bot = _bot(piece.at)
        parents = [piece.onto, piece.work]
        if self.is_ancestor(piece.base, piece.onto) and not piece.drops:
            base = self._commit(piece.base).tree
            tree, _ = _merged_by_git(self._path, base, *parents)
        else:
            trees = (self._commit(each).tree for each in (piece.base, *parents))
            tree, _ = self._merged_on(*trees)
        return self._write(bot, bot, piece.message, tree, parents)

    def left_over(self, merge: str, work: str) -> tuple[str, ...]:
        """Return the files of `work` that a merge below it left unresolved."""
        made, kept = self._commit(merge), self._commit(work)
        beside = tuple(f"~{parent}" for parent in made.parent_ids)
        sides = [self._commit(str(parent)).tree for parent in made.parent_ids]
        marked = {
            delta.new_file.path
            for delta in sides[0].diff_to_tree(made.tree).deltas
            if (
                delta.new_file.path.endswith(beside)
                and blob_in(kept.tree, delta.new_file.path)
            )
            or _marks(kept.tree, delta.new_file.path)
            & _marks(made.tree, delta.new_file.path).difference(
                *(_marks(side, delta.new_file.path) for side in sides)
            )
        }
        return tuple(sorted(marked))

    def flattened(self, base: str, work: str) -> str:
        """Return the files of `work` as one commit on `base`; deterministic."""
        made = self._commit(work)
        said = text.inert(message_of(made))
        return self._write(*_as_brat(made), said, made.tree_id, [base])

    def target_of(self, merge: str) -> str:
        return str(self._commit(merge).parent_ids[1])

    def integrated(self, piece: Piece) -> str | Conflicted:
        """Return resolved work on an unresolved merge, `base`, as one merge commit.

        Its parents are `onto` and what is taken in; the merge with the markers is not
        among its ancestors.
        """
        began, taken = (str(each) for each in self._commit(piece.base).parent_ids)
        tree = self._merged_tree(piece, began, piece.work)
        if isinstance(tree, Conflicted):
            return tree
        author = author_of(self._commit(piece.work))
        parents = [taken] if piece.drops else [piece.onto, taken]
        return self._write(author, _bot(piece.at), piece.message, tree, parents)

    def inert(self, base: str, work: str, target: str | None = None, *, at: int) -> str:
        """Return `work` as brat's, with messages that no forge acts on; deterministic.

        An agent could write any name and time into a commit. Those that `target` holds
        are not its own and stay. The result is `work` itself if all of `base..work` is
        brat's and inert already, and everybody reads it alike. A time before the base's
        or a day after `at`, unix ms, becomes that of `at`.
        """
        now = at // 1000
        likely = range(self._commit(base).committer.time, now + _DAY_S)
        made: dict[str, str] = {}
        landed = [target] if target and target in self._repo else []
        for commit in self._commits(base, work, *landed):
            old = [str(parent) for parent in commit.parent_ids]
            parents = [made.get(parent, parent) for parent in old]
            said = message_of(commit)
            message = text.inert(said)
            if not message.strip():
                message = NAMELESS
            own = _as_brat(commit, likely, now)
            is_kept = message == said and parents == old
            is_kept &= own == (commit.author, commit.committer)
            if not (is_kept and is_plain(commit)):
                made[str(commit.id)] = self._write(
                    *own, message, commit.tree_id, parents
                )
        return made.get(work, work)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` contains `old`."""
        return old == new or (old in self._repo and self._repo.descendant_of(new, old))

    def same_tree(self, one: str, other: str) -> bool:
        return self._commit(one).tree_id == self._commit(other).tree_id

    def base_of(self, one: str, other: str) -> str | None:
        found = self._repo.merge_base(one, other)
        return str(found) if found else None

    def _commit(self, commit: str) -> pygit2.Commit:
        return self._repo[commit].peel(pygit2.Commit)

    def _squash(self, piece: Piece) -> str | Conflicted:
        tree = self._merged_tree(piece, piece.base, piece.work)
        if isinstance(tree, Conflicted):
            return tree
        commits = self._commits(piece.base, piece.work)
        own = [each for each in commits if len(each.parent_ids) == 1]
        author = author_of(own[-1] if own else self._commit(piece.work))
        said = [message_of(commit) for commit in own]
        told = text.squashed(piece.message, said)
        return self._write(author, _bot(piece.at), told, tree, [piece.onto])

    def _rebase(self, piece: Piece) -> str | Conflicted:
        """Replay each commit; on an unmoved base the work lands as it is.

        Where it is judged again, the candidate is another commit of the same files.
        """
        commits = self._commits(piece.base, piece.work)
        if any(len(commit.parent_ids) != 1 for commit in commits):
            return self._squash(piece)  # a merge cannot be replayed without loss
        if piece.base == piece.onto and not piece.is_again:
            return piece.work
        onto = piece.onto
        for commit in commits:
            parent = str(commit.parent_ids[0])
            next_one = replace(piece, onto=onto)
            tree = self._merged_tree(next_one, parent, str(commit.id))
            if isinstance(tree, Conflicted):
                return tree
            if tree == self._commit(onto).tree_id:
                continue  # other work has landed the change already
            said = text.inert(message_of(commit))
            author, bot = author_of(commit), _bot(piece.at)
            onto = self._write(author, bot, said, tree, [onto])
        return onto

    def _commits(self, base: str, work: str, *others: str) -> list[pygit2.Commit]:
        """Return the commits of `base..work` that no other holds, oldest first."""
        order = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE
        walk = self._repo.walk(work, order)
        for commit in (base, *others):
            walk.hide(commit)
        return list(walk)

    def _merged_tree(
        self, piece: Piece, ancestor: str, commit: str
    ) -> pygit2.Oid | Conflicted:
        """Merge what a commit changed since its ancestor into what it stands on."""
        commits = (ancestor, piece.onto, commit)
        base, onto, work = (self._commit(each).tree for each in commits)
        trees = base.id, onto.id, work.id
        if trees in self._conflicts:  # work that waits is tried again at each look
            return self._conflicts[trees]
        if not is_for_git(base, onto, work):
            index = self._repo.merge_trees(base, onto, work)
            if index.conflicts is None:
                tree = index.write_tree(self._repo)
                twins = self._twins(onto, work, tree)
                return Conflicted(twins, are_twins=True) if twins else tree
        tree, paths = self._merged_on(base, onto, work)
        if paths:
            if len(self._conflicts) >= _CONFLICTS_MOST:
                self._conflicts.clear()
            only_adds = _only_adds(base, (onto, work), paths)
            self._conflicts[trees] = Conflicted(paths, only_adds)
            return self._conflicts[trees]
        twins = self._twins(onto, work, tree)
        return Conflicted(twins, are_twins=True) if twins else tree

    def _twins(
        self, onto: pygit2.Tree, work: pygit2.Tree, merged: pygit2.Oid
    ) -> tuple[str, ...]:
        """Return what work adds beside another's name; its own pairs are not blamed."""
        tree = self._repo[merged].peel(pygit2.Tree)
        new = (each.new_file.path for each in onto.diff_to_tree(tree).deltas)
        return tuple(
            path
            for path in new
            if path not in onto and has_twin(tree, path) and not has_twin(work, path)
        )

    def _merged_on(
        self, base: pygit2.Tree, onto: pygit2.Tree, work: pygit2.Tree
    ) -> tuple[pygit2.Oid, tuple[str, ...]]:
        root = self._bare(base, [])  # git takes the base from the commits' history
        ours, theirs = (self._bare(tree, [root]) for tree in (onto, work))
        return _merged_by_git(self._path, base, ours, theirs)

    def _bare(self, tree: pygit2.Tree, parents: list[str]) -> str:
        nobody = _bot(0)
        return self._write(nobody, nobody, "", tree.id, parents)

    def _write(
        self,
        author: pygit2.Signature,
        committer: pygit2.Signature,
        message: str,
        tree: pygit2.Oid,
        parents: list[str],
    ) -> str:
        made = self._repo.create_commit(None, author, committer, message, tree, parents)
        return str(made)


def _as_brat(
    commit: pygit2.Commit, likely: range | None = None, now: int = 0
) -> tuple[pygit2.Signature, pygit2.Signature]:
    """Return brat as the author and as the committer, at the same times, if likely."""
    author, committer = (
        pygit2.Signature(*BOT, each.time, each.offset)
        if likely is None or each.time in likely
        else pygit2.Signature(*BOT, now, 0)
        for each in (commit.author, commit.committer)
    )
    return author, committer


def _bot(at: int) -> pygit2.Signature:
    name, email = BOT
    return pygit2.Signature(name, email, at // 1000, 0)
