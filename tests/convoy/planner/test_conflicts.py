"""How likely two changes collide, from what is known before they are made."""

from collections.abc import Mapping, Sequence

from hypothesis import given, strategies as st

from convoy.planner.ground import (
    BEYOND,
    RECENT,
    CollisionRisk,
    FileHistory,
    Hunk,
    collision_risk as reckoned,
    reach,
)

TOP: tuple[Hunk, ...] = ((2, 0, 3, 1),)
"""A line more near the top."""


def risk(
    one: Sequence[str],
    other: Sequence[str],
    commits: Sequence[tuple[str, ...]] = (),
    hunks: Mapping[str, Sequence[tuple[Hunk, ...]]] | None = None,
    lines: Mapping[str, int] | None = None,
    beyond: float = BEYOND,
) -> CollisionRisk:
    known, long = hunks or {}, lines or {}
    past = FileHistory(
        hunks=lambda file: known.get(file, ()),
        lines=lambda file: long.get(file, 100),
    )
    mine, its = (reach(paths, commits, beyond) for paths in (one, other))
    return reckoned(mine, its, past)


def spread(count: int) -> list[tuple[Hunk, ...]]:
    return [((number * 40 + 1, 1, number * 40 + 1, 1),) for number in range(count)]


def test_what_has_nothing_in_common_does_not_collide() -> None:
    assert risk(["src/a.py"], ["docs/b.md"]).chance == 0


def test_the_same_folder_says_little_and_the_same_file_much() -> None:
    folder = risk(["src/a.py"], ["src/b.py"])
    file = risk(["src/a.py"], ["src/a.py"])

    assert 0 < folder.chance < 0.05 < file.chance
    assert (folder.files, file.files) == ((), ("src/a.py",))


def test_a_file_that_all_change_at_the_same_place_is_likelier() -> None:
    known = {"LOG.md": [TOP] * 10, "table.py": spread(10)}
    log = risk(["LOG.md"], ["LOG.md"], hunks=known)
    table = risk(["table.py"], ["table.py"], hunks=known)

    assert log.chance > 2 * table.chance


def test_neighbouring_lines_meet_and_others_do_not() -> None:
    wrote: tuple[Hunk, ...] = ((10, 2, 10, 2),)
    next_to, far_off = (((12, 1, 12, 1),), ((13, 1, 13, 1),))
    known = {"a.py": [next_to, wrote] * 5, "b.py": [far_off, wrote] * 5}
    near, far = (risk([file], [file], hunks=known) for file in known)

    assert near.chance > far.chance


def test_lines_that_are_put_in_stand_between_two_others() -> None:
    wrote: tuple[Hunk, ...] = ((10, 2, 10, 2),)
    behind, beyond = (((11, 0, 12, 1),), ((12, 0, 13, 1),))
    known = {"a.py": [behind, wrote] * 5, "b.py": [beyond, wrote] * 5}
    near, far = (risk([file], [file], hunks=known) for file in known)

    assert near.chance > far.chance


def test_what_was_long_ago_counts_no_more() -> None:
    calm, restless = spread(RECENT), [TOP] * 50
    known = {"a.py": calm, "b.py": [*calm, *restless]}
    new, old = (risk([file], [file], hunks=known) for file in known)

    assert new == CollisionRisk(old.chance, ("a.py",))


def test_a_long_file_is_less_likely_than_a_short_one() -> None:
    lines = {"a.py": 20, "b.py": 3_000}
    short, long = (risk([file], [file], lines=lines) for file in lines)

    assert short.chance > long.chance


def test_what_always_changed_with_both_is_where_they_meet() -> None:
    commits = [("src/a.py", "LOG.md"), ("src/b.py", "LOG.md")] * 10
    known = {"LOG.md": [TOP] * 20}
    found = risk(["src/a.py"], ["src/b.py"], commits, known)

    assert found.files == ("LOG.md",)
    assert found.chance > risk(["src/a.py"], ["src/b.py"]).chance
    assert risk(["src/a.py"], ["src/b.py"], commits, known, beyond=0).files == ()


def test_what_is_not_declared_counts_for_half() -> None:
    commits = [("src/a.py", "src/b.py")] * 8

    assert reach(["src/a.py"], commits).files == {"src/a.py": 1, "src/b.py": 0.4}
    assert reach(["src/"], commits).files == {"src/a.py": 0.8, "src/b.py": 0.8}


def test_a_folder_is_as_likely_as_what_changed_in_it() -> None:
    commits = [("src/a.py",), ("src/a.py",), ("src/b.py",)] * 5
    often = risk(["src/"], ["src/a.py"], commits)
    seldom = risk(["src/"], ["src/b.py"], commits)

    assert often.chance > seldom.chance > 0


def test_a_commit_of_everything_says_nothing() -> None:
    everything = tuple(f"src/{number}.py" for number in range(100))

    assert risk(["src/1.py"], ["src/2.py"], [everything] * 9).files == ()


names = st.sampled_from(["a.py", "src/", "src/b.py", "src/c/", "docs/d.md"])
declared = st.lists(names, max_size=4, unique=True)


@given(declared, declared, st.lists(declared.map(tuple), max_size=5))
def test_it_is_a_chance_and_the_same_both_ways(
    one: list[str], other: list[str], commits: list[tuple[str, ...]]
) -> None:
    here, there = risk(one, other, commits), risk(other, one, commits)

    assert 0 <= here.chance <= 1
    assert abs(here.chance - there.chance) < 1e-9
    assert here.files == there.files
