"""Runs the task's acceptance command on the agent's work; its result is a claim.

The command runs the agent's work, so it gets a box as the agent did, and no network at
all if the agent's was closed. What it writes does not count: the work is kept before.
"""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from runner.box import toolchains
from runner.box.agent_box import NetworkExit, boxed
from runner.box.stop_signals import Stop
from runner.box.supervisor import Order
from runner.session.script_run import Setting, fault, run_script


def fault_of(
    command: str, folder: Path, setting: Setting, stop: Stop, *, closed: bool
) -> str:
    """Run the command in the checkout; return why the work is not accepted.

    Args:
        command: for `sh -c`.
        folder: the checkout, as the agent left it.
        setting: where it runs, for how long, and who is told.
        stop: ends it when the job is cancelled.
        closed: whether it gets no network.

    Returns:
        A sentence; empty: the command exited with 0.
    """
    argv = ("sh", "-c", command)
    env = setting.environment()
    env |= toolchains.own_sources(env, folder)
    with (
        _no_network(closed=closed) as way,
        boxed(argv, setting.room(folder), way) as box,
    ):
        order = Order(
            box.argv if box else argv,
            folder,
            env,
            setting.limit_s,
            fds=box.fds if box else (),
        )
        ending, said = run_script(command, order, setting, stop, box)
    if ending.cancelled:
        return "The acceptance command was ended with the job."
    return fault("The acceptance command", ending, setting.limit_s, said)


@contextlib.contextmanager
def _no_network(*, closed: bool) -> Iterator[NetworkExit | None]:
    """Yield a network without a proxy; None: the command gets the machine's network."""
    if not closed:
        yield None
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield NetworkExit(theirs.fileno(), ())
