"""Actions that the forge does not make idempotent: announced, done, noted as done."""

from msgspec.structs import replace

from convoy.events.action_sentences import did, will_do
from convoy.events.command import Command, Decision, Refusal
from convoy.events.fact import ConvoyEvent, Event, clause
from convoy.model import ids
from convoy.model.change import change_convoy, change_session, change_task
from convoy.model.given_answers import with_answer
from convoy.model.intent import Intent
from convoy.model.records import ActionKind, Reaction
from convoy.model.set_aside import action_item
from convoy.model.shown_answer import MOST, ShownAnswer
from convoy.model.state import Convoy, Moment, State, Task


class ActionIntended(Event, frozen=True, kw_only=True, tag="action.intended"):
    """An action that the forge does not make idempotent is about to be done."""

    key: str
    kind: ActionKind
    convoy: str = ""
    """The convoy; empty for an answer that concerns none."""
    task: int = 0
    attempt: int = 0
    issue: int = 0
    """For an answer: the issue or pull request to answer on."""
    comment: int = 0
    """For an answer: the comment it answers."""
    reaction: Reaction = ""
    """For an answer: the reaction to that comment."""
    text: str = ""
    """For an answer or a notification: its text; empty: none, or the usual one."""
    by: str = ""
    """For an answer: who asked; empty: nobody did."""
    enough: bool = False
    """For an answer: whether it says that it is enough for now."""

    def sentence(self) -> str:
        return will_do(self.key)

    def change(self, state: State) -> State:
        intent = Intent(
            key=self.key,
            kind=self.kind,
            convoy=self.convoy,
            task=self.task,
            attempt=self.attempt,
            issue=self.issue,
            comment=self.comment,
            reaction=self.reaction,
            text=self.text,
        )
        state = replace(state, intents={**state.intents, self.key: intent})
        if not self.by:
            return state
        now, known = state.moment.at, state.answers
        given = with_answer(known, self.by, self.key, now, enough=self.enough)
        return replace(state, answers=given)


class ActionDone(Event, frozen=True, kw_only=True, tag="action.done"):
    """The action was done; `number` is the run, the pull request or the comment.

    A pull request of 0: the branch holds the task's work already, so there is none.
    """

    key: str
    number: int

    def sentence(self) -> str:
        return did(self.key, self.number)

    def change(self, state: State) -> State:
        intents = dict(state.intents)
        intent = intents.pop(self.key, None)
        aside = {k: v for k, v in state.set_aside.items() if k != action_item(self.key)}
        state = replace(state, intents=intents, set_aside=aside)
        if intent is None:
            return state
        if intent.kind == "answer" and not intent.comment:
            return replace(state, heard=state.heard | {intent.key})
        if intent.kind == "answer":
            return replace(state, answered=state.answered | {intent.comment})
        return change_convoy(
            state, intent.convoy, lambda c: self._noted(c, intent, state.moment)
        )

    def _noted(self, convoy: Convoy, intent: Intent, now: Moment) -> Convoy:
        if intent.kind == "dispatch":
            return change_session(
                convoy, intent.task, lambda task: self._dispatched(task, intent, now)
            )
        if intent.kind == "land":
            return replace(convoy, asked=intent.text)
        if intent.kind != "pull":
            return convoy
        if intent.task == 0:
            return replace(convoy, pull=self.number)
        return change_task(
            convoy, intent.task, lambda task: replace(task, pull=self.number or None)
        )

    def _dispatched(self, task: Task, intent: Intent, now: Moment) -> Task:
        attempt = task.attempt
        if attempt is None or attempt.number != intent.attempt:
            return task
        runs = (*task.runs, self.number) if self.number else task.runs
        begun = replace(attempt, run=self.number, at=now.at)
        return replace(task, attempt=begun, runs=runs)


class CommentSaid(ConvoyEvent, frozen=True, kw_only=True, tag="comment.said"):
    """The convoy's comment stands on the issue and is edited from here on."""

    issue: int
    comment: int

    def sentence(self) -> str:
        return f"Comment {self.comment} on issue #{self.issue} shows the convoy."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, comment=self.comment)


class AnswerShown(ConvoyEvent, frozen=True, kw_only=True, tag="answer.shown"):
    """The convoy's comment shows an answer, which has no comment of its own."""

    by: str
    text: str
    issue: int
    """The issue or pull request where it was asked."""
    comment: int = 0
    """The comment that asked; 0: a review, a tick or a button did."""

    def sentence(self) -> str:
        return f"Answered {self.by} in the convoy's comment: {clause(self.text)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        shown = ShownAnswer(
            by=self.by, text=self.text, issue=self.issue, comment=self.comment
        )
        return replace(convoy, answers=(*convoy.answers, shown)[-MOST:])


class Answer(Command, frozen=True, kw_only=True):
    """Tell the author of a comment what was decided."""

    issue: int
    comment: int = 0
    """The comment; 0: it was the review or tick in `sign`."""
    sign: str = ""
    """A review or a tick: see `ids.sign_key`."""
    reaction: Reaction = ""
    text: str
    by: str = ""
    """Who asked, and so has one answer less; empty: nobody did."""
    enough: bool = False
    """Whether it says that it is enough for now."""
    convoy: str = ""
    """The convoy whose comment shows the text; empty: it is a comment of its own."""

    def decide(self, state: State) -> Decision:
        """Announce the answer to a comment, a review or a tick, once."""
        key = self.sign or ids.answer_key(self.comment)
        said = self.comment in state.answered or key in state.heard
        if key in state.intents or said:
            return Refusal(f"{key} is given already")
        return (
            *self._shown(),
            ActionIntended(
                key=key,
                kind="answer",
                issue=self.issue,
                comment=self.comment,
                reaction=self.reaction,
                text="" if self.convoy else self.text,
                by=self.by,
                enough=self.enough,
            ),
        )

    def _shown(self) -> tuple[AnswerShown, ...]:
        if not self.convoy:
            return ()
        said = AnswerShown(
            convoy=self.convoy,
            by=self.by,
            text=self.text,
            issue=self.issue,
            comment=self.comment,
        )
        return (said,)


class NoteDone(Command, frozen=True, kw_only=True):
    """Note an announced action that was done, or found done, on the forge."""

    key: str
    number: int

    def decide(self, state: State) -> Decision:
        """Note an announced action done, once."""
        intent = state.intents.get(self.key)
        if intent is None:
            return Refusal(f"{self.key} is not an open action")
        done = ActionDone(key=self.key, number=self.number)
        if intent.kind != "comment" or not self.number:
            return (done,)
        said = CommentSaid(
            convoy=intent.convoy,
            issue=state.convoys[intent.convoy].issue,
            comment=self.number,
        )
        return (done, said)
