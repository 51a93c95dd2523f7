"""What may land: the current candidate, after what it needs."""

from typing import Final

from msgspec import field
from msgspec.structs import replace

from convoy.events.fact import SHORT, ConvoyEvent, clause, subject
from convoy.model.attempt import Candidate, Unmerged
from convoy.model.change import change_task
from convoy.model.records import Strategy
from convoy.model.state import Convoy, Moment, State, Task

UNJUDGED: Final = "CI has not judged what landed"


class MergeAttempted(ConvoyEvent, frozen=True, kw_only=True, tag="merge.attempted"):
    """A candidate was built and pushed for CI to judge; task 0 is the convoy itself."""

    task: int
    strategy: Strategy
    candidate: str
    base: str
    """The commit the candidate stands on: the branch's tip or the candidate ahead."""
    work: str
    """The commit whose work it carries."""
    target: str = ""
    """The target's commit that the work takes in; empty: it takes none in."""

    def sentence(self) -> str:
        return (
            f"Built candidate {self.candidate[:SHORT]} of {subject(self.task)} on "
            f"{self.base[:SHORT]} ({self.strategy})."
        )

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        task = convoy.task(self.task)
        before = task.candidate if task else convoy.candidate
        is_same = before is not None and before.work == self.work
        candidate = Candidate(
            commit=self.candidate,
            base=self.base,
            work=self.work,
            target=self.target,
            at=now.at,
            since=before.since if before is not None and is_same else now.at,
        )
        if self.task == 0:
            return replace(
                convoy, candidate=candidate, offered=self.work, landing_waits=""
            )
        return change_task(
            convoy, self.task, lambda task: replace(task, candidate=candidate)
        )


class MergeFailed(ConvoyEvent, frozen=True, kw_only=True, tag="merge.failed"):
    """It conflicts, or CI found it red."""

    task: int
    candidate: str | None
    why: str
    paths: tuple[str, ...] = ()
    """The files in which it conflicts."""

    def sentence(self) -> str:
        what = subject(self.task).capitalize()
        return f"{what} cannot land: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        if self.task == 0:
            return replace(convoy, candidate=None, asked="")
        after = change_task(
            convoy, self.task, lambda task: self._without_candidate(task, now)
        )
        contested = tuple(sorted({*convoy.contested, *self.paths}))
        return replace(after, contested=contested)

    def _without_candidate(self, task: Task, now: Moment) -> Task:
        work, unmerged = task.work, task.unmerged
        if work is not None and self.paths:
            unmerged = Unmerged(
                attempt=work.attempt,
                commit=work.commit,
                base=work.base,
                paths=self.paths,
                at=now.at,
            )
        return replace(task, candidate=None, unmerged=unmerged)


class MergeLanded(ConvoyEvent, frozen=True, kw_only=True, tag="merge.landed"):
    """The branch moved to the candidate, unchanged, in the push that carries this."""

    task: int
    candidate: str
    branch: str
    judged: tuple[str, ...]
    """The checks that judged the candidate; `("none",)` where CI is not required.
    Empty: the forge or a person merged something that CI did not judge."""
    reporters: dict[str, str] = field(default_factory=dict)
    """The App or account that reported a check, by the check's name. From the first
    landing on, that one's word counts for the check and no other's."""

    def sentence(self) -> str:
        what, commit = subject(self.task).capitalize(), self.candidate[:SHORT]
        judged = f"judged: {', '.join(map(self._said, self.judged))}"
        judged = judged if self.judged else UNJUDGED
        return f"{what} landed on {self.branch} as {commit} ({judged})."

    def _said(self, check: str) -> str:
        by = self.reporters.get(check)
        return f"{check} by {by}" if by else check

    def change(self, state: State) -> State:
        after = super().change(state)
        if self.reporters.items() <= after.reporters.items():
            return after
        return replace(after, reporters=self.reporters | after.reporters)

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return convoy  # task.merged or convoy.completed beside it says the rest
