"""Taking in what an attempt left: the runner's word is a claim, what counts is here.

By the run the log names, the parcel's form, and the gate over the commits as git has
them. Work that may not land is kept under refs/grite/attempts: none is ever lost.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pygit2

from bot.desk import Desk
from bot.reported import chosen, reported, reviewed, split
from bot.repository.bundle import NoBundle
from bot.repository.draft import Draft
from bot.repository.patch import Patch, examined
from bot.repository.survey import files_at, text_at
from bot.roles import intake
from bot.roles.intake import Parcel, Result
from bot.roles.salvage import salvaged
from convoy import ids
from convoy.actions import Collect
from convoy.commands import (
    AcceptNothing,
    AcceptReport,
    AcceptReview,
    AcceptWork,
    Answer,
    BlockTask,
    LoseSession,
    MakeChoice,
    NoteTask,
    PlanConvoy,
    RefuseWork,
    SplitTask,
)
from convoy.events import Cause, Usage
from convoy.kinds import CHANGING, REPORTING, is_last
from convoy.notes import Left
from convoy.outcome import CUT_OFF, FOR_A_PERSON, OUTAGES
from convoy.patterns import choice, report, review
from convoy.planner import answer, splitting
from convoy.planner.answer import House
from convoy.planner.asked import planned_by
from convoy.planner.edges import beside
from convoy.planner.ground import Ground
from convoy.rivals import left, rivals
from convoy.splits import room
from convoy.state import Attempt, Convoy, Task
from convoy.text.plaintext import clean
from convoy.text.redaction import redacted
from convoy.usage import noted, priced
from grite.errors import GitFailed, Unavailable

HEADS: Final = "refs/heads/"
LOST: Final = "the session ended without a result: its machine or its witness died"
LISTED_FILES: Final = 1_000
SUMMARY_CHARS: Final = 500


def collect(desk: Desk, draft: Draft, action: Collect, got: bytes | str) -> None:
    """Take in the artifact, or the reason why there is none; blocking.

    Safe to call twice: an attempt that has ended is left alone.
    """
    convoy = draft.state.convoys[action.convoy]
    task = convoy.in_session(action.task)
    if task is None or task.attempt is None or task.attempt.run != action.run:
        return
    HandIn(desk, draft, convoy, task, task.attempt).take(got)


@dataclass(frozen=True)
class HandIn:
    """One attempt's result on its way into a draft."""

    desk: Desk
    draft: Draft
    convoy: Convoy
    task: Task
    attempt: Attempt

    @property
    def session(self) -> str:
        """The attempt's name."""
        return ids.session_name(self.convoy.name, self.task.number, self.attempt.number)

    @property
    def _gone_on_from(self) -> str:
        """The half-done work that the attempt was given; empty: none."""
        return self.attempt.base if self.attempt.salvaged else ""

    def take(self, got: bytes | str) -> None:
        """Accept, refuse or lose the attempt.

        Raises:
            Unavailable: the forge does not give what the attempt went on from.
        """
        if isinstance(got, str):
            self._lose(got)
            return
        attempt = self.attempt
        if self._gone_on_from:  # it is on no branch
            with suppress(GitFailed):  # then what stands on it says so
                self.desk.mirror.ensure([self._gone_on_from])
        try:
            with intake.opened(
                got, session=self.session, nonce=attempt.nonce, actor=attempt.session
            ) as parcel:
                self.draft.claim(parcel.claims)
                self._judge(parcel)
        except intake.Unfinished as error:
            self.draft.claim(error.claims)
            price = self.convoy.settings.engines[self.task.spec.engine].price
            self._lose(LOST, priced(*noted(error.used), price), error.bundles)
        except intake.Unacceptable as error:
            self._refuse("refused", str(error))

    def _judge(self, parcel: Parcel) -> None:  # noqa: C901  one arm a kind
        result = parcel.result
        if self.task.number == 0:
            self._judge_plan(result)
        elif self.task.spec.kind in REPORTING:
            self._judge_report(parcel)
        elif self.task.spec.kind == "review":
            self._judge_review(result)
        elif self.task.spec.kind == "choice":
            self._judge_choice(result)
        elif self.task.spec.kind == "split":
            self._judge_split(result)
        elif result.commit is not None and result.commit == self._gone_on_from:
            self._pass_gate(result, result.commit)
        elif result.conclusion == "noop" and result.commit is None:
            self._settle(result)
        elif result.commit is None or parcel.bundle is None:
            self._turn_down(result, result.why or "the agent changed nothing")
        elif why := self._bring(parcel, result.commit):
            self._turn_down(result, why)
        else:
            self._pass_gate(result, result.commit)

    def _settle(self, result: Result) -> None:
        """Take the agent's word that nothing is to be done, where a command agrees."""
        if not (self.task.spec.acceptance and result.accepted):
            why = "it has no acceptance command that could agree"
            self._turn_down(result, f"the agent says that nothing is to be done; {why}")
            return
        self._note(result, result.left.followups)
        refused = self.draft.submit(
            AcceptNothing(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                usage=result.used,
            )
        )
        if refused is not None:
            self._turn_down(result, str(refused))

    def _judge_plan(self, result: Result) -> None:
        """Take the answer for the convoy's plan, or tell the next attempt why not."""
        if result.conclusion != "success":
            self._turn_down(result, result.why or "it gave no plan")
            return
        convoy = self.convoy
        house = House(
            files=files_at(self.desk.mirror.path, convoy.base),
            engines=convoy.settings.workers,
            limit=convoy.settings.tasks,
            text=text_at(self.desk.mirror.path, convoy.base),
        )
        try:
            tasks = answer.read(result.report, house)
        except answer.Unusable as error:
            self._refuse("refused", str(error), result)
            return
        self.draft.submit(
            PlanConvoy(
                convoy=convoy.name,
                planner=planned_by(convoy.settings.planner),
                tasks=tasks,
                attempt=self.attempt.number,
                usage=result.used,
                overlaps=self.desk.mirror.foreseen(convoy.base, tasks),
                warnings=beside(tasks, house.ground),
            )
        )

    def _judge_split(self, result: Result) -> None:
        """Take the answer for a task's parts, and say on the issue what they are."""
        convoy = self.convoy
        whole = convoy.task(self.task.spec.on[0])
        if result.conclusion != "success" or whole is None:
            self._turn_down(result, result.why or "it gave no plan")
            return
        house = House(
            files=files_at(self.desk.mirror.path, self.attempt.base),
            engines=convoy.settings.workers,
            limit=room(convoy),
            text=text_at(self.desk.mirror.path, self.attempt.base),
        )
        try:
            parts = splitting.parts(result.report, house, convoy, whole)
        except answer.Unusable as error:
            self._refuse("refused", str(error), result)
            return
        refused = self.draft.submit(
            SplitTask(
                convoy=convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                parts=parts,
                usage=result.used,
            )
        )
        if refused is not None:
            self._refuse("refused", refused.why, result)
            return
        sign = ids.sign_key("split", self.session)
        self.draft.submit(
            Answer(issue=convoy.issue, sign=sign, text=split(whole, parts))
        )

    def _judge_report(self, parcel: Parcel) -> None:
        """Take the answer for what the task found out; what it tried is kept."""
        result, task, convoy = parcel.result, self.task, self.convoy
        if result.commit is not None and not self._bring(parcel, result.commit):
            self._keep(result.commit)
        if result.conclusion != "success":
            self._turn_down(result, result.why or "the engine gave no report")
            return
        known = None if task.spec.kind == "scout" else self._paths()
        try:
            found = report.read(result.report, known)
        except report.Unfit as error:
            self._refuse("refused", str(error), result)
            return
        self._note(result, result.left.followups)
        refused = self.draft.submit(
            AcceptReport(
                convoy=convoy.name,
                task=task.number,
                attempt=self.attempt.number,
                report=found,
                usage=result.used,
            )
        )
        specs = tuple(each.spec for each in convoy.tasks)
        if refused is None and is_last(task.spec, specs):
            sign = ids.sign_key("report", f"{convoy.name}/{task.number}")
            text = reported(task, found)
            self.draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))

    def _judge_review(self, result: Result) -> None:
        """Take the verdict on another task's work, and say it where that is shown."""
        if result.conclusion != "success":
            self._turn_down(result, result.why or "the engine gave no review")
            return
        try:
            found = review.read(result.report)
        except review.Unfit as error:
            self._refuse("refused", str(error), result)
            return
        self._note(result, result.left.followups)
        name, subject = self.convoy.name, self.convoy.task(self.task.spec.on[0])
        refused = self.draft.submit(
            AcceptReview(
                convoy=name,
                task=self.task.number,
                attempt=self.attempt.number,
                verdict=found.verdict,
                text=found.text,
                usage=result.used,
            )
        )
        if refused is not None or subject is None:
            return
        if subject.work is not None and found.verdict == "changes":
            work = subject.work  # its next attempt takes the branch
            self.draft.keep(name, subject.number, work.attempt, work.commit)
        sign = ids.sign_key("review", self.session)
        text = reviewed(self.task, self.attempt.base, found.verdict, found.text)
        where = subject.pull or self.convoy.issue
        self.draft.submit(Answer(issue=where, sign=sign, text=text))

    def _judge_choice(self, result: Result) -> None:
        """Take the choice between rivals, and say it on the issue."""
        if result.conclusion != "success":
            self._turn_down(result, result.why or "the engine chose nothing")
            return
        convoy, task = self.convoy, self.task
        try:
            found = choice.read(result.report, rivals(convoy, task), left(convoy, task))
        except choice.Unfit as error:
            self._refuse("refused", str(error), result)
            return
        self._note(result, result.left.followups)
        refused = self.draft.submit(
            MakeChoice(
                convoy=convoy.name,
                task=task.number,
                attempt=self.attempt.number,
                on=found.winner,
                text=found.text,
                usage=result.used,
            )
        )
        if refused is None:
            sign = ids.sign_key("choice", self.session)
            text = chosen(task, found.winner, found.text)
            self.draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))

    def _paths(self) -> frozenset[str]:
        """Return the files and folders that the attempt was given."""
        files = files_at(self.desk.mirror.path, self.attempt.base)
        return Ground(files=files).known

    def _bring(self, parcel: Parcel, commit: str) -> str:
        """Bring the commits into the mirror; return why they cannot be used."""
        if parcel.bundle is None:
            return "there is no work.bundle"
        try:
            head = self.desk.mirror.take_in(parcel.bundle, self.session)
        except (GitFailed, NoBundle) as error:
            return f"work.bundle cannot be read: {error}"
        if head != commit:
            return "work.bundle does not hold the commit the result names"
        if not self.desk.composer.is_ancestor(self.attempt.base, commit):
            return "the work does not stand on the commit the attempt was given"
        return ""

    def _pass_gate(self, result: Result, commit: str) -> None:
        root = self.attempt.root or self.attempt.base
        patch = self._examined(root, commit)
        if patch.refusals or result.conclusion != "success":
            if patch.keeps:
                self._keep(commit)
            ended = (result.why or "the agent did not finish",)
            is_done = result.conclusion == "success"
            is_half = not patch.refusals and result.outcome in CUT_OFF
            why = " ".join(patch.refusals if is_done else ended)
            left = commit if is_half else ""
            self._turn_down(result, why, left, is_large=patch.is_large)
            return
        if changed := self._changed_tests(commit):
            self._keep(commit)
            names = ", ".join(changed[:5])
            self._turn_down(result, f"it changes the tests it was to pass: {names}")
            return
        self._note(result, result.left.followups)
        commit = self.desk.composer.inert(root, commit)
        refused = self.draft.submit(
            AcceptWork(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                commit=commit,
                base=root,
                files=patch.files[:LISTED_FILES],
                summary=_fit(result.summary)[:SUMMARY_CHARS],
                usage=result.used,
            )
        )
        if refused is None:
            branch = ids.task_branch(self.convoy.name, self.task.number)
            self.draft.move(HEADS + branch, commit)
            if self.task.spec.kind == "rival":
                self._keep(commit)  # whether or not it is chosen

    def _examined(self, root: str, commit: str) -> Patch:
        """Return what the gate says; what cannot be looked at may not land."""
        try:
            return examined(self.desk.mirror.path, root, commit, self.convoy.settings)
        except (GitFailed, Unavailable, pygit2.GitError, LookupError) as error:
            why = f"The work cannot be looked at: {error}."
            return Patch(files=(), refusals=(why,), keeps=False)

    def _changed_tests(self, commit: str) -> tuple[str, ...]:
        """Return the files of the tests that the work was to pass and changes."""
        spec, convoy = self.task.spec, self.convoy
        tests = convoy.task(spec.on[0]) if spec.on else None
        if tests is None or tests.work is None:
            return ()
        patch = self._examined(tests.work.commit, commit)
        return tuple(name for name in patch.files if name in tests.work.files)

    def _keep(self, commit: str) -> None:
        name, number = self.convoy.name, self.task.number
        self.draft.keep(name, number, self.attempt.number, commit)

    def _turn_down(
        self, result: Result, why: str, left: str = "", *, is_large: bool = False
    ) -> None:
        """Refuse the attempt; where only a person can help, ask for one at once.

        `left` is half-done work that was kept and the next attempt goes on from.
        """
        is_for_a_person = result.outcome in FOR_A_PERSON
        gave_up = result.status == "blocked" and not is_for_a_person
        splits = is_large or gave_up or result.outcome == "deadline"
        self._refuse(_cause(result), why, result, left, splits=splits)
        if result.status in intake.NEEDS_A_PERSON or is_for_a_person:
            name, number = self.convoy.name, self.task.number
            self.draft.submit(
                BlockTask(convoy=name, task=number, why=_fit(why), splits=splits)
            )

    def _note(self, result: Result, followups: tuple[str, ...] = ()) -> None:
        """Keep what the agent left for others; of further work only what is given."""
        if self.task.number == 0:
            return
        said = result.left
        left = Left(notes=said.notes, shared=said.shared, followups=followups)
        name, number = self.convoy.name, self.task.number
        attempt = self.attempt.number
        self.draft.submit(
            NoteTask(convoy=name, task=number, attempt=attempt, left=left)
        )

    def _refuse(
        self,
        cause: Cause,
        why: str,
        result: Result | None = None,
        left: str = "",
        *,
        splits: bool = False,
    ) -> None:
        if result is not None:
            self._note(result)
        self.draft.submit(
            RefuseWork(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                cause=cause,
                why=_fit(why),
                now=self.draft.now,
                asked_s=(result and result.retry_after_s) or 0.0,
                usage=result.used if result else Usage(),
                left=left,
                splits=splits,
            )
        )

    def _lose(
        self, why: str, usage: Usage | None = None, bundles: tuple[bytes, ...] = ()
    ) -> None:
        """End the attempt; what it had done until then is kept for the next.

        `bundles` are what its runner left of that, the newest first.
        """
        left = said = ""
        if self.task.number and self.task.spec.kind in CHANGING:
            base, session = self.attempt.base, self.session
            left, said = salvaged(self.desk, session, base, bundles, self._unfit)
        if left:
            self._keep(left)
        self.draft.submit(
            LoseSession(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                cause="lost",
                why=f"{why}; {_fit(said)}" if said else why,
                usage=usage or Usage(),
                left=left,
            )
        )

    def _unfit(self, commit: str) -> str:
        """Return why half-done work may not be gone on from; empty: it may."""
        patch = self._examined(self.attempt.root or self.attempt.base, commit)
        if patch.refusals:
            return " ".join(patch.refusals)
        changed = ", ".join(self._changed_tests(commit)[:5])
        return f"it changes the tests it was to pass: {changed}" if changed else ""


def _cause(result: Result) -> Cause:
    if result.conclusion == "success":
        return "refused"
    if result.outcome == "setup":
        return "setup"
    return "outage" if result.outcome in OUTAGES else "failed"


def _fit(said: str) -> str:
    """Return what a session says so that the log may keep it, and the next be told."""
    return redacted(clean(said))
