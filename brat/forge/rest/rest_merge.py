"""REST: merging a pull request, and whether it is merged.

https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
"""

from brat.forge.resources.pull_resource import Pull
from brat.forge.resources.repository_resource import MergeMethod
from brat.forge.rest.pull_lookup import pull_of
from brat.forge.rest.request_bodies import Body
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.service.merge_methods import MergeOptions
from brat.forge.storage.git_storage import Move
from brat.forge.storage.token_store import Caller
from brat.forge.wire.http_refusals import Refused, not_found


class MergeAsked(Body):
    """The body of `PUT pulls/{number}/merge`."""

    sha: str | None = None
    merge_method: MergeMethod = "merge"
    commit_title: str | None = None
    commit_message: str | None = None


async def merge(call: Call) -> Answer:
    """Merge a pull request; with `sha` only if that is still its head."""
    asked = call.body(MergeAsked)
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        _allowed(call, pull, asked)
        options = MergeOptions(
            asked.merge_method, asked.commit_title, asked.commit_message
        )
        made = call.service.merges.build(call.repo, pull, options, call.user)
        move = Move(f"refs/heads/{pull.base}", pull.base_sha, made)
        call.bare.move(move.ref, made)
        with call.store.change():
            signed = asked.merge_method != "rebase"
            call.service.pushes.merged(call.repo, call.user, pull, made, signed=signed)
            call.service.pushes.settle(call.repo, call.user, [move])
    said = "Pull Request successfully merged"
    return Answer({"sha": made, "merged": True, "message": said})


def _allowed(call: Call, pull: Pull, asked: MergeAsked) -> None:
    issue = call.service.forge.issue_of(pull)
    if issue.state == "closed" or pull.draft:
        raise Refused(405, "Pull Request is not mergeable")
    if asked.sha is not None and asked.sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    caller = Caller(call.user, call.token)
    call.service.merges.check(call.repo, caller, pull, asked.merge_method)


async def is_merged(call: Call) -> Answer:
    """`GET pulls/{number}/merge`: 204 if it is, else 404."""
    if pull_of(call).merged_at is None:
        raise not_found()
    return Answer(status=204)


_MERGE = r"/repos/{owner}/{repo}/pulls/{number:\d+}/merge"
ROUTES = (
    Route("GET", _MERGE, is_merged),
    Route("PUT", _MERGE, merge, "write"),
)
