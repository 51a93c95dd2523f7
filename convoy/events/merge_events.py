"""What may land: candidates, what CI says of them, and how a convoy meets its target.

What CI says against a candidate is looked at again before anybody is blamed. Work that
cannot land on other work in the queue is found before either lands, by merging both for
this alone: the later one leaves the queue until the other has landed or is out, so that
those behind it are built and judged meanwhile.

A convoy's branch takes its target in while its tasks are done, so that the last step,
into the target, moves it to a commit that CI has judged already.
"""

from typing import Final

from msgspec import field
from msgspec.structs import replace

from convoy.events import (
    SHORT,
    ConvoyEvent,
    Events,
    Refusal,
    TaskEvent,
    clause,
    copied,
    subject,
)
from convoy.events.forge_actions import ItemTakenUp, pull_wanted
from convoy.model import ids
from convoy.model.records import Strategy
from convoy.model.state import Convoy, Moment, State, Task, change_part, change_task
from convoy.model.work import Candidate, Doubt, Landing, TargetSync, Unmerged

UNJUDGED: Final = "CI has not tested what landed"


class MergeAttempted(ConvoyEvent, frozen=True, kw_only=True, tag="merge.attempted"):
    """A candidate was built and pushed for CI to test; task 0 is the convoy itself."""

    SAYS = (
        "Built candidate {candidate:short} for {task:part} on {base:short} "
        "({strategy})."
    )
    task: int
    strategy: Strategy
    candidate: str
    base: str
    """The commit it is built on: the branch's tip or the candidate ahead of it."""
    work: str
    """The commit whose work it contains."""
    target: str = ""
    """The target branch's commit that the work merges in; empty: none."""

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        task = convoy.task(self.task)
        before = task.candidate if task else convoy.candidate
        since = before.since if before and before.work == self.work else now.at
        candidate = copied(
            Candidate, self, commit=self.candidate, at=now.at, since=since
        )
        if self.task == 0:
            return replace(
                convoy,
                candidate=candidate,
                offered=self.work,
                tip=self.work,
                built=self.candidate,
                landing_waits="",
            )
        tips = self.work, self.candidate
        return change_task(
            convoy,
            self.task,
            lambda task: replace(task.left_at(*tips), candidate=candidate),
        )


class MergeFailed(ConvoyEvent, frozen=True, kw_only=True, tag="merge.failed"):
    """The work has conflicts, or CI was red on its candidate."""

    SAYS = "{task:Part} cannot land: {why:clause}."
    task: int
    candidate: str | None
    why: str
    paths: tuple[str, ...] = ()
    """The files with conflicts."""
    only_adds: bool = False
    """Whether both sides only added lines to these files."""

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        if self.task == 0:
            return replace(convoy, candidate=None, asked="")
        task = convoy.task(self.task)
        unmerged = task.unmerged if task else None
        if task and task.work and self.paths:
            unmerged = copied(Unmerged, task.work, self, at=now.at)
        return change_part(convoy, self.task, candidate=None, unmerged=unmerged)


_JOBS: Final = "github-actions"


class MergeLanded(ConvoyEvent, frozen=True, kw_only=True, tag="merge.landed"):
    """The push with this event moved the branch to the candidate, unchanged."""

    task: int
    candidate: str
    branch: str
    judged: tuple[str, ...]
    """The checks that tested the candidate; `("none",)` if CI is not required.
    Empty: the forge or a person merged something that CI did not test."""
    reporters: dict[str, str] = field(default_factory=dict)
    """The App or account that reported each check, by the check's name. After the first
    landing, only its reports count for that check."""
    missing: tuple[str, ...] = ()
    """Checks that tested earlier landings but never reported on this one."""

    def sentence(self) -> str:
        what, commit = subject(self.task).capitalize(), self.candidate[:SHORT]
        by = {check: f" by {who}" for check, who in self.reporters.items() if who}
        checks = ", ".join(f"{check}{by.get(check, '')}" for check in self.judged)
        judged = f"checks: {checks}" if self.judged else UNJUDGED
        without = f"; missing: {', '.join(self.missing)}" if self.missing else ""
        return f"{what} landed on {self.branch} as {commit} ({judged}{without})."

    def change(self, state: State) -> State:
        after = super().change(state)
        if self.reporters:
            by = self.reporters.items()
            judges = tuple(sorted(check for check, who in by if who != _JOBS))
            after = replace(after, judges=judges)
        if self.reporters.items() <= after.reporters.items():
            return after
        return replace(after, reporters=self.reporters | after.reporters)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        # task.merged or convoy.completed beside it says the rest
        return replace(convoy, tip=self.candidate) if self.task else convoy


class TestsProven(TaskEvent, frozen=True, kw_only=True, tag="tests.proven"):
    """CI was red on tests whose code does not exist yet, as intended."""

    SAYS = "CI was red on the tests of task {task} ({commit:short}), as intended."
    commit: str
    """The commit with the tests."""
    judged: tuple[str, ...]
    """The checks that CI reported on it."""

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, proven=self.commit, candidate=None)


class WorkProven(TaskEvent, frozen=True, kw_only=True, tag="work.proven"):
    """CI was green on a rival's work alone, so it can be chosen."""

    SAYS = "CI was green on task {task} ({commit:short}), which can now be chosen."
    commit: str
    """The commit of the work."""
    judged: tuple[str, ...]
    """The checks that tested it; `("none",)` if CI is not required."""
    lines: int
    """How many lines it adds and removes."""

    def task_after(self, task: Task, _now: Moment) -> Task:
        return replace(task, proven=self.commit, lines=self.lines, candidate=None)


class MergeDoubted(TaskEvent, frozen=True, kw_only=True, tag="merge.doubted"):
    """CI was red on a candidate or gave no verdict; the work is not sent back yet."""

    candidate: str
    is_red: bool
    """Whether CI was red; otherwise its run was cancelled or timed out."""
    checks: tuple[str, ...] = ()
    """The checks that did not pass."""
    why: str
    """The end of CI's output."""

    def sentence(self) -> str:
        found = "CI was red on" if self.is_red else "CI gave no verdict on"
        which = f"candidate {self.candidate[:SHORT]} for task {self.task}"
        said = f" ({said})" if (said := clause(self.why)) else ""
        again = ", so CI will test it again" if self.is_red else ""
        return f"{found} {which}{said}{again}."

    def task_after(self, task: Task, _now: Moment) -> Task:
        before = task.doubted or Doubt(work=task.work.commit if task.work else "")
        doubt = replace(
            before,
            is_red=before.is_red or self.is_red,
            lost=0 if self.is_red else before.lost + 1,
            judged=before.judged + 1,
            why=self.why,
        )
        return replace(task, doubt=doubt, candidate=None)


class MergeCleared(TaskEvent, frozen=True, kw_only=True, tag="merge.cleared"):
    """Work on which CI was red turned out to be green when tested alone."""

    SAYS = "CI is green on task {task} alone, so the fault was elsewhere."
    candidate: str

    def task_after(self, task: Task, _now: Moment) -> Task:
        doubt = task.doubted
        kept = replace(doubt, is_red=False, lost=0) if doubt else None
        return replace(task, doubt=kept)


class LandingChosen(ConvoyEvent, frozen=True, kw_only=True, tag="landing.chosen"):
    """How the convoy will land under the current rules of its target."""

    landing: Landing
    """The way, what else the rules require, and which rules the bot cannot read."""

    def sentence(self) -> str:
        ways = {
            "push": "with a push",
            "merge": f"through the forge ({self.landing.method})",
            "queue": "through the forge's merge queue",
            "person": "when someone merges it",
        }
        return f"The convoy will land {ways[self.landing.way]}."

    def decide(self, state: State) -> Events:
        """Try the convoy's own step again where a refusal told more of the rules."""
        convoy = self.live(state)
        if convoy.landing == self.landing:
            raise Refusal(f"{convoy.name} already lands that way")
        known = convoy.landing.learnt if convoy.landing else ()
        if self.landing.learnt == known:
            return (self,)
        return (self, ItemTakenUp(item=ids.item("convoy", convoy.name), works=True))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        """Take the way; what the forge was asked for on another way is asked again."""
        is_same = convoy.landing is None or convoy.landing.way == self.landing.way
        asked = convoy.asked if is_same else ""
        return replace(convoy, landing=self.landing, asked=asked)


class LandingWaits(ConvoyEvent, frozen=True, kw_only=True, tag="landing.waits"):
    """What the forge still requires before it merges; an empty `why`: nothing."""

    why: str

    def sentence(self) -> str:
        if not self.why:
            return "The convoy's landing is no longer waiting."
        return f"The convoy's landing is waiting for {self.why}."

    def decide(self, state: State) -> Events:
        if self.live(state).landing_waits == self.why:
            raise Refusal(f"{self.convoy} is already waiting for that")
        return (self,)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, landing_waits=self.why)


class PullMergedEarly(ConvoyEvent, frozen=True, kw_only=True, tag="pull.merged-early"):
    """Someone merged the convoy's pull request before its branch had all the work."""

    SAYS = "Pull request #{pull} was merged early; another will be opened."
    pull: int
    """The pull request's number."""

    def decide(self, state: State) -> Events:
        if self.live(state).pull != self.pull:
            raise Refusal(f"#{self.pull} is no longer its pull request")
        return (self, *pull_wanted(state, self.convoy, 0))

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, pull=None)


class SyncAttempted(ConvoyEvent, frozen=True, kw_only=True, tag="sync.attempted"):
    """A candidate that merges the target into the base branch was built for CI."""

    SAYS = (
        "Built candidate {candidate:short}, which merges target commit {target:short}."
    )
    candidate: str
    base: str
    """The tip of the convoy's branch."""
    target: str

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        made = Candidate(
            commit=self.candidate, base=self.base, work=self.target, at=now.at
        )
        return replace(convoy, sync=replace(convoy.sync, candidate=made, at=now.at))


class SyncFailed(ConvoyEvent, frozen=True, kw_only=True, tag="sync.failed"):
    """The target conflicts with the convoy's branch, or their merge is not green."""

    candidate: str | None
    """The commit that CI tested; null: there was a conflict."""
    target: str
    why: str
    lost: bool = False
    """Whether CI ended without a verdict because it was cancelled or timed out."""

    def sentence(self) -> str:
        if self.lost:
            return f"The target branch has not been merged yet: {clause(self.why)}."
        return f"The target branch cannot be merged: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, at=now.at)
        if self.lost:
            sync = replace(sync, lost=sync.lost + 1)
        else:
            reds = sync.reds + (self.candidate is not None)
            sync = replace(sync, reds=reds, left=self.target)
        return replace(convoy, sync=sync, candidate=None)


class SyncLanded(ConvoyEvent, frozen=True, kw_only=True, tag="sync.landed"):
    """This push moved the convoy's branch to a commit that merges the target in."""

    SAYS = (
        "Merged target commit {target:short} into {branch} as "
        "{candidate:short} (checks: {judged:list})."
    )
    task: int = 0
    """The task that did the merge; 0: none was needed."""
    candidate: str
    target: str
    branch: str
    judged: tuple[str, ...]
    """The checks that tested the candidate; `("none",)` if CI is not required."""

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        task = convoy.task(self.task)
        other = task is not None and task.spec.takes  # another branch than its target
        target = convoy.sync.target if other else self.target
        landed = TargetSync(target=target, commit=self.candidate, at=now.at)
        after = replace(convoy, sync=landed, tip=self.candidate)
        if task is not None:  # it may have begun before a person's work was there
            return after
        tasks = (
            replace(each, on_target="") if each.on_target else each
            for each in convoy.tasks
        )
        return replace(after, tasks=tuple(tasks))


class LandingStalled(ConvoyEvent, frozen=True, kw_only=True, tag="landing.stalled"):
    """CI gives no verdict on the convoy's candidate, so a person must act."""

    SAYS = "The convoy's landing is waiting for a person: {why:clause}."
    why: str

    def decide(self, state: State) -> Events:
        convoy = self.live(state)
        if convoy.candidate is None and convoy.sync.candidate is None:
            raise Refusal(f"CI is not testing a candidate of {convoy.name}")
        return (self,)

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        sync = replace(convoy.sync, candidate=None, stalled=self.why, at=now.at)
        return replace(convoy, sync=sync, candidate=None)
