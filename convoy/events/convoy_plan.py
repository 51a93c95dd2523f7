"""How a convoy gets its plan."""

from msgspec.structs import replace

from convoy.events.fact import ConvoyEvent
from convoy.model.records import Estimate, Forecast, Overlap, Scope, TaskSpec, outlined
from convoy.model.state import Convoy, Moment, Task
from convoy.text import counted


class ConvoyPlanned(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.planned"):
    """The convoy has a plan and is active."""

    planner: str
    tasks: tuple[TaskSpec, ...]
    estimate: Estimate | None = None
    """What its tasks may cost; null: unknown."""
    overlaps: tuple[Overlap, ...] = ()
    """Which of its tasks may collide, the likeliest first."""
    warnings: tuple[str, ...] = ()
    """Remarks for readers of the plan, each a sentence without its full stop."""

    scopes: tuple[Scope, ...] = ()
    """What the paths of its tasks are where they start from."""
    forecasts: tuple[Forecast, ...] = ()
    """What earlier tasks of its engines took; of the others nothing is known."""

    def sentence(self) -> str:
        return f"Planned {counted(len(self.tasks), 'task')} ({self.planner})."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(
            convoy,
            state="planning" if convoy.waits_for_approval else "active",
            tasks=tuple(Task(spec=spec) for spec in self.tasks),
            planner=self.planner,
            estimate=self.estimate,
            warnings=self.warnings,
            overlaps=self.overlaps,
            outline=convoy.outline or outlined(self.tasks),
            scopes=self.scopes,
            forecasts=self.forecasts,
        )
