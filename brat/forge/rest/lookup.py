"""The issue or pull request that a path names."""

from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.pull_resource import Pull
from brat.forge.rest.rest_call import Call, found


def issue_of(call: Call) -> Issue:
    """Return the issue that the path names."""
    number = call.number()
    same = [i for i in call.store.issues.of(call.repo.id) if i.number == number]
    return found(same[0] if same else None)


def pull_of(call: Call) -> Pull:
    """Return the pull request that the path names."""
    number = call.number()
    same = [p for p in call.store.pulls.of(call.repo.id) if p.number == number]
    return found(same[0] if same else None)
