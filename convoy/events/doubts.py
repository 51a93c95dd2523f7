"""What CI says against a candidate is looked at again before anybody is blamed."""

from msgspec.structs import replace

from convoy.events.fact import SHORT, ConvoyEvent, clause
from convoy.model.change import change_task
from convoy.model.doubt import Doubt
from convoy.model.possible_help import landed_help
from convoy.model.state import Convoy, Moment, Task


class MergeDoubted(ConvoyEvent, frozen=True, kw_only=True, tag="merge.doubted"):
    """CI found a candidate red, or ended without a verdict; nobody is blamed yet."""

    task: int
    candidate: str
    base: str
    """The commit that the candidate stands on."""
    is_red: bool
    """Whether CI found it red; otherwise its run was cancelled or ran out of time."""
    checks: tuple[str, ...] = ()
    """The checks that did not pass."""
    why: str
    """The end of CI's text."""
    also_red: tuple[int, ...] = ()
    """The tasks whose candidates stand on it and are red by the same checks: the same
    files were judged once more with them."""

    def sentence(self) -> str:
        if self.also_red:
            with_it = "task " + " and ".join(map(str, self.also_red))
            return (
                f"CI is red on candidate {self.candidate[:SHORT]} of task {self.task}, "
                f"and by the same checks with {with_it} on top of it."
            )
        found = "CI is red on" if self.is_red else "CI gave no verdict on"
        which = f"candidate {self.candidate[:SHORT]} of task {self.task}"
        said = f" ({said})" if (said := clause(self.why)) else ""
        return f"{found} {which}{said}: it is judged again before anybody is blamed."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return change_task(convoy, self.task, lambda task: self._doubted(task, convoy))

    def _doubted(self, task: Task, convoy: Convoy) -> Task:
        before = task.doubted or _first_doubt(task)
        after = replace(
            before,
            candidate=self.candidate,
            judged=before.judged + 1,
            why=self.why,
        )
        if self.is_red:
            looks = 2 if self.also_red else 1
            after = replace(
                after,
                base=self.base,
                reds=before.reds + looks,
                times=looks + (before.times if before.base == self.base else 0),
                landed=landed_help(convoy, task.number, before),
                synced=convoy.sync.commit,
                lost=0,
                checks=self.checks,
            )
        else:
            after = replace(after, lost=before.lost + 1)
        return replace(task, doubt=after, candidate=None)


def _first_doubt(task: Task) -> Doubt:
    """Begin to doubt new work; earlier work that was still doubted was given back."""
    was_red = task.doubt is not None and task.doubt.is_open
    return Doubt(work=task.work.commit if task.work else "", is_again=was_red)


class MergeCleared(ConvoyEvent, frozen=True, kw_only=True, tag="merge.cleared"):
    """CI found work green that it had found red."""

    task: int
    candidate: str
    flaky: tuple[str, ...] = ()
    """The checks that were red on identical files before.

    Empty: the candidate's base had other files.
    """

    def sentence(self) -> str:
        if self.flaky:
            checks = ", ".join(self.flaky)
            return (
                f"CI found the same files of task {self.task} red, and then green: a "
                f"flake of {checks}."
            )
        return f"CI is green on task {self.task} by now: the fault was not its own."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        after = change_task(convoy, self.task, _cleared)
        return replace(after, flakes=(*convoy.flakes, *self.flaky))


def _cleared(task: Task) -> Task:
    doubt = task.doubted
    kept = None if doubt is None else replace(doubt, base="", times=0, lost=0)
    return replace(task, doubt=kept)
