"""What a session prints arrives in order, once, and only from sessions that run."""

import socket
from functools import partial
from pathlib import Path

import pytest

from bot.door.feed import (
    SessionOutput,
    pieces_in,
    tape_file,
)
from runner.inputs.job_inputs import FeedAddress
from runner.session.feed_client import OutputSender
from tests.feed.hall import SESSION, Hall, hall, running, shows
from tests.world.forge import DEADLINE_S, until
from tests.world.rules import NAME


def text_in(file: Path) -> str:
    return "".join(piece.text for piece in pieces_in(file.read_bytes()))


async def test_what_is_shown_arrives_while_the_session_runs(here: Hall) -> None:
    with OutputSender(here.place()) as feed:
        for said, whole in (("one\n", "one\n"), ("two\n", "one\ntwo\n")):
            feed.show(said)
            await until(partial(shows, here.folder, whole))


async def test_a_bot_that_starts_again_goes_on_where_it_was(tmp_path: Path) -> None:
    rules = running()
    async with hall(tmp_path, rules) as here:
        await here.send("POST", "output", json={"first": 0, "pieces": ["a", "b"]})
    with tape_file(tmp_path, SESSION).open("ab") as file:
        file.write(b'{"n": 2, "te')  # it died in the middle of a line
    async with hall(tmp_path, rules) as here:
        for first, pieces in ((0, ["a", "b", "c"]), (1, ["b"])):  # some sent twice
            body = {"first": first, "pieces": pieces}
            told = (await here.send("POST", "output", json=body)).json()
            assert told["next"] == 3

    assert text_in(tape_file(tmp_path, SESSION)) == "abc"


WAYS = ("POST", "output"), ("POST", "checkpoint"), ("GET", "messages")


async def test_only_a_running_session_with_its_token_is_heard(here: Hall) -> None:
    wrong: tuple[tuple[str, dict[str, dict[str, str | bytes]], int], ...] = (
        (SESSION, {"headers": {}}, 401),
        (SESSION, {"headers": {"Authorization": "Bearer " + "0" * 64}}, 401),
        (SESSION, {"headers": {"Authorization": b"Bearer \xe9"}}, 401),
        (f"{NAME}/2/1", {}, 409),
        (f"{NAME}/1/2", {}, 409),
        ("nobody/1/1", {}, 409),
        ("NO/1/1", {}, 409),
    )
    body = {"first": 0, "pieces": ["a"]}
    for method, what in WAYS:
        for session, given, status in wrong:
            answer = await here.send(method, what, session, json=body, **given)
            assert answer.status_code == status, (what, session, given)
    here.rules.lost(1, "gone")
    late = [await here.send(method, what, json=body) for method, what in WAYS]

    assert [each.status_code for each in late] == [409] * 3
    assert not (here.folder / "feed").exists()


async def test_what_is_no_output_is_refused(here: Hall) -> None:
    for body, status in (
        (b"", 400),
        (b'{"first": 0, "pieces": [1]}', 400),
        (b"[" * 100_000, 400),
        (b'{"first": 0, "pieces": ["' + b"a" * 1_000_000 + b'"]}', 413),
    ):
        answer = await here.send("POST", "output", content=body)
        assert answer.status_code == status, body[:40]


async def test_output_that_a_full_disk_does_not_take_is_sent_again(here: Hall) -> None:
    body = {"first": 0, "pieces": ["a"]}
    file = here.feed.tape(SESSION).file
    file.mkdir()  # it can be written as little as on a full disk
    refused = await here.send("POST", "output", json=body)
    file.rmdir()
    told = await here.send("POST", "output", json=body)

    assert (refused.status_code, told.status_code) == (507, 200)
    assert "the output cannot be kept: Is a directory" in refused.text
    assert text_in(file) == "a"


async def test_a_feed_that_never_answers_holds_up_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/feed/v1/a/b/c/1/1"
        with OutputSender(FeedAddress(url, "t")) as feed:
            for _ in range(1000):
                feed.show("x" * 10_000)
        silent.settimeout(DEADLINE_S)
        with silent.accept()[0] as asked:
            assert asked.recv(4) == b"POST"


def test_the_disk_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.door.feed.OUTPUT_FILE_BYTES", 10_000)
    tape = SessionOutput(tmp_path / "1-1.jsonl")
    for number in range(1000):
        tape.add(number, ["x" * 99 + "\n"])

    assert tape.file.stat().st_size <= 10_000
    assert [*pieces_in(tape.file.read_bytes())][-1].number == 999
    assert SessionOutput(tape.file).next == 1000
