"""Which past changes of a history would have collided, as git's own merges say."""

from pathlib import Path

from benchmarks.history_pairs import main_line, pairs
from tests.bot.history import History

SAME = "same.txt"


def test_pairs_conflict_where_git_cannot_merge_them(tmp_path: Path) -> None:
    history = History(tmp_path / "project.git")
    files = {SAME: b"begun\n"}
    tip = history.commit(files)
    for number in range(1, 10):
        name = SAME if number % 3 == 0 else f"own-{number}.txt"
        files[name] = b"%d\n" % number
        tip = history.commit(files, tip)
    history.point("HEAD", tip)

    line = main_line(history.path, 100)
    found = [*pairs(history.path, line, 1_000, tmp_path / "scratch.git", earlier=1)]

    assert [[*step.hunks] for step in line[:3]] == [
        [SAME],
        ["own-8.txt"],
        ["own-7.txt"],
    ]
    together = [
        pair for pair in found if {*pair.earlier.hunks, *pair.later.hunks} == {SAME}
    ]
    assert len(together) == 2
    assert all(pair.conflict for pair in together)
    assert not any(pair.conflict for pair in found if pair not in together)
    # Of change 6 the third cannot be taken out, of 9 the sixth: 2 and 5 are no pairs.
    assert len(found) == sum(min(place, 8) for place in range(1, 9)) - 2 - 5
