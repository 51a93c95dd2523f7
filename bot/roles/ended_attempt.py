"""Puts an ended attempt into a draft: its refusal, its notes, its kept commits."""

from dataclasses import dataclass
from typing import Final

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.roles.result_artifact import NEEDS_A_PERSON, Result
from convoy.model import ids
from convoy.model.records import Cause, Usage
from convoy.model.session_result import FOR_A_PERSON, OUTAGES, Left
from convoy.model.state import Convoy, Task
from convoy.model.work import Attempt
from convoy.rules.ending import RefuseWork
from convoy.rules.people import BlockTask
from convoy.rules.plan_changes import NoteTask
from convoy.text import clean, redacted

LOST: Final = "the session ended without a result: its machine or its witness died"


@dataclass(frozen=True)
class EndedAttempt:
    """One attempt whose run has ended."""

    context: BotContext
    draft: Draft
    convoy: Convoy
    task: Task
    attempt: Attempt
    called_off: bool = False
    """Whether the person whose machine it is ended it: then it counts as none."""

    @property
    def session(self) -> str:
        """The attempt's name."""
        return ids.session_name(self.convoy.name, self.task.number, self.attempt.number)

    @property
    def root(self) -> str:
        """The commit against which the attempt's whole work is measured."""
        return self.attempt.root or self.attempt.base

    @property
    def gone_on_from(self) -> str:
        """The half-done commit that the attempt started from; empty: none."""
        return self.attempt.base if self.attempt.salvaged else ""

    def turn_down(
        self, result: Result, why: str, left: str = "", *, is_large: bool = False
    ) -> None:
        """Refuse the attempt; if only a person can help, block the task at once.

        `left` is the half-done commit that the next attempt goes on from.
        """
        is_large = is_large or result.outcome == "oversized"
        is_for_a_person = result.outcome in FOR_A_PERSON or is_large
        gave_up = result.status == "blocked" and not is_for_a_person
        splits = is_large or gave_up or result.outcome == "deadline"
        self.refuse(self._cause(result), why, result, left, splits=splits)
        if result.status in NEEDS_A_PERSON or is_for_a_person:
            self._block(why, splits=splits)

    def _cause(self, result: Result) -> Cause:
        if result.conclusion == "success" or result.refusals:
            return "refused"
        if result.outcome == "setup" or self.called_off:
            return "setup"
        return "outage" if result.outcome in OUTAGES else "failed"

    def turn_away(self, why: str) -> None:
        """End an attempt that never began; it costs none, and a person is asked."""
        why = f"Its job took the task from nobody. {why}"
        self.refuse("setup", why)
        self._block(why, splits=False)

    def _block(self, why: str, *, splits: bool) -> None:
        name, number = self.convoy.name, self.task.number
        self.draft.submit(
            BlockTask(convoy=name, task=number, why=fit(why), splits=splits)
        )

    def refuse(
        self,
        cause: Cause,
        why: str,
        result: Result | None = None,
        left: str = "",
        *,
        splits: bool = False,
    ) -> None:
        """End the attempt without work; its agent's notes are kept all the same."""
        if result is not None:
            self.note(result)
        self.draft.submit(
            RefuseWork(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                cause=cause,
                why=fit(why),
                now=self.draft.now,
                asked_s=(result and result.retry_after_s) or 0.0,
                usage=result.used if result else Usage(),
                left=left,
                splits=splits,
            )
        )

    def note(self, result: Result, followups: tuple[str, ...] = ()) -> None:
        """Keep the agent's notes for others, and only the follow-ups that are given."""
        if self.task.number == 0:
            return
        said = result.left
        left = Left(notes=said.notes, shared=said.shared, followups=followups)
        name, number = self.convoy.name, self.task.number
        attempt = self.attempt.number
        self.draft.submit(
            NoteTask(convoy=name, task=number, attempt=attempt, left=left)
        )

    def keep(self, commit: str) -> str:
        """Keep a commit of the attempt for good; return the ref it is kept at."""
        name, number = self.convoy.name, self.task.number
        return self.draft.keep(name, number, self.attempt.number, commit)


def fit(said: str) -> str:
    """Return a session's text, cleaned and redacted for the log and later attempts."""
    return redacted(clean(said))
