"""`make estimates`: how well the shown finish times of kept runs held.

For each commit of a log that changed a convoy: what its page would have said then, and
when the convoy was complete. Each log is a repository below the folders that are named,
as `make replay ARGS="--keep DIR"` leaves them.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from msgspec import Struct

from convoy.log.record import fold
from convoy.model.state import State
from convoy.views.estimates import Finish, finish
from convoy.views.history import SessionHistory, bot_facts
from grite.wal import Log

FORGE: Final = ".git/brat/forge/repos/*/*.git"


class Point(Struct, frozen=True):
    """A moment at which a finish was shown, and what came of it."""

    shown: Finish
    left_s: float
    """How long the convoy then went on."""
    cost_ms: float
    """Processor time of the estimate."""

    @property
    def holds(self) -> bool:
        """Whether the end lay within the range."""
        return self.shown.soonest <= self.left_s <= self.shown.latest

    @property
    def width(self) -> float:
        """How wide the range was, in parts of the time that was left."""
        return (self.shown.latest - self.shown.soonest) / self.left_s


class Figures(Struct, frozen=True):
    """What became of the estimates of some logs."""

    points: int
    convoys: int
    holds: float
    """In how large a part of the points the end lay within the range."""
    sooner: float
    """In how large a part it came before the range."""
    later: float
    median_width: float
    """Of the ranges, in parts of the time that was left."""
    median_error: float
    """How far the middle was off, in parts of the time that was left."""
    most_ms: float
    """The most processor time that one estimate took."""


def points(log: Log) -> list[list[Point]]:
    """Return the points of each convoy of a log that came to its end, in order."""
    state, history = State(), SessionHistory()
    shown: dict[str, list[tuple[int, Finish, float]]] = defaultdict(list)
    for entry in log.read(log.head() or "", whole=True):
        before, state = state, fold(state, entry.commit, entry.events, entry.actor)
        history.read(bot_facts((entry,), state.bots))
        for convoy in state.live():
            if convoy is not before.convoys.get(convoy.name):
                begun = time.process_time()
                found = finish(convoy, history.of(convoy.name), state.moment.at)
                cost_ms = 1000 * (time.process_time() - begun)
                if found is not None:
                    shown[convoy.name].append((state.moment.at, found, cost_ms))
    ends = {each.name: each.ended_at for each in state.convoys.values()}
    return [
        [
            Point(found, (ends[name] - at) / 1000, cost_ms)
            for at, found, cost_ms in rows
            if at < ends[name]
        ]
        for name, rows in shown.items()
        if state.convoys[name].state == "complete"
    ]


def figures(found: Sequence[Sequence[Point]]) -> Figures:
    """Return what the points of some convoys come to."""
    every = [point for points_of_one in found for point in points_of_one]
    count = len(every)
    return Figures(
        points=count,
        convoys=len(found),
        holds=sum(one.holds for one in every) / count,
        sooner=sum(one.left_s < one.shown.soonest for one in every) / count,
        later=sum(one.left_s > one.shown.latest for one in every) / count,
        median_width=median(one.width for one in every),
        median_error=median(abs(one.shown.likely / one.left_s - 1) for one in every),
        most_ms=max(one.cost_ms for one in every),
    )


def logs(folders: Sequence[Path]) -> dict[str, Log]:
    """Return the forges' logs below some folders, by where they lie."""
    places = (
        bare
        for folder in folders
        for above in ("", "*/", "*/*/")
        for bare in sorted(folder.glob(f"{above}project/{FORGE}"))
    )
    return {str(bare).partition("/project/")[0]: Log(bare) for bare in places}


def main() -> None:
    """Print a JSON line for each log, and one for all of them."""
    parser = argparse.ArgumentParser(prog="make estimates", description=__doc__)
    said = "what was kept: DIR of --keep DIR, or a history in it"
    parser.add_argument("folders", nargs="+", type=Path, help=said)
    args = parser.parse_args()
    every = []
    for name, log in logs(args.folders).items():
        found = [each for each in points(log) if each]
        every += found
        if found:
            _tell(name, figures(found))
    if not every:
        raise SystemExit("no convoy there has come to its end")
    _tell("all", figures(every))


def _tell(name: str, found: Figures) -> None:
    rounded = {
        key: round(value, 3) for key, value in msgspec.to_builtins(found).items()
    }
    print(msgspec.json.encode({"log": name, **rounded}).decode(), flush=True)


if __name__ == "__main__":
    main()
