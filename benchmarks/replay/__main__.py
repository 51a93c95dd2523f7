"""`make replay`: real histories done again, beside simpler ways, in one run."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from benchmarks.replay import (
    convoy_run,
    generated_history,
    real_histories,
    simpler_ways,
)
from benchmarks.replay.convoy_run import How, Outcome
from benchmarks.replay.history import MODES, History
from benchmarks.replay.real_histories import PROJECTS
from benchmarks.replay.simpler_ways import Peer
from grite.errors import BratError

GENERATED: Final[dict[str, Callable[[Path], History]]] = {
    "mixed": generated_history.mixed,
    "herd": generated_history.herd,
    "apart": generated_history.apart,
}
KNOWN: Final = (*GENERATED, *PROJECTS)
DATA: Final = Path.home() / ".cache/brat-replay"


def main() -> None:
    """Do what is asked for, and print a JSON line for each way of doing it."""
    args = _arguments()
    left_out = []
    with tempfile.TemporaryDirectory(prefix="brat-replay-") as temporary:
        folder = args.keep or Path(temporary)
        for name in args.names:
            try:
                history = _history(name, folder, args)
            except BratError as error:
                left_out.append(f"{name}: {error}")
                continue
            first = history.changes[: args.changes]
            _all_ways(folder / name, replace(history, changes=first), args)
    if left_out:
        raise SystemExit("\n".join([f"{len(left_out)} left out", *left_out]))


def _history(name: str, folder: Path, args: argparse.Namespace) -> History:
    if name in GENERATED:
        return GENERATED[name](folder / "histories")
    return real_histories.prepared(name, args.data, args.histories)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make replay", description=__doc__)
    known = ", ".join(KNOWN)
    parser.add_argument("names", nargs="*", help=f"all when not given; of {known}")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=[*MODES])
    parser.add_argument("--changes", type=int, help="only so many, the first ones")
    parser.add_argument("--seconds", type=float, default=2.0, help="each agent's")
    parser.add_argument("--slots", type=int, default=4, help="agents at once")
    parser.add_argument("--flaky", type=float, default=0.0, help="part of CI's runs")
    parser.add_argument("--timeout", type=int, default=1800, help="of a run, seconds")
    parser.add_argument("--beside", type=Path, help="another checkout of brat")
    parser.add_argument("--alone", action="store_true", help="leave simpler ways out")
    parser.add_argument("--histories", type=Path, help="a folder of clones")
    parser.add_argument("--data", type=Path, default=DATA, help="what is made once")
    parser.add_argument("--keep", type=Path, help="a folder in which all stays")
    args = parser.parse_args()
    args.names = args.names or KNOWN
    if unknown := set(args.names) - set(KNOWN):
        parser.error(f"no history is called {', '.join(unknown)}: there are {known}")
    return args


def _all_ways(folder: Path, history: History, args: argparse.Namespace) -> None:
    alone = None if args.alone else _simpler(folder, history, args.seconds)
    others = {"beside": args.beside / ".venv/bin/brat"} if args.beside else {}
    for mode in args.modes:
        for way, brat in {"brat": convoy_run.OURS, **others}.items():
            how = How(
                mode=mode,
                seconds=args.seconds,
                slots=args.slots,
                flaky=args.flaky,
                timeout_s=args.timeout,
                brat=brat.absolute(),
            )
            done = convoy_run.run(folder / f"{way}-{mode}", history, how)
            ratios = _ratios(history, done, alone, args.seconds)
            _tell(history, f"{way}, {mode}", done, ratios)


def _simpler(folder: Path, history: History, seconds: float) -> Peer:
    alone = simpler_ways.one_by_one(folder / "alone", history, seconds)
    _tell(history, "one by one", alone)
    batches = simpler_ways.in_batches(folder / "batches", history, seconds)
    _tell(history, "batches of four", batches, {"wall": batches.wall_s / alone.wall_s})
    return alone


def _ratios(
    history: History, done: Outcome, alone: Peer | None, seconds: float
) -> dict[str, float]:
    """Return what the aims are about, each to be at most so much."""
    count = done.changes
    told = {"sessions": done.sessions / count, "ci_runs": done.ci_runs / count}
    if alone is None:
        return told
    ci_s, path_s = sum(alone.ci_s), simpler_ways.critical_path(history, alone, seconds)
    return told | {
        "to_one_by_one": done.wall_s / alone.wall_s,
        "to_bound": done.wall_s / max(ci_s, path_s),
        "ci_bound_s": ci_s,
        "critical_path_s": path_s,
    }


def _tell(
    history: History,
    way: str,
    figures: Peer | Outcome,
    ratios: dict[str, float] | None = None,
) -> None:
    told = {"history": history.name, "way": way, **msgspec.to_builtins(figures)}
    told.pop("ci_s", None)
    if ratios:
        told["ratios"] = {name: round(each, 2) for name, each in ratios.items()}
    print(msgspec.json.encode(told).decode(), flush=True)


if __name__ == "__main__":
    main()
