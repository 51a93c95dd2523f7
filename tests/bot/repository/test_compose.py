"""Candidates: what lands is the work, whole, once and by its author."""

from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import get_args

import pytest

from bot.repository.commits import Commits
from bot.repository.compose import BOT, Composer, Conflicted, Piece, author_of
from bot.repository.strangers_commits import examined_patch
from convoy.model.records import Strategy
from grite import git
from tests.bot.history import ANN, BEA, T0, History
from tests.world.cases import looped
from tests.world.rules import settings

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


def test_git_finds_no_fault_in_a_candidate_and_its_commits_are_as_its_strategy_says(
    history: History, composer: Composer, tmp_path: Path
) -> None:
    """It holds the work on what it stands on, by the bot, and moves no ref.

    Whoever builds it again gets the same commit.
    """
    forked = Forked(history)
    elsewhere = History(tmp_path / "other.git")
    again = Forked(elsewhere).piece
    found = {each: built(composer.build(each, forked.piece)) for each in STRATEGIES}

    for strategy, made in found.items():
        git.run(["fsck", "--strict", made], cwd=history.path)
        assert history.files(made) == {"a": b"3\n", "b": b"2\n"}
        assert composer.is_ancestor(forked.onto, made)
        by = history.at(made).committer
        assert (by.name, by.email, by.time, by.offset) == (*BOT, AT // 1000, 0)
        assert composer.build(strategy, forked.piece) == made
        assert Composer(elsewhere.path).build(strategy, again) == made
    assert not [*history.repo.references]

    second = history.at(found["rebase"])
    (first,) = second.parents
    assert [str(one) for one in first.parent_ids] == [forked.onto]
    assert history.files(str(first.id)) == {"a": b"2\n", "b": b"2\n"}
    assert (first.message, second.message) == ("Two\n", "Three\n\nYes.\n")
    assert (first.author.name, first.author.email) == BEA
    assert (first.author.time, first.author.offset) == (T0 + 60, 60)
    assert (second.author.name, second.author.email) == ANN
    for commit, parents, author in (
        (history.at(found["squash"]), [forked.onto], ANN),
        (history.at(found["merge"]), [forked.onto, forked.work], BOT),
    ):
        assert [str(each) for each in commit.parent_ids] == parents
        assert commit.message == "Task 1\n"
        assert (commit.author.name, commit.author.email) == author


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


def test_what_has_landed_already_is_left_out_and_a_merge_is_squashed_with_its_work(
    history: History, composer: Composer
) -> None:
    forked = Forked(history)
    onto = history.commit(BASE | {"a": b"2\n"}, forked.onto)
    landed = piece(forked.base, forked.work, onto)

    made = history.at(built(composer.build("rebase", landed)))

    assert [str(one) for one in made.parent_ids] == [onto]
    assert made.message == "Three\n\nYes.\n"

    side = history.commit(BASE | {"c": b"1\n"}, forked.base)
    work = history.commit(BASE | {"a": b"3\n", "c": b"1\n"}, forked.work, side, by=BEA)
    merged = piece(forked.base, work, forked.onto)

    squashed = built(composer.build("rebase", merged))

    assert squashed == composer.build("squash", merged)
    assert [str(one) for one in history.at(squashed).parent_ids] == [forked.onto]
    assert history.files(squashed) == {"a": b"3\n", "b": b"2\n", "c": b"1\n"}


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = history.commit(BASE)
    work, onto = history.commit(ours, base), history.commit(theirs, base)

    found = composer.build(strategy, piece(base, work, onto))

    assert isinstance(found, Conflicted)
    assert found.paths == paths
    monkeypatch.delattr("grite.git.run")  # what waits is tried again at each look
    assert composer.build(strategy, piece(base, work, onto)) == found


@pytest.mark.parametrize(
    ("ours", "theirs", "only_adds"),
    [
        (b"1\n2\nx\n", b"1\n2\ny\n", True),
        (b"0\n1\n2\nx\n", b"1\n2\ny\n", True),
        (b"0\n2\nx\n", b"1\n2\ny\n", False),
        (b"1\n2\nx\n", b"1\ny\n", False),
        (b"1\n2\nx", b"1\n2\ny\n", True),
        (b"1\n2\n\0", b"1\n2\ny\n", False),
    ],
)
def test_a_conflict_says_whether_both_sides_only_added_lines(
    ours: bytes, theirs: bytes, *, only_adds: bool, history: History, composer: Composer
) -> None:
    base = history.commit({"a": b"1\n2\n", "b": b"1\n"})
    work = history.commit({"a": ours, "b": b"2\n"}, base)
    onto = history.commit({"a": theirs, "b": b"1\n"}, base)

    found = composer.build("rebase", piece(base, work, onto))

    assert found == Conflicted(("a",), only_adds)


# --- messages -------------------------------------------------------------------------


def test_work_under_other_names_becomes_brats_but_for_what_has_landed(
    history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    landed = history.commit(BASE | {"a": b"2\n"}, base, message="Fixes #1\n", by=BEA)
    own = history.commit(BASE | {"b": b"2\n"}, base, message="Mine\n", by=BEA)
    both = BASE | {"a": b"2\n", "b": b"2\n"}
    work = history.commit(both, landed, own, message="Both\n", by=BOT)

    made = history.at(composer.inert(base, work, landed, at=AT))

    first, second = made.parents
    assert str(first.id) == landed
    for each, was in ((made, work), (second, own)):
        old = history.at(was)
        assert {(who.name, who.email) for who in (each.author, each.committer)} == {BOT}
        assert each.author.time == old.author.time
        assert (each.message, each.tree_id) == (old.message, old.tree_id)
    assert composer.inert(base, str(made.id), landed, at=AT) == str(made.id)


@looped(0, T0 - 1, T0 + 25 * 3600, 4_070_908_800)
def test_no_commit_is_older_than_its_base_or_from_the_future(
    when: int, history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    work = history.commit(BASE | {"a": b"2\n"}, base, by=BOT, at=when)

    made = history.at(composer.inert(base, work, at=T0 * 1000))

    assert made.author.time == made.committer.time == T0


# --- a merge with git's markers, and what lands once it is resolved -------------------


def test_a_merge_holds_both_sides_between_markers_and_lands_without_them(
    history: History, composer: Composer
) -> None:
    """A convoy's branch and its target changed the same line."""
    fork = history.commit({"a": b"1\n", "b": b"1\n"})
    tip = history.commit({"a": b"ours\n", "b": b"1\n"}, fork)
    target = history.commit({"a": b"theirs\n", "b": b"1\n"}, fork)
    merge = composer.unresolved(piece(fork, target, tip))
    marked = f"<<<<<<< {tip}\nours\n=======\ntheirs\n>>>>>>> {target}\n".encode()
    assert history.files(merge) == {"a": marked, "b": b"1\n"}
    assert composer.unresolved(piece(fork, target, tip)) == merge
    assert composer.target_of(merge) == target

    work = history.commit({"a": b"both\n", "b": b"1\n"}, merge)
    later = history.commit({"a": b"ours\n", "b": b"2\n"}, tip)
    clash = history.commit({"a": b"other\n", "b": b"1\n"}, tip)
    made = built(composer.integrated(piece(merge, work, tip)))
    meanwhile = built(composer.integrated(piece(merge, work, later)))

    assert history.files(made) == {"a": b"both\n", "b": b"1\n"}
    assert history.files(meanwhile) == {"a": b"both\n", "b": b"2\n"}
    assert composer.integrated(piece(merge, work, clash)) == Conflicted(("a",))
    assert [str(parent) for parent in history.at(made).parent_ids] == [tip, target]
    assert not composer.is_ancestor(merge, made)


def test_a_file_against_a_folder_is_named_as_it_was_and_is_not_left(
    history: History, composer: Composer
) -> None:
    base = history.commit(BASE)
    folder = history.commit(BASE | {"new/x": b"1\n"}, base)
    file = history.commit(BASE | {"new": b"2\n"}, base)
    merge = composer.unresolved(piece(base, file, folder))
    work = history.commit(BASE | {"new/x": b"12\n"}, merge)

    assert composer.build("squash", piece(base, file, folder)) == Conflicted(("new",))
    assert composer.left_over(merge, merge) == (f"new~{file}",)
    assert composer.left_over(merge, work) == ()


def test_what_its_people_took_out_of_the_target_is_not_in_a_resolved_merge(
    history: History, composer: Composer
) -> None:
    clean = history.commit(BASE)
    held = history.commit(BASE | {"password": b"1234\n"}, clean)
    tip = history.commit(BASE | {"a": b"ours\n", "password": b"1234\n"}, held)
    target = history.commit(BASE | {"a": b"theirs\n"}, clean)
    taken_in = partial(Piece, message="Take main in\n", at=AT, drops=True)
    merge = composer.unresolved(taken_in(base=held, work=target, onto=tip))
    work = history.commit(BASE | {"a": b"both\n"}, merge)

    made = built(composer.integrated(taken_in(base=merge, work=work, onto=tip)))

    assert b"<<<<<<< " in history.files(merge)["a"]
    assert "password" not in history.files(merge)
    assert history.files(made) == BASE | {"a": b"both\n"}
    assert [str(parent) for parent in history.at(made).parent_ids] == [target]


def test_work_that_stands_on_what_has_not_landed_brings_in_only_its_own(
    history: History, composer: Composer
) -> None:
    fork = history.commit({"a": b"1\n", "b": b"1\n", "c": b"1\n"})
    tip = history.commit({"a": b"ours\n", "b": b"1\n", "c": b"1\n"}, fork)
    refused = history.commit({"a": b"1\n", "b": b"refused\n", "c": b"1\n"}, fork)
    files = {"a": b"theirs\n", "b": b"refused\n", "c": b"2\n"}
    work = history.commit(files, refused)

    made = composer.unresolved(piece(refused, work, tip))

    held = history.files(made)
    assert held["b"] == b"1\n"
    assert held["c"] == b"2\n"
    assert {b"ours", b"theirs"} < {*held["a"].splitlines()}
    assert composer.left_over(made, made) == ("a",)
    assert composer.left_over(made, history.commit({**held, "a": b"x\n"}, made)) == ()


def test_a_name_that_differs_only_in_case_from_what_landed_or_another_is_refused(
    history: History, composer: Composer
) -> None:
    files = BASE | {"x/old": b"1\n", "X/old": b"1\n"}
    base = history.commit(files)
    for theirs, ours, is_twin in (
        ("README.md", "Readme.md", True),
        ("docs/a", "Docs/a", True),
        ("docs", "Docs/a", True),
        ("docs/a", "Docs/b", False),
        ("docs/a", "docs/b", False),
    ):
        onto = history.commit(files | {theirs: b"1\n"}, base)
        work = history.commit(files | {ours: b"2\n"}, base)
        found = Conflicted((ours,), are_twins=True)
        for strategy in STRATEGIES:
            made = composer.build(strategy, piece(base, work, onto))
            assert (made == found) == is_twin, (theirs, ours)

    both = history.commit(files | {"README.md": b"1\n", "Readme.md": b"2\n"}, base)
    other = history.commit(files | {"x/old": b"2\n", "README.md": b"1\n"}, base)
    named = "another only in case or Unicode form: README.md, Readme.md."
    (refused,) = examined_patch(history.path, base, both, settings()).refusals
    assert refused == f"The patch adds a name that differs from {named}"
    assert examined_patch(history.path, base, other, settings()).refusals == ()


# --- `.gitattributes` are obeyed, as a merge by git on the branch would ---------------


APART = (b"one\n2\n3\n4\n5\n", b"1\n2\n3\n4\ntwo\n")
TOGETHER = (b"1\n2\none\n4\n5\n", b"1\n2\ntwo\n4\n5\n")
SINCE = ({0}, {0, 1}, {0, 2})
"""What of these the base, what landed, and the work have."""


@looped(
    (0, b"", APART, b"one\n2\n3\n4\ntwo\n"),
    (0, b"", TOGETHER, "log"),
    (0, b"* merge=union\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
    (0, b"* merge=union\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (0, b"log -merge\n", APART, "log"),
    (0, b"log binary\n", APART, "log"),
    (0, b"log merge=ours\n", TOGETHER, b"1\n2\none\n4\n5\n"),
    (0, b"log merge=ours\n", APART, b"one\n2\n3\n4\n5\n"),
    (0, b"log merge=unheard-of\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (0, b"[attr]pile merge=union\nl*g pile\n", TOGETHER, b"1\n2\none\ntwo\n4\n5\n"),
    (1, b"* merge=ours\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (1, b"* merge=union\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (1, b"* -merge\n", APART, b"one\n2\n3\n4\ntwo\n"),
    (2, b"* merge=union\n", TOGETHER, "log"),
)
def test_a_driver_named_in_the_branchs_attributes_merges_the_file(
    since: int,
    attributes: bytes,
    sides: tuple[bytes, bytes],
    told: bytes | str,
    history: History,
    composer: Composer,
) -> None:
    """They count where both sides have them (0): not what only landed (1), or work."""
    named = [{".gitattributes": attributes} if since in at else {} for at in SINCE]
    base = history.commit(named[0] | {"log": b"1\n2\n3\n4\n5\n"})
    onto, work = (
        history.commit(has | {"log": side}, base)
        for has, side in zip(named[1:], sides, strict=True)
    )

    both = piece(base, work, onto)
    for strategy in STRATEGIES:
        made = composer.build(strategy, both)
        assert made == composer.build(strategy, both)
        if isinstance(made, Conflicted):
            assert made.paths[0] == told
        else:
            assert history.files(made)["log"] == told


def test_what_conflicts_by_attributes_is_left_to_an_agent_with_what_does_not(
    history: History, composer: Composer
) -> None:
    files = {".gitattributes": b"log merge=union\n"}
    base = history.commit(files | {"log": b"1\n", "a": b"1\n"})
    onto = history.commit(files | {"log": b"one\n", "a": b"one\n"}, base)
    work = history.commit(files | {"log": b"two\n", "a": b"two\n"}, base)
    both = piece(base, work, onto)

    assert composer.build("squash", both) == Conflicted(("a",))
    left = history.files(composer.unresolved(both))
    assert left["log"] == b"one\ntwo\n"
    assert left["a"].startswith(b"<<<<<<< ")


# --- commits that say one thing to us and another to a forge --------------------------

WHO = "Ann <ann@example.org> 1700000000 +0000"
ORDER = b"Fixes #12 [skip ci] now\n"


def written(history: History, base: str, header: str, message: bytes) -> str:
    tree = history.at(history.commit({"a": b"2\n"}, base)).tree_id
    head = f"tree {tree}\nparent {base}\nauthor {WHO}\ncommitter {WHO}\n{header}\n"
    return history.raw("commit", head.encode("latin-1") + message)


def raw(history: History, commit: str) -> bytes:
    _, data = history.repo.odb.read(history.at(commit).id)
    return bytes(data)


@looped(
    *("UTF-16", "UTF-16LE", "UTF-7", "cp037", "no-such-encoding", "rot13"),
    *("unicode_escape", "\xff\xfe", "\x80 x"),
)
def test_an_encoding_does_not_carry_an_order_past_the_bot(
    encoding: str, history: History
) -> None:
    base = history.commit(BASE)
    odd = written(history, base, f"encoding {encoding}\n", ORDER)

    made = Composer(history.path).inert(base, odd, at=T0 * 1000)

    assert b"encoding" not in raw(history, made)
    assert history.at(made).raw_message == b"Fixes issue #12 (skip ci) now\n"


@looped(
    ("", b"One\r\rskip-checks: true\r", b"One\n\nskip-checks true\n"),
    ("", b"One\0 Fixes #1\n", b"One\xef\xbf\xbd Fixes issue #1\n"),
    ("", b" \n", b"Work of an agent\n"),
    ("", b"Gr\xf6\xdfe\n", "Gr\ufffd\ufffde\n".encode()),
    ("encoding ISO-8859-1\n", b"Gr\xf6\xdfe\n", "Größe\n".encode()),
)
def test_bytes_that_readers_take_for_different_text_are_written_again(
    header: str, message: bytes, said: bytes, history: History
) -> None:
    base = history.commit(BASE)

    odd = written(history, base, header, message)
    made = Composer(history.path).inert(base, odd, at=T0 * 1000)

    assert history.at(made).raw_message == said
    assert b"encoding" not in raw(history, made)


@looped(("One\ntwo \n\nmore\n", "One two"), ("\n\n  One\n", "One"), ("", ""))
def test_a_subject_is_one_line_and_takes_no_process(
    message: str, subject: str, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = history.commit(BASE, message=message)
    monkeypatch.delattr("grite.git.run", raising=False)

    assert Commits(history.path).subject(made) == subject


def test_an_author_who_is_no_text_is_written_as_text(history: History) -> None:
    base = history.commit(BASE)
    tree = history.at(history.commit({"a": b"2\n"}, base)).tree_id
    who = b"Gr\xf6\xdfe <a@example.org> 1700000000 +0130"
    head = b"tree %s\nparent %s\nauthor %s\ncommitter %s\nencoding latin-1\n\nOne\n"
    odd = history.raw("commit", head % (str(tree).encode(), base.encode(), who, who))

    made = author_of(history.at(odd))

    assert made.name == "Größe"
    assert (made.time, made.offset) == (1700000000, 90)


def test_a_path_that_is_no_text_is_still_named(history: History) -> None:
    base, work, onto = (odd_path(history, data) for data in (b"1", b"2", b"3"))

    made = Composer(history.path).build("squash", piece(base, work, onto))

    assert made == Conflicted(("dir-??",))


def odd_path(history: History, data: bytes) -> str:
    blob = history.repo.create_blob(data)
    entry = b"100644 dir-\xff\xfe\0" + bytes.fromhex(str(blob))
    tree = history.raw("tree", entry)
    text = f"tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\nOdd\n"
    return history.raw("commit", text.encode())
