"""The pull request that a path names."""

from brat.forge.resources.pull_resource import Pull
from brat.forge.rest.rest_call import Call, found


def pull_of(call: Call) -> Pull:
    """Return the pull request that the path names.

    Raises:
        Refused: 404.
    """
    number = call.number()
    same = [p for p in call.store.pulls.of(call.repo.id) if p.number == number]
    return found(same[0] if same else None)
