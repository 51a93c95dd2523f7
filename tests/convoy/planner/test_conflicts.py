"""How likely two changes collide, from what is known before they are made."""

from collections.abc import Mapping, Sequence

from hypothesis import given, strategies as st

from convoy.planner.conflicts import Past, risk
from convoy.planner.hunks import Hunk

TOP: tuple[Hunk, ...] = ((2, 0, 3, 1),)
"""A line more near the top."""


def past(
    commits: Sequence[tuple[str, ...]] = (),
    hunks: Mapping[str, Sequence[tuple[Hunk, ...]]] | None = None,
    lines: Mapping[str, int] | None = None,
) -> Past:
    known, long = hunks or {}, lines or {}
    return Past(
        commits=commits,
        hunks=lambda file: known.get(file, ()),
        lines=lambda file: long.get(file, 100),
    )


def spread(count: int) -> list[tuple[Hunk, ...]]:
    return [((number * 40 + 1, 1, number * 40 + 1, 1),) for number in range(count)]


def test_what_has_nothing_in_common_does_not_collide() -> None:
    assert risk(["src/a.py"], ["docs/b.md"], past()).chance == 0


def test_the_same_folder_says_little_and_the_same_file_much() -> None:
    folder = risk(["src/a.py"], ["src/b.py"], past())
    file = risk(["src/a.py"], ["src/a.py"], past())

    assert 0 < folder.chance < 0.05 < file.chance
    assert (folder.files, file.files) == ((), ("src/a.py",))


def test_a_file_that_all_change_at_the_same_place_is_likelier() -> None:
    known = past(hunks={"LOG.md": [TOP] * 10, "table.py": spread(10)})
    log = risk(["LOG.md"], ["LOG.md"], known)
    table = risk(["table.py"], ["table.py"], known)

    assert log.chance > 2 * table.chance


def test_a_long_file_is_less_likely_than_a_short_one() -> None:
    known = past(lines={"a.py": 20, "b.py": 3_000})

    assert risk(["a.py"], ["a.py"], known).chance > (
        risk(["b.py"], ["b.py"], known).chance
    )


def test_what_always_changed_with_both_is_where_they_meet() -> None:
    commits = [("src/a.py", "LOG.md"), ("src/b.py", "LOG.md")] * 10
    known = past(commits, {"LOG.md": [TOP] * 20})
    found = risk(["src/a.py"], ["src/b.py"], known)

    assert found.files == ("LOG.md",)
    assert found.chance > risk(["src/a.py"], ["src/b.py"], past()).chance
    assert risk(["src/a.py"], ["src/b.py"], known, beyond=0).files == ()


def test_a_folder_is_as_likely_as_what_changed_in_it() -> None:
    known = past([("src/a.py",), ("src/a.py",), ("src/b.py",)] * 5)
    often = risk(["src/"], ["src/a.py"], known)
    seldom = risk(["src/"], ["src/b.py"], known)

    assert often.chance > seldom.chance > 0


def test_a_commit_of_everything_says_nothing() -> None:
    everything = tuple(f"src/{number}.py" for number in range(100))

    assert risk(["src/1.py"], ["src/2.py"], past([everything] * 9)).files == ()


names = st.sampled_from(["a.py", "src/", "src/b.py", "src/c/", "docs/d.md"])
declared = st.lists(names, max_size=4, unique=True)


@given(declared, declared, st.lists(declared.map(tuple), max_size=5))
def test_it_is_a_chance_and_the_same_both_ways(
    one: list[str], other: list[str], commits: list[tuple[str, ...]]
) -> None:
    known = past(commits)
    here, there = risk(one, other, known), risk(other, one, known)

    assert 0 <= here.chance <= 1
    assert abs(here.chance - there.chance) < 1e-9
    assert here.files == there.files
