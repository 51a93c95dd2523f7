"""Pairs of past changes of any git history, and whether git could merge the two.

A change is a step of the main line: a commit, or a merge with all it brought. For each
pair the later change is made to start where the earlier one did, by real merges: first
what lies between the two is taken out of it, then the earlier change. Where the first
fails the two have no common base, and are no pair; where the second does, they would
have conflicted.

Nothing is written into the repository: new objects go to a scratch one beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pygit2

from convoy.planner.ground import Hunk, hunks
from grite import git

APART: int = 8
"""So many steps lie at most from one change of a pair to the other."""
EARLIER: int = 500
"""So much history a pair has before it at least."""
LARGEST: int = 300
"""A change of more files is none that a task would make."""
_DEADLINE_S: float = 1_800.0
_WHO = pygit2.Signature("Nobody", "nobody@example.org", 1, 0)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of the main line."""

    commit: str
    hunks: dict[str, tuple[Hunk, ...]]
    """What it did to each file it changed."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two changes that could start at the same commit."""

    before: int
    """The place of that commit in the main line: what came earlier lies behind it."""
    earlier: Step
    later: Step
    conflict: bool


def main_line(repository: Path, most: int) -> list[Step]:
    """Return the newest steps of the history that HEAD has, the newest first."""
    asked = ("log", "--first-parent", "--diff-merges=first-parent", f"-n{most}")
    how = ("-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv")
    said = git.run(
        ["-c", "core.quotePath=false", *asked, *how, "--format=%x01%H"],
        cwd=repository,
        deadline_s=_DEADLINE_S,
    ).stdout
    steps = f"\n{said.decode(errors='replace')}".split("\n\x01")[1:]
    return [_step(text) for text in steps]


def _step(text: str) -> Step:
    commit, *lines = text.split("\n")
    return Step(commit=commit, hunks=hunks(lines))


def pairs(
    repository: Path,
    line: Sequence[Step],
    most: int,
    scratch: Path,
    earlier: int = EARLIER,
) -> Iterator[Pair]:
    """Give at most `most` pairs, from all over the line; blocking, for minutes.

    Args:
        repository: where the line was read.
        line: its main line, the newest first.
        most: so many pairs are looked for; some have no common base.
        scratch: a folder that is not there yet.
        earlier: so many steps lie before each pair at least.
    """
    repo = _beside(repository, scratch)
    chosen = [*_chosen(line, most, earlier)]
    bases = [line[first + 1].commit for first, _ in chosen]
    firsts = [line[first].commit for first, _ in chosen]
    befores = [line[last + 1].commit for _, last in chosen]
    lasts = [line[last].commit for _, last in chosen]
    near = _merged(scratch, repo, befores, firsts, lasts)
    kept = [place for place, tree in enumerate(near) if tree]
    alone = _merged(
        *(scratch, repo, [firsts[place] for place in kept]),
        *([bases[place] for place in kept], [near[place] for place in kept]),
    )
    for place, tree in zip(kept, alone, strict=True):
        first, last = chosen[place]
        yield Pair(
            before=first + 1,
            earlier=line[first],
            later=line[last],
            conflict=not tree,
        )


def _chosen(line: Sequence[Step], most: int, earlier: int) -> Iterator[tuple[int, int]]:
    """Give places of an earlier and a later step."""
    places = [
        (place, place - apart)
        for place in range(1, len(line) - earlier)
        for apart in range(1, min(place, APART) + 1)
    ]
    count = min(most, len(places))
    for pair in Random(0).sample(places, count):  # noqa: S311  the same each time
        if all(0 < len(line[place].hunks) <= LARGEST for place in pair):
            yield pair


def _beside(repository: Path, scratch: Path) -> pygit2.Repository:
    """Return a new repository that reads the other one's objects, too."""
    said = git.run(
        ["rev-parse", "--path-format=absolute", "--git-common-dir"], cwd=repository
    )
    pygit2.init_repository(str(scratch), bare=True)
    objects = Path(said.stdout.decode().strip()) / "objects"
    (scratch / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    return pygit2.Repository(str(scratch))


def _merged(
    scratch: Path,
    repo: pygit2.Repository,
    bases: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
) -> list[str]:
    """Merge all by one git process; return the trees, empty where it conflicts.

    All three are commits or trees. Git finds the base by history, so they get a new
    one: git 2.39 cannot be told a base when it merges many.
    """
    asked = "".join(
        f"{_child(repo, our, root)} {_child(repo, their, root)}\n"
        for our, their, root in zip(
            ours, theirs, (_child(repo, base) for base in bases), strict=True
        )
    )
    said = git.run(
        ["merge-tree", "--stdin", "--name-only", "--no-messages", "-z"],
        cwd=scratch,
        stdin=asked.encode(),
        deadline_s=_DEADLINE_S,
    ).stdout.split(b"\0")
    return [*_trees(said)]


def _child(repo: pygit2.Repository, like: str, *above: str) -> str:
    tree = repo[like].peel(pygit2.Tree).id
    parents = [pygit2.Oid(hex=each) for each in above]
    return str(repo.create_commit(None, _WHO, _WHO, "A state", tree, parents))


def _trees(said: Sequence[bytes]) -> Iterator[str]:
    """Read `1 TREE` and `0 TREE FILE...`, each with an empty field at its end.

    https://git-scm.com/docs/git-merge-tree#_input_format
    """
    record: list[bytes] = []
    for each in said:
        if each:
            record.append(each)
        elif record:
            yield record[1].decode() if record[0] == b"1" else ""
            record = []
