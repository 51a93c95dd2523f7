"""What each engine is good at: by configuration, by its type, and by the log.

Pure: for the planner, which gives every task an engine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.path_area import Area, area_of
from convoy.model.records import EngineSpec, TaskSpec
from convoy.model.state import State, Task


@dataclass
class Record:
    """The results of such an engine's tasks in one area."""

    tasks: int = 0
    first: int = 0
    """How many were merged after one attempt."""
    worked: list[int] = field(default_factory=list)
    """Milliseconds, one entry for each task."""
    usd: list[float] = field(default_factory=list)
    """Costs of the tasks whose price is known."""

    def add(self, task: Task) -> None:
        """Count one more task that has settled."""
        self.tasks += 1
        self.first += task.state == "merged" and task.started == 1
        self.worked.append(task.worked_ms)
        if task.used.usd > 0 and not task.used.unpriced_tokens:
            self.usd.append(task.used.usd)

    def __str__(self) -> str:
        """Return the record in a few words."""
        minutes = sum(self.worked) / len(self.worked) / 60_000
        said = (
            f"{self.first} of {self.tasks} merged at the first try, {minutes:.1f} min"
        )
        cost = f", ${sum(self.usd) / len(self.usd):.2f}" if self.usd else ""
        return f"{said}{cost} a task"


def about(task: TaskSpec) -> Area:
    """Return a task's area, by its paths; code if they are unknown."""
    return area_of(task.paths) if task.paths else "code"


def records(state: State, engine: EngineSpec) -> dict[str, Record]:
    """Return how engines of its type and model did, by the tasks' area."""
    found: dict[str, Record] = {}
    for convoy in state.convoys.values():
        for task in convoy.tasks:
            spec = convoy.settings.engines.get(task.spec.engine)
            is_same = spec and (spec.type, spec.model) == (engine.type, engine.model)
            if is_same and task.settled and task.started:
                found.setdefault(about(task.spec), Record()).add(task)
    return dict(sorted(found.items()))


def strengths(state: State, engines: Mapping[str, EngineSpec]) -> Iterator[str]:
    """Return a line for each engine, by name."""
    for name, engine in sorted(engines.items()):
        yield f"`{name}` {strength(state, engine)}"


def strength(state: State, engine: EngineSpec) -> str:
    """Return what an engine is, is good at, and has done."""
    model = f", {engine.model}" if engine.model else ""
    known = ENGINE_TYPES.get(engine.type)
    good = engine.good_at or (known.good_at if known else "")
    at = f": good at {good.rstrip('.')}." if good else "."
    past = "; ".join(f"{k}: {r}" for k, r in records(state, engine).items())
    so_far = f" So far: {past}." if past else ""
    return f"({engine.type}{model}){at}{so_far}"
