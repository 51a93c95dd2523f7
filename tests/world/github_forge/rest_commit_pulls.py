"""REST: what belongs to a commit or branch and is no commit or branch itself.

A ref may hold slashes, so these routes stand before those of commits and branches.
"""

from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Answer, Call, Route


def _sha(call: Call) -> str:
    sha = call.bare.resolve(call.word("ref"))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.word('ref')}")
    return sha


async def list_commit_pulls(call: Call) -> Answer:
    """`GET commits/{sha}/pulls`: open and merged ones that brought the commit.

    https://docs.github.com/rest/commits/commits#list-pull-requests-associated-with-a-commit
    """
    sha, renderer = _sha(call), call.service.renderer
    pulls = [
        one for one in call.store.pulls.of(call.repo.id) if _brought(call, one, sha)
    ]
    return call.page(pulls, lambda one: renderer.pull(call.repo, one))


def _brought(call: Call, pull: Pull, sha: str) -> bool:
    base = pull.base_sha
    if pull.merge_commit is not None:
        merge = call.bare.commit(pull.merge_commit)
        if merge is None or sha in {pull.merge_commit, pull.head_sha}:
            return merge is not None
        base = str(merge.parent_ids[0])
    elif call.service.forge.issue_of(pull).state == "closed":
        return False
    return sha in {str(one.id) for one in call.bare.between(base, pull.head_sha)}


async def unserved(_: Call) -> Answer:
    """Say honestly that this forge does not have it."""
    raise not_found()


_REPO = "/repos/{owner}/{repo}"
_COMMIT = _REPO + "/commits/{ref:.+}"
ROUTES = (Route("GET", _COMMIT + "/pulls", list_commit_pulls),)
_PARTS = "branches-where-head|check-suites|comments"
UNSERVED = (Route("GET", _COMMIT + f"/{{part:{_PARTS}}}", unserved),)
"""Of GitHub's, and hidden by a ref that may hold slashes if they did not stand here."""
