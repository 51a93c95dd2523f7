"""An agent's commits that say one thing to us and another to a forge."""

import pytest

from bot.repository.commits import Commits
from bot.repository.compose import Composer, Conflicted, Piece, author_of
from tests.bot.history import T0, History
from tests.world.cases import looped

WHO = "Ann <ann@example.org> 1700000000 +0000"
BASE = {"a": b"1\n"}
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


# --- candidates of commits that no tool of ours would make ----------------------------


def piece(base: str, work: str, onto: str) -> Piece:
    return Piece(base=base, work=work, onto=onto, message="Task 1\n", at=0)


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
