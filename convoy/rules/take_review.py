"""A review's verdict: the work may land, or goes back, or a person decides."""

from convoy.events.command import Command, Decision, Events, Refusal, in_session
from convoy.events.review_verdicts import WorkReviewed
from convoy.events.task_queue import TaskBlocked
from convoy.kinds.review_kind import KIND
from convoy.model.records import Opinion, Usage
from convoy.model.state import State, Task
from convoy.rules.consequences import changed, freed, too_late


class AcceptReview(Command, frozen=True, kw_only=True):
    """The attempt ended in a verdict on another task's work."""

    convoy: str
    task: int
    attempt: int
    verdict: Opinion
    text: str = ""
    usage: Usage = Usage()

    def decide(self, state: State) -> Decision:
        """Take a verdict; one on work that has changed meanwhile does not count."""
        task = in_session(state, self.convoy, self.task, self.attempt)
        if isinstance(task, Refusal):
            return task
        if task.spec.kind != KIND.name:
            return Refusal(f"task {task.number} is no review")
        if self.verdict == "changes" and not self.text:
            return Refusal("a review that asks for changes says which")
        attempt = task.attempt
        if task.state != "running" or attempt is None:
            return too_late(state, self.convoy, task, self.attempt, self.usage)
        [number] = task.spec.on
        reviewed = WorkReviewed(
            convoy=self.convoy,
            task=task.number,
            attempt=self.attempt,
            on=number,
            commit=attempt.base,
            verdict=self.verdict,
            text=self.text,
            usage=self.usage,
        )
        free = freed(state, self.convoy, task)
        return (reviewed, *free, *_sent_back(state, self, task, attempt.base))


def _sent_back(
    state: State, command: AcceptReview, review: Task, commit: str
) -> Events:
    """Return what follows when a review asks for changes; the rounds are limited."""
    convoy = state.convoys[command.convoy]
    subject = convoy.task(review.spec.on[0])
    is_current = subject and subject.work and subject.work.commit == commit
    if command.verdict == "approve" or subject is None or not is_current:
        return ()
    if subject.state != "needs-review":
        return ()
    if review.rounds >= review.spec.rounds:
        rounds = "round" if review.spec.rounds == 1 else "rounds"
        why = (
            f"it asks for changes after {review.spec.rounds} {rounds} of them; drop it "
            f"to let the work land as it is, retry it to go on: {command.text}"
        )
        return (TaskBlocked(convoy=convoy.name, task=review.number, why=why),)
    why = f"the review by task {review.number} asks for changes: {command.text}"
    return changed(convoy, subject, why)
