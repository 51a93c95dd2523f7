"""Candidates: what lands is the work, whole, once and by its author."""

from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import get_args

import pytest

from bot.repository.compose import BOT, Composer, Conflicted, Piece
from convoy.model.records import Strategy
from grite import git
from tests.bot.history import ANN, BEA, T0, History

AT = 1_800_000_000_123
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BASE = {"a": b"1\n", "b": b"1\n"}


class Forked:
    def __init__(self, history: History) -> None:
        self.base = history.commit(BASE)
        self.first = history.commit(
            BASE | {"a": b"2\n"}, self.base, message="Two\n", by=BEA, at=T0 + 60
        )
        self.work = history.commit(
            BASE | {"a": b"3\n"}, self.first, message="Three\n\nYes.\n"
        )
        self.onto = history.commit(BASE | {"b": b"2\n"}, self.base, by=BEA)

    @property
    def piece(self) -> Piece:
        return piece(self.base, self.work, self.onto)


def piece(base: str, work: str, onto: str) -> Piece:
    return Piece(base=base, work=work, onto=onto, message="Task 1\n", at=AT)


def built(made: str | Conflicted) -> str:
    assert isinstance(made, str), made
    return made


# --- the three strategies -------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_git_finds_no_fault_in_a_candidate(
    strategy: Strategy, history: History, composer: Composer
) -> None:
    """It holds the work on what it stands on, by the bot, and moves no ref."""
    forked = Forked(history)

    made = built(composer.build(strategy, forked.piece))

    git.run(["fsck", "--strict", made], cwd=history.path)
    assert history.files(made) == {"a": b"3\n", "b": b"2\n"}
    assert composer.is_ancestor(forked.onto, made)
    by = history.at(made).committer
    assert (by.name, by.email, by.time, by.offset) == (*BOT, AT // 1000, 0)
    assert not [*history.repo.references]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_building_again_gives_the_same_commit(
    strategy: Strategy, history: History, composer: Composer, tmp_path: Path
) -> None:
    forked = Forked(history)
    elsewhere = History(tmp_path / "other.git")
    again = Forked(elsewhere).piece

    made = composer.build(strategy, forked.piece)

    assert composer.build(strategy, forked.piece) == made
    assert Composer(elsewhere.path).build(strategy, again) == made


def test_rebase_replays_each_commit(history: History, composer: Composer) -> None:
    forked = Forked(history)

    second = history.at(built(composer.build("rebase", forked.piece)))

    (first,) = second.parents
    assert [str(one) for one in first.parent_ids] == [forked.onto]
    assert history.files(str(first.id)) == {"a": b"2\n", "b": b"2\n"}
    assert (first.message, second.message) == ("Two\n", "Three\n\nYes.\n")
    assert (first.author.name, first.author.email) == BEA
    assert (first.author.time, first.author.offset) == (T0 + 60, 60)
    assert (second.author.name, second.author.email) == ANN


def test_squash_makes_one_commit_by_the_works_author(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)

    made = history.at(built(composer.build("squash", forked.piece)))

    assert [str(one) for one in made.parent_ids] == [forked.onto]
    assert made.message == "Task 1\n"
    assert (made.author.name, made.author.email) == ANN


def test_merge_keeps_the_works_own_commits(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)

    made = history.at(built(composer.build("merge", forked.piece)))

    assert [str(one) for one in made.parent_ids] == [forked.onto, forked.work]
    assert made.message == "Task 1\n"
    assert (made.author.name, made.author.email) == BOT


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_modes_and_bytes_stay_as_they_are(
    strategy: Strategy, history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    work = history.commit(BASE | {"run*": b"#!/bin/sh\n", "x": b"\0\xff\r\n"}, base)
    onto = history.commit(BASE | {"b": b"2\n"}, base)

    made = built(composer.build(strategy, piece(base, work, onto)))

    tree, given = history.at(made).tree, history.at(work).tree
    assert tree["run"].filemode == given["run"].filemode == 0o100755
    assert tree["x"].id == given["x"].id


def test_a_file_is_merged_in_another_process_where_it_is_large(
    history: History, composer: Composer
) -> None:
    middle, before = b"1\n" * 100_000, getrusage(RUSAGE_CHILDREN).ru_minflt
    base = history.commit({"a": b"a\n" + middle + b"z\n"})
    work = history.commit({"a": b"b\n" + middle + b"z\n"}, base)
    onto = history.commit({"a": b"a\n" + middle + b"y\n"}, base)

    made = built(composer.build("squash", piece(base, work, onto)))

    assert history.files(made) == {"a": b"b\n" + middle + b"y\n"}
    assert getrusage(RUSAGE_CHILDREN).ru_minflt > before


# --- a base that has not moved, and work that has landed ------------------------------


def test_on_an_unmoved_base_rebase_gives_the_work_itself(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)

    made = composer.build("rebase", piece(forked.base, forked.work, forked.base))

    assert made == forked.work


def test_a_commit_that_has_landed_already_is_left_out(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    onto = history.commit(BASE | {"a": b"2\n"}, forked.onto)

    made = history.at(
        built(composer.build("rebase", piece(forked.base, forked.work, onto)))
    )

    assert [str(one) for one in made.parent_ids] == [onto]
    assert made.message == "Three\n\nYes.\n"


def test_work_that_has_landed_whole_adds_nothing(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    onto = history.commit(BASE | {"a": b"2\n", "b": b"2\n"}, forked.onto)
    landed = piece(forked.base, forked.first, onto)

    assert composer.build("rebase", landed) == onto
    for strategy in STRATEGIES[1:]:
        made = built(composer.build(strategy, landed))
        assert history.files(made) == history.files(onto)


def test_empty_work_is_the_commit_it_would_stand_on(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)

    empty = piece(forked.base, forked.base, forked.onto)

    assert composer.build("rebase", empty) == forked.onto


# --- merges in the work ---------------------------------------------------------------


def test_a_merge_in_the_work_is_squashed_with_it(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    side = history.commit(BASE | {"c": b"1\n"}, forked.base)
    work = history.commit(BASE | {"a": b"3\n", "c": b"1\n"}, forked.work, side, by=BEA)
    merged = piece(forked.base, work, forked.onto)

    made = built(composer.build("rebase", merged))

    assert made == composer.build("squash", merged)
    assert [str(one) for one in history.at(made).parent_ids] == [forked.onto]
    assert history.files(made) == {"a": b"3\n", "b": b"2\n", "c": b"1\n"}


# --- conflicts ------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("ours", "theirs", "paths"),
    [
        ({"a": b"2\n", "b": b"1\n"}, {"a": b"3\n", "b": b"1\n"}, ("a",)),
        ({"a": b"2\n", "b": b"2\n"}, {"a": b"3\n", "b": b"3\n"}, ("a", "b")),
        ({"b": b"1\n"}, {"a": b"3\n", "b": b"1\n"}, ("a",)),
        ({"a": b"3\n", "b": b"1\n"}, {"b": b"1\n"}, ("a",)),
        (BASE | {"c/d": b"1\n"}, BASE | {"c/d": b"2\n"}, ("c/d",)),
        (BASE | {"ä": b"\0"}, BASE | {"ä": b"\0\0"}, ("ä",)),
    ],
)
def test_a_conflict_names_the_paths(
    strategy: Strategy,
    ours: dict[str, bytes],
    theirs: dict[str, bytes],
    paths: tuple[str, ...],
    history: History,
    composer: Composer,
) -> None:
    base = history.commit(BASE)
    work, onto = history.commit(ours, base), history.commit(theirs, base)

    assert composer.build(strategy, piece(base, work, onto)) == Conflicted(paths)


def test_the_first_commit_that_conflicts_ends_a_rebase(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    onto = history.commit({"a": b"9\n", "b": b"9\n"}, forked.onto)
    work = history.commit({"a": b"3\n", "b": b"3\n"}, forked.work)

    made = composer.build("rebase", piece(forked.base, work, onto))

    assert made == Conflicted(("a",))


# --- looking --------------------------------------------------------------------------


def test_ancestors_and_merge_bases_are_found(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    alone = history.commit({"z": b""})

    assert composer.is_ancestor(forked.base, forked.work)
    assert composer.is_ancestor(forked.work, forked.work)
    assert not composer.is_ancestor(forked.work, forked.base)
    assert not composer.is_ancestor(forked.onto, forked.work)
    assert composer.base_of(forked.work, forked.onto) == forked.base
    assert composer.base_of(forked.work, alone) is None


# --- messages -------------------------------------------------------------------------


def test_work_under_other_names_becomes_brats_but_for_what_has_landed(
    history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    landed = history.commit(BASE | {"a": b"2\n"}, base, message="Fixes #1\n", by=BEA)
    own = history.commit(BASE | {"b": b"2\n"}, base, message="Mine\n", by=BEA)
    both = BASE | {"a": b"2\n", "b": b"2\n"}
    work = history.commit(both, landed, own, message="Both\n", by=BOT)

    made = history.at(composer.inert(base, work, landed))

    first, second = made.parents
    assert str(first.id) == landed
    for each, was in ((made, work), (second, own)):
        old = history.at(was)
        assert {(who.name, who.email) for who in (each.author, each.committer)} == {BOT}
        assert each.author.time == old.author.time
        assert (each.message, each.tree_id) == (old.message, old.tree_id)
    assert composer.inert(base, str(made.id), landed) == str(made.id)


def test_a_message_that_would_do_something_is_changed_and_nothing_else(
    history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    left = history.commit(
        BASE | {"a": b"2\n"}, base, message="Left [skip ci]\n", by=BEA
    )
    right = history.commit(BASE | {"b": b"2\n"}, base, message="Right\n", by=BOT)
    both = BASE | {"a": b"2\n", "b": b"2\n"}
    work = history.commit(both, left, right, message="Both\n")

    made = composer.inert(base, work)

    tip, old = history.at(made), history.at(work)
    assert (tip.tree_id, tip.message) == (old.tree_id, "Both\n")
    first, second = tip.parents
    assert first.message == "Left (skip ci)\n"
    assert str(second.id) == right
    assert composer.inert(base, work) == made
    assert composer.inert(base, made) == made
