"""The task's acceptance command, run on what the agent left: a claim, like all here.

What it runs is the agent's work, so it runs as the agent did: in a box, and where the
agent's network was closed with none at all. What it writes is no work: the work is kept
before.
"""

import contextlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from runner.boxing import Way, boxed
from runner.engines.events import Text
from runner.home import plain_environment
from runner.setup import Setting, fault
from runner.stop import Stop
from runner.supervise import Ending, Order, Stream, supervise
from runner.transcript import Transcript

OUTPUT_BYTES: Final = 1_000_000


def fault_of(
    command: str, folder: Path, setting: Setting, stop: Stop, *, closed: bool
) -> str:
    """Run the command in the checkout, and return why the work is not accepted.

    Args:
        command: for `sh -c`.
        folder: the checkout, as the agent left it.
        setting: where it runs, for how long, and who is told.
        stop: ends it when the job is cancelled.
        closed: whether it gets no network.

    Returns:
        A sentence; empty: it exited with 0.
    """
    said: list[str] = []
    ending = _run(command, folder, setting, stop, said.append, closed=closed)
    if ending.cancelled:
        return "The acceptance command was ended with the job."
    return fault("The acceptance command", ending, setting.limit_s, "".join(said[-20:]))


def _run(
    command: str,
    folder: Path,
    setting: Setting,
    stop: Stop,
    keep: Callable[[str], None],
    *,
    closed: bool,
) -> Ending:
    def take(_stream: Stream, text: str) -> None:
        setting.show(text)
        keep(text)

    transcript = Transcript(setting.transcript, setting.redaction, OUTPUT_BYTES, take)
    scratch, argv = setting.scratch, ("sh", "-c", command)
    env = plain_environment(setting.inputs, scratch / "home", scratch / "tmp")
    try:
        transcript.note(Text(text=f"brat runs {command}", by="program"))
        with (
            _no_way_out(closed=closed) as way,
            boxed(argv, folder, scratch, setting.inputs, way) as box,
        ):
            order = Order(
                box.argv if box else argv,
                folder,
                env,
                setting.limit_s,
                fds=box.fds if box else (),
            )
            return supervise(order, transcript.write, stop)
    finally:
        transcript.close()


@contextlib.contextmanager
def _no_way_out(*, closed: bool) -> Iterator[Way | None]:
    """Give a way to no proxy at all; None: the network stays the machine's."""
    if not closed:
        yield None
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Way(theirs.fileno(), ())
