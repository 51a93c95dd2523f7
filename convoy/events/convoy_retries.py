"""A convoy that was given up, or whose landing waits, is taken up again by a person."""

from msgspec.structs import replace

from convoy.events.fact import ConvoyEvent
from convoy.model import ids
from convoy.model.failures import without_failures
from convoy.model.state import Convoy, Moment, State, Task


class ConvoyRetried(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.retried"):
    """The convoy goes on, with the work it had."""

    by: str
    tasks: tuple[int, ...] = ()
    """The tasks that were dropped with it and are taken up again."""

    def sentence(self) -> str:
        numbers = ", ".join(map(str, self.tasks))
        tasks = f", with task {numbers}" if numbers else ""
        return f"{self.by} took the convoy up again{tasks}."

    def change(self, state: State) -> State:
        key = ids.finish_key(self.convoy)  # it is not over any more
        intents = {k: intent for k, intent in state.intents.items() if k != key}
        return without_failures(super().change(replace(state, intents=intents)))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, reds=0, left="", stalled="")
        goes_on = replace(convoy, sync=sync, candidate=None, called=())
        if not convoy.ended:
            return goes_on
        waits = convoy.waits_for_approval and not convoy.vouched_by
        is_planned = bool(convoy.tasks) and not waits
        tasks = (
            _again(task) if task.number in self.tasks else task for task in convoy.tasks
        )
        return replace(
            goes_on,
            state="active" if is_planned else "planning",
            why="",
            given_up_by="",
            ended_at=0,
            tasks=tuple(tasks),
            mayor=_planned_again(convoy),
            vouched_by=self.by if is_planned else convoy.vouched_by,
            vouched_in=0 if is_planned else convoy.vouched_in,
        )


def _again(task: Task) -> Task:
    """Return a task as it was before it was dropped; work in review stays work."""
    return replace(
        task,
        state="needs-review" if task.work is not None else "queued",
        cause="retry",
        why="",
        spent=0,
        rounds=0,
        ended_at=0,
        not_before=0,
    )


def _planned_again(convoy: Convoy) -> Task | None:
    mayor = convoy.mayor
    if mayor is None or convoy.tasks or mayor.state != "dropped":
        return mayor
    return _again(mayor)
