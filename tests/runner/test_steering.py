"""A program is talked to while it runs, and nobody waits for it to listen."""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from runner.box.supervisor import Ending, Order, Source, Stop, Stream, supervise
from runner.engines.engine_events import Cost, Result, Said, Usage
from runner.inputs.job_inputs import Message
from runner.session.session_run import Steering

ECHO = """
import sys
for line in sys.stdin:
    print(len(line), line[:9].strip(), flush=True)
print("closed")
"""


class Box:
    """An inbox whose messages come when a test says so."""

    def __init__(self, *messages: str) -> None:
        self.waiting = [Message(n, "bea", text) for n, text in enumerate(messages, 1)]
        self.given = 0

    def listen(self, wake: object) -> None:
        raise NotImplementedError

    def take(self) -> tuple[Message, ...]:
        new, self.waiting = tuple(self.waiting), []
        return new

    def heard(self, number: int) -> None:
        self.given = number


def worded(said: Message) -> bytes:
    return f"{said.text}\n".encode()


def told(*said: bytes | None) -> Source:
    """Say a few things, then nothing any more."""
    return partial(next, iter((*said, None)), None)


def run(
    folder: Path,
    script: str,
    talk: Source,
    heard: Callable[[bytes], object] = lambda _chunk: None,
) -> tuple[Ending, str]:
    said: list[bytes] = []

    def sink(_stream: Stream, chunk: bytes) -> None:
        said.append(chunk)
        heard(chunk)

    order = Order(
        (sys.executable, "-I", "-c", script), folder, {}, timeout_s=600, source=talk
    )
    with Stop() as stop:
        ending = supervise(order, sink, stop)
        stop.nudge()
    stop.nudge()  # nobody is there any more
    return ending, b"".join(said).decode()


def test_what_is_said_arrives_whole_and_in_order(tmp_path: Path) -> None:
    long = b"x" * 1_000_000 + b"\n"

    ending, said = run(tmp_path, ECHO, told(b"one\n", long, b"three\n"))

    assert ending.exit_code == 0
    assert said == f"4 one\n{len(long)} xxxxxxxxx\n6 three\nclosed\n"


WAITS = "print('up', flush=True); open('go').read()"


@pytest.mark.parametrize("script", [f"import os; os.close(0); {WAITS}", WAITS, ""])
def test_who_does_not_listen_is_not_waited_for(tmp_path: Path, script: str) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)  # it ends only once it is heard

    ending, _ = run(
        tmp_path, script, told(b"x" * 1_000_000), lambda _: go.write_text("")
    )

    assert ending.exit_code == 0


def test_a_message_wakes_who_waits_and_is_heard_when_it_is_written(
    tmp_path: Path,
) -> None:
    box = Box("turn left")
    steering = Steering(b"go\n", box, worded)
    lines: list[bytes] = []

    def heard(chunk: bytes) -> None:
        lines.append(chunk)
        if b"left" in b"".join(lines):
            steering.note(Result(ok=True))

    ending, said = run(tmp_path, ECHO, steering.next, heard)

    assert (ending.exit_code, box.given) == (0, 1)
    assert said == "3 go\n10 turn left\nclosed\n"


def test_a_message_that_comes_with_the_end_is_still_said() -> None:
    box = Box()
    steering = Steering(b"go\n", box, worded)
    begun = steering.next(), steering.next()
    steering.note(Result(ok=True))
    box.waiting = [Message(1, "bea", "wait")]
    more = steering.next(), steering.next()
    steering.note(Result(ok=True))

    assert begun == (b"go\n", b"")
    assert more == (b"wait\n", b"")
    assert steering.next() is None


def test_what_is_counted_from_the_start_is_told_as_what_is_new() -> None:
    steering = Steering(b"go\n", Box(), worded)
    counts: list[Said] = [
        Usage(model="m", input_tokens=10, output_tokens=1),
        Cost(usd=0.5),
        Usage(model="m", input_tokens=30, output_tokens=1),
        Usage(model="n", input_tokens=5),
        Cost(usd=0.75),
    ]

    assert [steering.note(each) for each in counts] == [
        Usage(model="m", input_tokens=10, output_tokens=1),
        Cost(usd=0.5),
        Usage(model="m", input_tokens=20),
        Usage(model="n", input_tokens=5),
        Cost(usd=0.25),
    ]
