"""What a review comes to: the work may land, or goes back, or a person decides."""

from convoy.commands import AcceptReview
from convoy.decide.consequence import changed, freed
from convoy.decide.lookup import in_session
from convoy.decide.sessions import too_late
from convoy.decide.verdict import Decision, Events, Refusal
from convoy.events import TaskBlocked, WorkReviewed
from convoy.state import State, Task


def accept(state: State, command: AcceptReview) -> Decision:
    """Take a verdict; on work that has changed meanwhile it says nothing."""
    task = in_session(state, command.convoy, command.task, command.attempt)
    if isinstance(task, Refusal):
        return task
    if task.spec.kind != "review":
        return Refusal(f"task {task.number} is no review")
    if command.verdict == "changes" and not command.text:
        return Refusal("a review that asks for changes says which")
    attempt = task.attempt
    if task.state != "running" or attempt is None:
        return too_late(state, command, task)
    [number] = task.spec.on
    reviewed = WorkReviewed(
        convoy=command.convoy,
        task=task.number,
        attempt=command.attempt,
        on=number,
        commit=attempt.base,
        verdict=command.verdict,
        text=command.text,
        usage=command.usage,
    )
    free = freed(state, command.convoy, task)
    return (reviewed, *free, *_sent_back(state, command, task, attempt.base))


def _sent_back(
    state: State, command: AcceptReview, review: Task, commit: str
) -> Events:
    """Return what follows when changes are asked for: at most so many rounds."""
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
