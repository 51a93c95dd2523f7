"""A merge with git's markers, and what lands once somebody has resolved it."""

from bot.repository.compose import Composer, Conflicted, Piece
from tests.bot.history import History

AT = 1_800_000_000_123


class Diverged:
    """A convoy's branch and its target, which changed the same line."""

    def __init__(self, history: History, composer: Composer) -> None:
        self.fork = history.commit({"a": b"1\n", "b": b"1\n"})
        self.tip = history.commit({"a": b"ours\n", "b": b"1\n"}, self.fork)
        self.target = history.commit({"a": b"theirs\n", "b": b"1\n"}, self.fork)
        self.merge = composer.unresolved(self.piece(self.target, self.tip))
        self.work = history.commit({"a": b"both\n", "b": b"1\n"}, self.merge)

    def piece(self, work: str, onto: str) -> Piece:
        base = self.merge if work != self.target else self.fork
        return Piece(base=base, work=work, onto=onto, message="Take main in\n", at=AT)


def test_the_merge_holds_both_sides_between_markers(
    history: History, composer: Composer
) -> None:
    forked = Diverged(history, composer)

    marked = (
        f"<<<<<<< {forked.tip}\nours\n=======\ntheirs\n>>>>>>> {forked.target}\n"
    ).encode()
    assert history.files(forked.merge) == {"a": marked, "b": b"1\n"}
    assert composer.unresolved(forked.piece(forked.target, forked.tip)) == forked.merge
    assert composer.target_of(forked.merge) == forked.target


def test_markers_that_are_left_are_found(history: History, composer: Composer) -> None:
    forked = Diverged(history, composer)
    half = f"ours\n>>>>>>> {forked.target}\n".encode()
    left = history.commit({"a": half, "b": b"1\n"}, forked.merge)

    assert composer.left_over(forked.merge, forked.merge) == ("a",)
    assert composer.left_over(forked.merge, left) == ("a",)
    assert composer.left_over(forked.merge, forked.work) == ()


def test_what_lands_is_a_merge_of_both_tips_without_the_markers(
    history: History, composer: Composer
) -> None:
    forked = Diverged(history, composer)

    made = composer.integrated(forked.piece(forked.work, forked.tip))

    assert isinstance(made, str)
    assert history.files(made) == {"a": b"both\n", "b": b"1\n"}
    parents = [str(parent) for parent in history.at(made).parent_ids]
    assert parents == [forked.tip, forked.target]
    assert not composer.is_ancestor(forked.merge, made)


def test_what_has_landed_meanwhile_is_in_it(
    history: History, composer: Composer
) -> None:
    forked = Diverged(history, composer)
    later = history.commit({"a": b"ours\n", "b": b"2\n"}, forked.tip)
    clash = history.commit({"a": b"other\n", "b": b"1\n"}, forked.tip)

    made = composer.integrated(forked.piece(forked.work, later))
    conflicted = composer.integrated(forked.piece(forked.work, clash))

    assert isinstance(made, str)
    assert history.files(made) == {"a": b"both\n", "b": b"2\n"}
    assert conflicted == Conflicted(("a",))


def test_work_that_stands_on_what_has_not_landed_brings_in_only_its_own(
    history: History, composer: Composer
) -> None:
    fork = history.commit({"a": b"1\n", "b": b"1\n", "c": b"1\n"})
    tip = history.commit({"a": b"ours\n", "b": b"1\n", "c": b"1\n"}, fork)
    refused = history.commit({"a": b"1\n", "b": b"refused\n", "c": b"1\n"}, fork)
    files = {"a": b"theirs\n", "b": b"refused\n", "c": b"2\n"}
    work = history.commit(files, refused)

    made = composer.unresolved(
        Piece(base=refused, work=work, onto=tip, message="Fit\n", at=AT)
    )

    held = history.files(made)
    assert held["b"] == b"1\n"
    assert held["c"] == b"2\n"
    assert {b"ours", b"theirs"} < {*held["a"].splitlines()}
    assert composer.left_over(made, made) == ("a",)
    assert composer.left_over(made, history.commit({**held, "a": b"x\n"}, made)) == ()
