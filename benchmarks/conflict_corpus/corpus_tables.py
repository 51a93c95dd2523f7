"""The corpus's figures as tables for docs/benchmarks.md."""

from collections import Counter
from collections.abc import Iterator, Mapping

from benchmarks.conflict_corpus.corpus_figures import Figures
from benchmarks.conflict_corpus.shared_files import SharedFiles
from benchmarks.conflict_corpus.verdicts import Verdict


def by_way(total: Figures) -> Iterator[str]:
    """Give a row for each way, over all histories."""
    heads = [*(verdict.value for verdict in Verdict if verdict != Verdict.CONFLICT)]
    yield _row("way", "files resolved", *heads, "merges resolved", "equal")
    yield _row(*["---"] * (len(heads) + 4))
    for name, way in total.ways.items():
        done = _resolved(way.files)
        yield _row(
            name,
            _share(done, total.files),
            *(_share(way.files[Verdict(each)], done) for each in heads),
            _share(_resolved(way.merges), total.merges),
            str(way.merges[Verdict.EQUAL]),
        )


def by_project(every: Mapping[str, Figures]) -> Iterator[str]:
    """Give a row for each history: of its files, resolved and of those equal."""
    names = [*next(iter(every.values())).ways]
    yield _row("project", "merges", "files", "others", "conflicts only", *names)
    yield _row(*["---"] * (5 + len(names)))
    for name, told in every.items():
        cells = (
            f"{_resolved(way.files)}, {way.files[Verdict.EQUAL]}"
            for way in told.ways.values()
        )
        counts = (told.merges, told.files, told.others, told.kept)
        yield _row(name, *map(str, counts), *cells)


def by_sharing(every: Mapping[str, SharedFiles]) -> Iterator[str]:
    """Give a row for each history, and one for all: merges that share a file."""
    yield _row("project", "merges", "share a file", "of those conflict", "conflicts")
    yield _row(*["---"] * 5)
    total = sum(every.values(), SharedFiles())
    for name, told in {**every, "all": total}.items():
        yield _row(
            name,
            str(told.merges),
            _share(told.sharing, told.merges),
            _share(told.both, told.sharing),
            str(told.conflicts),
        )


def _resolved(counts: Counter[Verdict]) -> int:
    return counts.total() - counts[Verdict.CONFLICT]


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
