"""`make replay`: real histories done again, beside simpler ways, in one run."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.replay import (
    convoy_run,
    generated_history,
    real_histories,
    simpler_ways,
)
from benchmarks.replay.convoy_run import How
from benchmarks.replay.history import MODES, History
from benchmarks.replay.real_histories import PROJECTS

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
    with tempfile.TemporaryDirectory(prefix="brat-replay-") as temporary:
        folder = args.keep or Path(temporary)
        for name in args.names:
            history = _history(name, folder, args)
            _all_ways(folder / name, history, args)


def _history(name: str, folder: Path, args: argparse.Namespace) -> History:
    if name in GENERATED:
        return GENERATED[name](folder / "histories")
    return real_histories.prepared(name, args.data, args.histories)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make replay", description=__doc__)
    parser.add_argument("names", nargs="*", choices=KNOWN, default=[*KNOWN])
    parser.add_argument("--modes", nargs="+", choices=MODES, default=[*MODES])
    parser.add_argument("--seconds", type=float, default=2.0, help="each agent's")
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--flaky", type=float, default=0.0, help="part of CI's runs")
    parser.add_argument("--timeout", type=int, default=1800, help="of a run, seconds")
    parser.add_argument("--beside", type=Path, help="another checkout of brat")
    parser.add_argument("--alone", action="store_true", help="leave simpler ways out")
    parser.add_argument("--histories", type=Path, help="a folder of clones")
    parser.add_argument("--data", type=Path, default=DATA, help="what is made once")
    parser.add_argument("--keep", type=Path, help="a folder in which all stays")
    return parser.parse_args()


def _all_ways(folder: Path, history: History, args: argparse.Namespace) -> None:
    if not args.alone:
        alone = simpler_ways.one_by_one(folder / "alone", history, args.seconds)
        _tell(history, "one by one", alone)
        ends = simpler_ways.critical_path(history, alone, args.seconds)
        bound = round(sum(alone.ci_s), 1)
        _tell(history, "bounds", {"ci_s": bound, "critical_path_s": ends})
        batches = simpler_ways.in_batches(folder / "batches", history, args.seconds)
        _tell(history, "batches", batches)
    others = {"beside": args.beside / ".venv/bin/brat"} if args.beside else {}
    for mode in args.modes:
        for way, brat in {"brat": convoy_run.OURS, **others}.items():
            how = How(
                mode=mode,
                seconds=args.seconds,
                slots=args.slots,
                flaky=args.flaky,
                timeout_s=args.timeout,
                brat=brat,
            )
            done = convoy_run.run(folder / f"{way}-{mode}", history, how)
            _tell(history, f"{way}, {mode}", done)


def _tell(history: History, way: str, figures: object) -> None:
    told = {"history": history.name, "way": way, **msgspec.to_builtins(figures)}
    print(msgspec.json.encode(told).decode(), flush=True)


if __name__ == "__main__":
    main()
