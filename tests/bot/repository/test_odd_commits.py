"""Candidates of commits that no tool of ours would make."""

from pathlib import Path

import pytest

from bot.repository.compose import Composer, Conflicted, Piece
from tests.bot.history import History

WHO = "Ann <ann@example.org> 1700000000 +0000"
BASE = {"a": b"1\n"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "mirror.git")


def piece(base: str, work: str, onto: str) -> Piece:
    return Piece(base=base, work=work, onto=onto, message="Task 1\n", at=0)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("ISO-8859-1", "Größe\n"),
        ("no-such-encoding", "Gr\ufffd\ufffde\n"),
        ("rot13", "Gr\ufffd\ufffde\n"),
        ("UTF-16", "Gr\ufffd\ufffde\n"),
        ("utf-8", "Gr\ufffd\ufffde\n"),
    ],
)
def test_no_encoding_that_a_commit_claims_stops_a_rebase(
    encoding: str, said: str, history: History
) -> None:
    base = history.commit(BASE)
    work = history.commit({"a": b"2\n"}, base)
    onto = history.commit(BASE | {"b": b"1\n"}, base)
    tree = history.at(work).tree_id
    text = (
        f"tree {tree}\nparent {base}\nauthor {WHO}\ncommitter {WHO}\n"
        f"encoding {encoding}\n\nGröße\n"
    )
    odd = history.raw("commit", text.encode("latin-1"))

    made = Composer(history.path).build("rebase", piece(base, odd, onto))

    assert isinstance(made, str)
    assert history.at(made).message == said


def test_a_path_that_is_no_text_is_still_named(history: History) -> None:
    base, work, onto = (odd_path(history, data) for data in (b"1", b"2", b"3"))

    made = Composer(history.path).build("squash", piece(base, work, onto))

    assert made == Conflicted(("dir-??",))


def odd_path(history: History, data: bytes) -> str:
    """Commit a file whose name is not UTF-8."""
    blob = history.repo.create_blob(data)
    entry = b"100644 dir-\xff\xfe\0" + bytes.fromhex(str(blob))
    tree = history.raw("tree", entry)
    text = f"tree {tree}\nauthor {WHO}\ncommitter {WHO}\n\nOdd\n"
    return history.raw("commit", text.encode())
