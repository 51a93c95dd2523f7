"""The attack sweep as a table: `python -m tests.attacks.sweep [ENVIRONMENT...]`.

Each attack is a line, each kind of machine a column: what the attack won there, or the
error by which the kernel, the gateway or the witness stopped it.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from tests.attacks.environments import NOTHING, PREFIXES
from tests.attacks.judge import Told, judged, table
from tests.attacks.local_mode import HEADLESS, developer, run_by_act, said
from tests.attacks.machine import machine
from tests.attacks.sessions import session
from tests.world.terminal import Terminal


def in_a_job(prefix: tuple[str, ...]) -> dict[str, Told]:
    with machine() as found:
        left = session(found, prefix)
        return judged(found, left.said, left.folder)


def on_a_developers_machine(run: Callable[[Terminal], object]) -> dict[str, Told]:
    with developer() as (found, terminal):
        run(terminal)
        folder = terminal.cwd / ".git/brat"
        (nothing := found.root / "nothing").mkdir()
        return judged(found, said(folder), nothing)


SWEEPS: Final[dict[str, Callable[[], dict[str, Told]]]] = {
    **{name: partial(in_a_job, each) for name, each in PREFIXES.items()},
    "local mode": partial(
        on_a_developers_machine, lambda typing: typing.type(HEADLESS)
    ),
    "act on the host": partial(on_a_developers_machine, run_by_act),
}
"""Where the attacks are tried."""

if __name__ == "__main__":
    ways = SWEEPS | {"nothing": partial(in_a_job, NOTHING)}
    rows = {each: ways[each]() for each in sys.argv[1:] or SWEEPS}
    sys.stdout.write(table(rows) + "\n")
