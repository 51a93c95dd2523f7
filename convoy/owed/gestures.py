"""What people did by hand to an issue, a pull request or a branch, and what it means.

Pure. It is decided from what the forge shows now, never from a delivery: one that is
repeated or comes late changes nothing.
"""

from collections.abc import Iterator

from convoy import owed
from convoy.events import SHORT, copied, hold_events
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.records import GivenPull
from convoy.model.state import Convoy, Task
from convoy.model.work import Gesture, TakenOut
from convoy.owed import Action, Hear, Note
from convoy.rules import landing
from convoy.rules.observed import IssueSeen, Observed


def gestures(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield what people did to the convoy's issue and to its pull requests."""
    issue = observed.issues.get(convoy.issue)
    if issue and issue.unlabelled_by:
        why = f"cancelled: {issue.unlabelled_by} removed the label"
        end = ConvoyFailed(convoy=convoy.name, why=why, by=issue.unlabelled_by)
        yield Hear(None, end)
    elif convoy.given is not None:
        yield from _gestures_on_given(convoy, convoy.given, observed)
    elif issue is not None:
        yield from _issue_gestures(convoy, issue, observed)
    branch = ids.base_branch(convoy.name)
    if ids.HEADS + branch not in observed.refs:
        return  # the forge closed all its pull requests with it
    yield from _gesture_on_pull(convoy, convoy, branch, convoy.target, observed)
    for task in convoy.tasks:
        if not task.settled:
            own = ids.task_branch(convoy.name, task.number)
            yield from _gesture_on_pull(convoy, task, own, branch, observed)
            if not task.waits_aside:
                yield from pushes(convoy, task, observed)


def pushes(convoy: Convoy, task: Task | None, observed: Observed) -> Iterator[Action]:
    """Yield that somebody pushed to one of its branches, or that it is back."""
    pushed, number = (task or convoy).pushed, task.number if task else 0
    if tip := landing.foreign_tip(convoy, observed.refs, task):
        if pushed is None or tip != pushed.commit:
            yield owed.HearPush(convoy.name, number, tip)
    elif pushed:
        yield Note(None, hold_events.BranchReturned(convoy=convoy.name, task=number))


def _gestures_on_given(
    convoy: Convoy, given: GivenPull, observed: Observed
) -> Iterator[Action]:
    """Yield the end of a convoy whose pull request is not what was given any more."""
    seen = observed.pulls.get(given.number)
    if seen is None or landing.merged_commit(convoy, observed):
        return
    why = ""
    if not seen.open:
        why = "the pull request was closed"
    elif given.lands and seen.base != convoy.target:
        why = f"the base of the pull request is now {seen.base}"
    elif given.lands and seen.head not in {given.head, *convoy.tips}:
        why = f"{seen.head[:SHORT]} has since been pushed to the pull request"
    elif given.lands and seen.draft:
        why = "the pull request was converted to a draft"
    if why:
        yield Note("refinery", ConvoyFailed(convoy=convoy.name, why=why))


def _issue_gestures(
    convoy: Convoy, seen: IssueSeen, observed: Observed
) -> Iterator[Hear]:
    name, issue = convoy.name, convoy.issue
    if seen.gone:
        yield Hear(None, hold_events.IssueGone(convoy=name, issue=issue, how=seen.gone))
    elif seen.open:
        if convoy.issue_is != "open":
            yield Hear(None, hold_events.IssueReopened(convoy=name, issue=issue))
    elif convoy.issue_is == "open":
        pull = observed.pulls.get(convoy.pull or 0)
        # The merge of its own pull request may have closed the issue.
        if convoy.pull is None or (pull is not None and not pull.merged):
            yield Hear(None, hold_events.IssueClosed(convoy=name, issue=issue))


def _gesture_on_pull(
    convoy: Convoy, part: Convoy | Task, branch: str, base: str, observed: Observed
) -> Iterator[Action]:
    seen = observed.pulls.get(part.pull or 0)
    candidate = part.candidate
    if seen is None or (candidate and candidate.commit == candidate.base):
        return  # its base holds all of it: the forge itself may close the pull request
    number = part.number if isinstance(part, Task) else 0
    gesture: Gesture | None = None
    if ids.HEADS + branch not in observed.refs:
        gesture = "branch"  # the forge closes the pull request with it
    elif not seen.open:
        gesture = "closed"
    elif seen.base != base:
        gesture = "base"
    elif seen.draft and not number:
        gesture = "draft"
    found = None
    if gesture and not seen.merged:
        new_base = seen.base if gesture == "base" else ""
        found = TakenOut(gesture=gesture, pull=seen.number, base=new_base)
    if found is not None and found != part.taken_out:
        out = copied(hold_events.WorkTakenOut, found, convoy=convoy.name, task=number)
        yield Hear("refinery", out)
    elif found is None and part.taken_out is not None:
        yield Note(
            "refinery", hold_events.WorkTakenBack(convoy=convoy.name, task=number)
        )
