"""Candidates obey `.gitattributes`, as a merge by git on the branch would."""

from typing import get_args

from bot.repository.compose import Composer, Conflicted, Piece
from convoy.model.records import Strategy
from tests.bot.history import History
from tests.world.cases import looped

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def both(history: History, attributes: bytes, ours: bytes, theirs: bytes) -> Piece:
    """Return work on a file that what has landed changed, too."""
    files = {".gitattributes": attributes}
    base = history.commit(files | {"log": b"1\n2\n3\n4\n5\n"})
    onto = history.commit(files | {"log": ours}, base)
    work = history.commit(files | {"log": theirs}, base)
    return Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)


def merged(composer: Composer, history: History, piece: Piece) -> bytes | str:
    """Return the merged file, the same for each strategy, or the file in conflict."""
    found: set[bytes | str] = set()
    for strategy in STRATEGIES:
        made = composer.build(strategy, piece)
        assert made == composer.build(strategy, piece)
        if isinstance(made, Conflicted):
            found.add(made.paths[0])
        else:
            found.add(history.files(made)["log"])
    (one,) = found
    return one


APART = (b"one\n2\n3\n4\n5\n", b"1\n2\n3\n4\ntwo\n")
TOGETHER = (b"1\n2\none\n4\n5\n", b"1\n2\ntwo\n4\n5\n")


@looped(
    (b"", APART, b"one\n2\n3\n4\ntwo\n"),
    (b"", TOGETHER, "log"),
    (b"* merge=union\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
    (b"* merge=union\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (b"log -merge\n", APART, "log"),
    (b"log binary\n", APART, "log"),
    (b"log merge=ours\n", TOGETHER, b"1\n2\none\n4\n5\n"),
    (b"log merge=ours\n", APART, b"one\n2\n3\n4\n5\n"),
    (b"log merge=unheard-of\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (b"[attr]pile merge=union\nl*g pile\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
)
def test_a_driver_named_in_the_branchs_attributes_merges_the_file(
    attributes: bytes,
    sides: tuple[bytes, bytes],
    told: bytes | str,
    history: History,
    composer: Composer,
) -> None:
    piece = both(history, attributes, *sides)

    assert merged(composer, history, piece) == told


def test_attributes_that_only_the_work_has_do_not_count_yet(
    history: History, composer: Composer
) -> None:
    base = history.commit({"log": b"1\n"})
    onto = history.commit({"log": b"one\n"}, base)
    files = {"log": b"two\n", ".gitattributes": b"* merge=union\n"}
    work = history.commit(files, base)

    made = composer.build(
        "squash", Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)
    )

    assert made == Conflicted(("log",))


def test_what_conflicts_by_attributes_is_left_to_an_agent_with_what_does_not(
    history: History, composer: Composer
) -> None:
    files = {".gitattributes": b"log merge=union\n"}
    base = history.commit(files | {"log": b"1\n", "a": b"1\n"})
    onto = history.commit(files | {"log": b"one\n", "a": b"one\n"}, base)
    work = history.commit(files | {"log": b"two\n", "a": b"two\n"}, base)
    piece = Piece(base=base, work=work, onto=onto, message="Task 1\n", at=1_000)

    assert composer.build("squash", piece) == Conflicted(("a",))
    left = history.files(composer.unresolved(piece))
    assert left["log"] == b"one\ntwo\n"
    assert left["a"].startswith(b"<<<<<<< ")
