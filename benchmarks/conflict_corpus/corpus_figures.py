"""What each way made of a history's conflicts, counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.conflict_corpus.conflict_hunks import kept_by_people
from benchmarks.conflict_corpus.conflicting_merges import (
    ConflictFile,
    ConflictingMerge,
)
from benchmarks.conflict_corpus.merging_ways import Way, attributes
from benchmarks.conflict_corpus.verdicts import Verdict, judged

ATTRIBUTES: str = "git, .gitattributes"


@dataclass
class WayFigures:
    """What one way made of the files, and of the merges."""

    files: Counter[Verdict] = field(default_factory=Counter)
    merges: Counter[Verdict] = field(default_factory=Counter)
    """A merge is what the worst of its files is."""

    def __add__(self, other: "WayFigures") -> "WayFigures":
        return WayFigures(self.files + other.files, self.merges + other.merges)


@dataclass
class Figures:
    """The figures of a history."""

    merges: int = 0
    files: int = 0
    others: int = 0
    kept: int = 0
    """Files in which people changed nothing but the conflicts."""
    ways: dict[str, WayFigures] = field(default_factory=dict)

    def __add__(self, other: "Figures") -> "Figures":
        names = dict.fromkeys((*self.ways, *other.ways))
        nothing = WayFigures()
        return Figures(
            self.merges + other.merges,
            self.files + other.files,
            self.others + other.others,
            self.kept + other.kept,
            {
                name: self.ways.get(name, nothing) + other.ways.get(name, nothing)
                for name in names
            },
        )


_WORST = (
    Verdict.CONFLICT,
    Verdict.UNREADABLE,
    Verdict.DIFFERS,
    Verdict.ORDER,
    Verdict.SPACING,
    Verdict.EQUAL,
)


def counted(merges: Iterable[ConflictingMerge], ways: Mapping[str, Way]) -> Figures:
    """Merge every file of the merges in every way, and compare."""
    figures = Figures(ways={name: WayFigures() for name in (ATTRIBUTES, *ways)})
    for merge in merges:
        figures.merges += 1
        figures.files += len(merge.files)
        figures.others += merge.others
        figures.kept += sum(map(kept_by_people, merge.files))
        every = [_verdicts(file, ways) for file in merge.files]
        for name, told in figures.ways.items():
            verdicts = [each[name] for each in every]
            told.files.update(verdicts)
            verdicts += [Verdict.CONFLICT] * merge.others
            told.merges[min(verdicts, key=_WORST.index)] += 1
    return figures


def _verdicts(file: ConflictFile, ways: Mapping[str, Way]) -> dict[str, Verdict]:
    asked = {ATTRIBUTES: attributes(file.driver), **ways}
    return {name: judged(file, way(file)) for name, way in asked.items()}
