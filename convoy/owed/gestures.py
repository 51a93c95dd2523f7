"""What people did by hand on the forge and the log does not hold yet. Pure.

Decided from what the forge shows now, never from a delivery: one that is repeated or
comes late changes nothing.
"""

from collections.abc import Iterator

from convoy.model.state import Convoy
from convoy.owed.actions import Action, HearIssue
from convoy.owed.pull_gestures import pull_gestures
from convoy.readiness.observed import Observed


def gestures(convoy: Convoy, observed: Observed) -> Iterator[Action]:
    """Yield what people did to the convoy's issue and to its pull requests."""
    yield from _issue_gestures(convoy, observed)
    yield from pull_gestures(convoy, observed)


def _issue_gestures(convoy: Convoy, observed: Observed) -> Iterator[HearIssue]:
    seen = observed.issues.get(convoy.issue)
    if seen is None:
        return
    if seen.gone:
        yield HearIssue(convoy.name, seen.gone)
    elif seen.unlabelled_by:
        yield HearIssue(convoy.name, "unlabelled", seen.unlabelled_by)
    elif seen.open:
        if convoy.issue_is != "open":
            yield HearIssue(convoy.name, "reopened")
    elif convoy.issue_is == "open" and not _may_be_merged(convoy, observed):
        yield HearIssue(convoy.name, "closed")


def _may_be_merged(convoy: Convoy, observed: Observed) -> bool:
    """Whether the merge of its own pull request may have closed the issue."""
    if convoy.pull is None:
        return False
    pull = observed.pulls.get(convoy.pull)
    return pull is None or pull.merged
