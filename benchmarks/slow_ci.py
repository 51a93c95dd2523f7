"""Ten tasks with half a minute of CI each, on ten slots; one is red, or none is."""

from pathlib import Path
from typing import Final

from benchmarks import fleet
from benchmarks.fleet import Load

TASKS: Final = 10
CI_S: Final = 30.0
BAD: Final = 4
"""The task whose first attempt is red."""


def slow_ci(folder: Path, _: int) -> dict[str, object]:
    """Compare with the critical path: one run of CI."""
    green = _runs(folder / "green", bad=0)
    red = _runs(folder / "red", bad=BAD)
    return {
        "bound_s": CI_S,
        "green_s": round(green, 2),
        "ratio": round(green / CI_S, 2),
        "ratio_aim": 1.15,
        "one_red_s": round(red, 2),
        "ratio_one_red": round(red / CI_S, 2),
        "ratio_one_red_aim": 2.1,
    }


def _runs(folder: Path, bad: int) -> float:
    """Return how long a convoy takes, in seconds."""
    load = Load(
        seconds=[0.0] * TASKS,
        slots=TASKS,
        ci=f"sleep {CI_S}; ! grep -q bad work/*",
        ci_slots=TASKS,
        bad=bad,
    )
    source = fleet.project(folder / "source", load)
    return fleet.run(folder / "brat", source, load).wall_s
