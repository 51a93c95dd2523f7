"""How well colliding changes are foreseen: `python -m benchmarks.conflicts PATH...`.

For pairs of past changes of each history: whether git says that they conflict, and
whether that is foreseen from their paths and from earlier history, by brat and by the
two naive rules (they share a file; they share a folder). A JSON line a repository.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pygit2

from benchmarks.history_pairs import EARLIER, Pair, Step, main_line, pairs
from convoy.planner.ground import RECENT, FileHistory, Hunk, collision_risk, reach

FORETOLD: float = 0.25
"""From this chance on a plan would call it likely."""
RECALLS: tuple[float, ...] = (0.9, 0.8)


@dataclass(frozen=True)
class Seen:
    """A pair as it was foreseen, and what became of it."""

    same_file: bool
    same_folder: bool
    chance: float
    conflict: bool


def figures(
    repository: Path, most: int, steps: int, declared: float
) -> dict[str, object]:
    """Return the figures of one history.

    Args:
        repository: a git repository, with its history.
        most: so many pairs are looked for.
        steps: so far back, in steps of the main line.
        declared: which part of its files a change tells of before it is made.
    """
    line = main_line(repository, steps)
    with tempfile.TemporaryDirectory(prefix="brat-conflicts-") as folder:
        found = [*pairs(repository, line, most, Path(folder) / "scratch.git")]
    repo = pygit2.Repository(str(repository))
    foreseen = _Foreseen(repo, line, declared)
    return {
        "repository": repository.name,
        **_told([foreseen(each) for each in found]),
    }


class _Foreseen:
    """What can be known of a pair before either change is made."""

    def __init__(
        self, repo: pygit2.Repository, line: Sequence[Step], declared: float
    ) -> None:
        self._repo, self._line, self._declared = repo, line, declared
        self._names = [tuple(step.hunks) for step in line]
        self._places: dict[str, list[int]] = {}
        for place, step in enumerate(line):
            for name in step.hunks:
                self._places.setdefault(name, []).append(place)

    def __call__(self, pair: Pair) -> Seen:
        one, other = self._told(pair.earlier), self._told(pair.later)
        commits = self._names[pair.before : pair.before + EARLIER]
        mine = reach(one, commits, 1 - self._declared)
        its = reach(other, commits, 1 - self._declared)
        tree = self._repo[self._line[pair.before].commit].peel(pygit2.Tree)
        past = FileHistory(
            hunks=lambda file: self._hunks(file, pair.before),
            lines=lambda file: _lines(tree, file),
        )
        return Seen(
            same_file=bool({*one} & {*other}),
            same_folder=bool({*map(_folder, one)} & {*map(_folder, other)}),
            chance=collision_risk(mine, its, past).chance,
            conflict=pair.conflict,
        )

    def _told(self, step: Step) -> tuple[str, ...]:
        """Return the part of a change's files that it declares, at least one."""
        names = sorted(
            step.hunks,
            key=lambda name: sha256(f"{step.commit}{name}".encode()).digest(),
        )
        return tuple(names[: max(1, round(len(names) * self._declared))])

    def _hunks(self, file: str, before: int) -> tuple[tuple[Hunk, ...], ...]:
        behind = (place for place in self._places.get(file, ()) if place >= before)
        return tuple(self._line[place].hunks[file] for place in islice(behind, RECENT))


def _lines(tree: pygit2.Tree, file: str) -> int:
    try:
        found = tree[file]
    except KeyError:
        return 0
    return found.data.count(b"\n") if isinstance(found, pygit2.Blob) else 0


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _told(seen: Sequence[Seen]) -> dict[str, object]:
    conflicts = sum(each.conflict for each in seen)
    told: dict[str, object] = {"pairs": len(seen), "conflicts": conflicts}
    if not conflicts:
        return told
    folder = _rule(seen, lambda each: each.same_folder)
    ranked = sorted(seen, key=lambda each: -each.chance)
    level = _precision_at(ranked, folder["recall"])
    return {
        **told,
        "same_folder": folder,
        "same_file": _rule(seen, lambda each: each.same_file),
        "at_that_recall": level,
        "times_same_folder": round(level / folder["precision"], 2),
        "aim": 2.0,
        **{f"at_recall_{want}": _precision_at(ranked, want) for want in RECALLS},
        "foretold": _rule(seen, lambda each: each.chance >= FORETOLD),
    }


def _rule(seen: Sequence[Seen], says: Callable[[Seen], bool]) -> dict[str, float]:
    """Return precision and recall of a rule that says yes or no."""
    named = [each.conflict for each in seen if says(each)]
    conflicts = sum(each.conflict for each in seen)
    return {
        "precision": round(sum(named) / max(1, len(named)), 3),
        "recall": round(sum(named) / conflicts, 3),
    }


def _precision_at(ranked: Sequence[Seen], recall: float) -> float:
    """Return the precision where this recall is first reached; equals go together."""
    conflicts, met = sum(each.conflict for each in ranked), 0
    for count, each in enumerate(ranked, 1):
        met += each.conflict
        last = count == len(ranked) or ranked[count].chance < each.chance
        if last and met / conflicts >= recall - 0.0005:
            return round(met / count, 3)
    return 0.0


def main() -> None:
    """Print the figures of each repository that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=3_000)
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument(
        "--declared",
        type=float,
        default=1.0,
        help="the part of its files that a change tells of; the rest is kept back",
    )
    args = parser.parse_args()
    for repository in args.repositories:
        told = figures(repository, args.pairs, args.steps, args.declared)
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
