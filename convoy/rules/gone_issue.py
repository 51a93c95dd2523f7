"""A convoy whose issue is deleted or moved to another repository ends."""

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.issue_gestures import Gone, IssueGone
from convoy.model.state import State
from convoy.rules.stop_task import FailConvoy


class NoteGoneIssue(Command, frozen=True, kw_only=True):
    """The convoy's issue was deleted, or transferred to another repository."""

    convoy: str
    how: Gone

    def decide(self, state: State) -> Decision:
        """Cancel what nobody can speak about any more; what is done is kept."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        why = f"cancelled: issue #{convoy.issue} was {self.how}"
        failed = FailConvoy(convoy=convoy.name, why=why, by="somebody").decide(state)
        if isinstance(failed, Refusal):
            return failed
        gone = IssueGone(convoy=convoy.name, issue=convoy.issue, how=self.how)
        return (gone, *failed)
