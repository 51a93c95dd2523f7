"""What deliveries asked for, in a folder that outlives the bot."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings

from bot.door.inbox import Inbox, Request
from tests.convoy.anything import hostile

ASKED = Request(issue=7, title="Fix it", text="All of it.", by="ann")
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bot" / "inbox"


@pytest.fixture
def inbox(folder: Path) -> Inbox:
    return Inbox(folder)


def aged(folder: Path, delivery: str, second: int) -> None:
    """Let a request have come in that second."""
    os.utime(folder / f"{delivery}.json", (second, second))


def test_a_request_waits_under_its_delivery(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}


def test_requests_outlive_the_bot(inbox: Inbox, folder: Path) -> None:
    inbox.put(GUID, ASKED)

    assert Inbox(folder).requests() == {GUID: ASKED}


def test_the_oldest_request_comes_first(inbox: Inbox, folder: Path) -> None:
    for delivery, second in (("a", 30), ("b", 10), ("c", 20)):
        inbox.put(delivery, ASKED)
        aged(folder, delivery, second)

    assert [*inbox.requests()] == ["b", "c", "a"]


def test_the_same_delivery_again_is_one_request(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)
    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}


def test_reading_twice_changes_nothing(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)

    assert inbox.requests() == inbox.requests()


def test_what_is_done_is_forgotten_and_may_be_done_again(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)

    inbox.done(GUID)
    inbox.done(GUID)

    assert inbox.requests() == {}


def test_what_was_not_finished_when_the_bot_died_is_not_read(
    inbox: Inbox, folder: Path
) -> None:
    cut_off = folder / f".{GUID}.x"
    cut_off.write_bytes(b'{"issue":7,"ti')
    assert inbox.requests() == {}

    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}
    os.utime(cut_off, (0, 0))
    Inbox(folder)
    assert [file.name for file in folder.iterdir()] == [f"{GUID}.json"]


def test_the_same_delivery_may_come_many_times_at_once(
    inbox: Inbox, folder: Path
) -> None:
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(inbox.put, GUID, ASKED) for _ in range(40)]:
            done.result()

    assert inbox.requests() == {GUID: ASKED}
    assert [file.name for file in folder.iterdir()] == [f"{GUID}.json"]


def test_a_request_is_a_plain_file(inbox: Inbox, folder: Path) -> None:
    inbox.put(GUID, ASKED)

    (file,) = folder.iterdir()
    assert stat.S_ISREG(file.stat().st_mode)
    assert file.read_text() == (
        '{"type":"labelled","issue":7,"title":"Fix it","text":"All of it.","by":"ann"}'
    )


@pytest.mark.parametrize(
    "delivery",
    ["", ".", "..", "a/b", "../a", "/a", "a.json", "a\n", "a b", "é", "a\0", "x" * 65],
)
def test_what_is_no_delivery_id_is_refused(
    delivery: str, inbox: Inbox, folder: Path
) -> None:
    with pytest.raises(ValueError, match="is not a delivery id"):
        inbox.put(delivery, ASKED)

    assert not [*folder.iterdir()]


@given(title=hostile, text=hostile)
@settings(deadline=None, max_examples=30)
def test_the_text_is_kept_as_it_was_signed(
    title: str, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    inbox = Inbox(tmp_path_factory.mktemp("inbox"))
    asked = Request(issue=7, title=title, text=text, by="ann")

    inbox.put(GUID, asked)

    assert inbox.requests() == {GUID: asked}
