"""Announced actions: what is answered, and what is noted done, each once."""

from convoy import ids
from convoy.commands import Answer, NoteDone
from convoy.decide.verdict import Decision, Refusal
from convoy.events import ActionDone, ActionIntended, CommentSaid
from convoy.state import State


def answer(state: State, command: Answer) -> Decision:
    """Announce the answer to a comment, a review or a tick, once."""
    key = command.sign or ids.answer_key(command.comment)
    said = command.comment in state.answered or key in state.heard
    if key in state.intents or said:
        return Refusal(f"{key} is given already")
    return (
        ActionIntended(
            key=key,
            kind="answer",
            issue=command.issue,
            comment=command.comment,
            reaction=command.reaction,
            text=command.text,
        ),
    )


def note_done(state: State, command: NoteDone) -> Decision:
    """Note an announced action done, once."""
    intent = state.intents.get(command.key)
    if intent is None:
        return Refusal(f"{command.key} is not an open action")
    done = ActionDone(key=command.key, number=command.number)
    if intent.kind != "comment":
        return (done,)
    said = CommentSaid(
        convoy=intent.convoy,
        issue=state.convoys[intent.convoy].issue,
        comment=command.number,
    )
    return (done, said)
