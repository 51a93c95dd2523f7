"""What may land: the current candidate, after what it needs."""

from typing import Final

from msgspec import field
from msgspec.structs import replace

from convoy.events.candidates import MergeAttempted, MergeFailed, MergeLanded
from convoy.events.command import Command, Decision, Events, Refusal, live, task_in
from convoy.events.doubts import MergeCleared
from convoy.events.syncs import SyncLanded
from convoy.events.task_ends import TaskMerged
from convoy.events.task_queue import TaskBlocked
from convoy.events.trials import TestsProven, WorkProven
from convoy.kinds import kind_of
from convoy.kinds.relations import trial
from convoy.model import ids
from convoy.model.records import Cause
from convoy.model.state import Convoy, State, Task
from convoy.readiness.landing import is_judged, kept_back
from convoy.readiness.second_looks import flaky, is_kept, is_suspect
from convoy.readiness.stuck_tasks import unmet
from convoy.readiness.turns import turns
from convoy.readiness.unlanded_work import wants_part
from convoy.rules.consequences import again, completed, convoy_next

HELD_ALREADY: Final = "nothing to do: the branch holds all of its changes already"


class AttemptMerge(Command, frozen=True, kw_only=True):
    """A candidate was built; task 0 is the convoy itself."""

    convoy: str
    task: int
    candidate: str
    base: str
    work: str
    target: str = ""
    """The target's commit that a task's work takes in; empty: it takes none in."""

    def decide(self, state: State) -> Decision:
        """Note a candidate of the newest work, once."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        current = convoy.candidate
        if self.task:
            task = task_in(state, convoy.name, self.task, "needs-review")
            if isinstance(task, Refusal):
                return task
            if unfit := self._unfit(convoy, task):
                return unfit
            current = task.candidate
        elif not (convoy.settled or wants_part(convoy)):
            return Refusal(f"{convoy.name} has tasks that are not settled")
        offered = (self.candidate, self.base, self.work)
        if current and (current.commit, current.base, current.work) == offered:
            return Refusal(f"{self.candidate} is the candidate already")
        by_strategy = self.task and not self.target
        return (
            MergeAttempted(
                convoy=convoy.name,
                task=self.task,
                strategy=convoy.settings.strategy if by_strategy else "merge",
                candidate=self.candidate,
                base=self.base,
                work=self.work,
                target=self.target,
            ),
        )

    def _unfit(self, convoy: Convoy, task: Task) -> Refusal | None:
        """Return why this is no candidate of the task."""
        if task.work is None or task.work.commit != self.work:
            return Refusal(f"task {self.task} has other work by now")
        is_trial = trial(convoy, task) and self.base == task.work.base
        if not is_trial and (waits := kept_back(convoy, task)):
            return Refusal(f"task {self.task} waits for {waits}")
        if kind_of(task.spec).takes_target_in != bool(self.target):
            return Refusal(f"task {self.task} lands in another way")
        return None


class FailMerge(Command, frozen=True, kw_only=True):
    """A task's work conflicts with what is landed, or CI found its candidate red."""

    convoy: str
    task: int
    candidate: str | None
    cause: Cause
    why: str
    paths: tuple[str, ...] = ()
    """The files that conflict."""

    def decide(self, state: State) -> Decision:
        """Send the task back.

        Without a candidate it conflicts; with one, only the current one is blamed, or
        the one that was red last, whose work was kept since.
        """
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if self.candidate is not None and not _may_be_blamed(convoy, self):
            return Refusal(f"{self.candidate} is not the candidate any more")
        failed = MergeFailed(
            convoy=convoy.name,
            task=self.task,
            candidate=self.candidate,
            why=self.why,
            paths=self.paths,
        )
        task = task_in(state, convoy.name, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        if trial(convoy, task) == "green":  # it was tried among others, and is out
            why = self.why
            out = TaskBlocked(
                convoy=convoy.name, task=task.number, why=why, cause="red"
            )
            return (failed, out)
        return (failed, *again(state, convoy.name, task, self.cause, self.why))


class ProveWork(Command, frozen=True, kw_only=True):
    """CI found work on trial as it should be: tests red, a rival's work green."""

    convoy: str
    task: int
    commit: str
    judged: tuple[str, ...]
    lines: int = 0
    """How many lines it adds and removes."""

    def decide(self, state: State) -> Decision:
        """Note that CI found work on trial to be as it should be."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        wanted = trial(convoy, task)
        if wanted is None:
            return Refusal(f"task {task.number} is not tried: it lands as it is")
        if task.work is None or task.work.commit != self.commit or task.is_proven:
            return Refusal(f"{self.commit} is not on trial")
        shown = task.candidate is not None and task.candidate.work == self.commit
        if convoy.settings.require_ci and not shown:
            return Refusal(f"{self.commit} is not the candidate any more")
        if not is_judged(convoy.settings, self.judged):
            return Refusal(f"{self.commit} was not judged by all that must be")
        name, commit, judged = convoy.name, self.commit, self.judged
        if wanted == "red":
            number = task.number
            return (
                TestsProven(convoy=name, task=number, commit=commit, judged=judged),
            )
        proven = WorkProven(
            convoy=name,
            task=task.number,
            commit=commit,
            judged=judged,
            lines=self.lines,
        )
        return (proven,)


class LandMerge(Command, frozen=True, kw_only=True):
    """CI judged the candidate green; the same push moves the branch to it."""

    convoy: str
    task: int
    candidate: str
    judged: tuple[str, ...]
    reporters: dict[str, str] = field(default_factory=dict)
    """Who reported those checks, by the check's name."""

    def decide(self, state: State) -> Decision:
        """Land the current candidate, after all its task needs."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        if not _is_current(convoy, self):
            return Refusal(f"{self.candidate} is not the candidate any more")
        if not is_judged(convoy.settings, self.judged):
            return Refusal(f"{self.candidate} was not judged by all that must be green")
        task = convoy.task(self.task)
        out = kept_back(convoy, task) if task else convoy.taken_out
        if convoy.kept_by or out:
            return Refusal(f"{self.candidate} may not land now")
        landed = MergeLanded(
            convoy=convoy.name,
            task=self.task,
            candidate=self.candidate,
            branch=ids.base_branch(convoy.name) if task else convoy.target,
            judged=self.judged,
            reporters=self.reporters,
        )
        if task is None:
            return (landed, *completed(convoy, self.candidate))
        if needed := unmet(convoy, task):
            return Refusal(f"task {task.number} needs task {needed[0]} merged first")
        if first := turns(convoy).get(task.number):
            return Refusal(f"task {task.number} waits for {first[0].words()}")
        merged = TaskMerged(convoy=convoy.name, task=task.number, commit=self.candidate)
        done = replace(task, state="merged", landed=self.candidate)
        taken = _taken_in(landed, task)
        ends = (*taken, merged, *convoy_next(convoy, done))
        return (*_cleared(landed, task), landed, *ends)


class SettleEmpty(Command, frozen=True, kw_only=True):
    """The branch holds all that a task's work changes: nothing is left to land."""

    convoy: str
    task: int
    work: str

    def decide(self, state: State) -> Decision:
        """Settle a task whose changes came there by other work, or by hand."""
        task = task_in(state, self.convoy, self.task, "needs-review")
        if isinstance(task, Refusal):
            return task
        convoy = state.convoys[self.convoy]
        if task.work is None or task.work.commit != self.work:
            return Refusal(f"task {task.number} has other work by now")
        if waits := kept_back(convoy, task):
            return Refusal(f"task {task.number} waits for {waits}")
        merged = TaskMerged(convoy=convoy.name, task=task.number, why=HELD_ALREADY)
        return (merged, *convoy_next(convoy, replace(task, state="merged")))


def _cleared(landed: MergeLanded, task: Task) -> Events:
    """Return that what lands was red, if it was."""
    if not is_suspect(task):
        return ()
    cleared = MergeCleared(
        convoy=landed.convoy,
        task=task.number,
        candidate=landed.candidate,
        flaky=flaky(task),
    )
    return (cleared,)


def _taken_in(landed: MergeLanded, task: Task) -> Events:
    """Return that the work of a task has taken the target in, if it has."""
    target = task.candidate.target if task.candidate else ""
    taken = SyncLanded(
        convoy=landed.convoy,
        task=task.number,
        candidate=landed.candidate,
        target=target,
        branch=landed.branch,
        judged=landed.judged,
    )
    return (taken,) if target else ()


def _is_current(convoy: Convoy, command: FailMerge | LandMerge) -> bool:
    task = convoy.task(command.task)
    candidate = task.candidate if task else convoy.candidate
    return candidate is not None and candidate.commit == command.candidate


def _may_be_blamed(convoy: Convoy, command: FailMerge) -> bool:
    task = convoy.task(command.task)
    doubt = task.doubted if task is not None and is_kept(task) else None
    if doubt is not None:
        return doubt.candidate == command.candidate
    return _is_current(convoy, command)
