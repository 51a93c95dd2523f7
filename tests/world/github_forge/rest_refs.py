"""REST: refs and commits of the git database.

https://docs.github.com/en/rest/git/refs
"""

from brat.forge.resources import run_resource
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge import commit_views
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement


class NewRef(Body):
    """The body of `POST git/refs`."""

    ref: str
    sha: str


class RefChange(Body):
    """The body of `PATCH git/refs/{ref}`."""

    sha: str
    force: bool = False


def _shown(call: Call, name: str, sha: str) -> dict[str, object]:
    kind = call.bare.kind(sha) or "commit"
    return commit_views.ref(call.site, call.repo, name, (kind, sha))


def _moved(call: Call, name: str, before: str | None, after: str | None) -> None:
    move = Move(name, before, after)
    caller = Caller(call.user, call.token)
    RuleEnforcement(call.service).check_move(call.repo, caller, move)
    call.bare.move(name, after)
    call.service.pushes.settle(call.repo, call.user, [move])


async def get_ref(call: Call) -> Answer:
    """`GET git/ref/{ref}`."""
    name = "refs/" + call.word("ref")
    return Answer(_shown(call, name, found(call.bare.ref(name))))


async def matching_refs(call: Call) -> Answer:
    """`GET git/matching-refs/{ref}`: those that start like this."""
    refs = call.bare.refs("refs/" + call.word("ref"))
    return call.page(list(refs.items()), lambda one: _shown(call, *one))


async def create_ref(call: Call) -> Answer:
    """`POST git/refs`: one that is not there yet, so it is a claim, too."""
    asked = call.body(NewRef)
    if not asked.ref.startswith("refs/") or asked.ref.count("/") < 2:
        raise Refused(
            422, "Reference name must start with 'refs/' and have two slashes"
        )
    async with call.service.lock(call.repo):
        if call.bare.ref(asked.ref) is not None:
            raise Refused(422, "Reference already exists")
        if call.bare.kind(asked.sha) is None:
            raise Refused(422, "Object does not exist")
        try:
            _moved(call, asked.ref, None, asked.sha)
        except ValueError as error:  # git would not take the name
            raise Refused(
                422, f"{asked.ref} is not a valid ref name: {error}"
            ) from None
    face = _shown(call, asked.ref, asked.sha)
    return Answer(face, 201, {"Location": str(face["url"])})


async def change_ref(call: Call) -> Answer:
    """`PATCH git/refs/{ref}`: only forward, unless `force`."""
    asked, name = call.body(RefChange), "refs/" + call.word("ref")
    async with call.service.lock(call.repo):
        before = call.bare.ref(name)
        if before is None:
            raise Refused(422, "Reference does not exist")
        if call.bare.kind(asked.sha) is None:
            raise Refused(422, "Object does not exist")
        if not asked.force and not call.bare.reaches(asked.sha, before):
            raise Refused(422, "Update is not a fast forward")
        if before != asked.sha:
            _moved(call, name, before, asked.sha)
    return Answer(_shown(call, name, asked.sha))


async def delete_ref(call: Call) -> Answer:
    """`DELETE git/refs/{ref}`."""
    name = "refs/" + call.word("ref")
    async with call.service.lock(call.repo):
        before = call.bare.ref(name)
        if before is None:
            raise Refused(422, "Reference does not exist")
        if name == f"refs/heads/{call.repo.default_branch}":
            raise Refused(422, "The default branch cannot be deleted")
        _moved(call, name, before, None)
    return Answer(status=204)


async def get_commit(call: Call) -> Answer:
    """`GET git/commits/{sha}`."""
    commit = found(call.bare.commit(call.word("sha")))
    return Answer(run_resource.git_commit(call.site, call.repo, commit))


_GIT = "/repos/{owner}/{repo}/git"
ROUTES = (
    Route("GET", _GIT + "/ref/{ref:.+}", get_ref),
    Route("GET", _GIT + "/matching-refs/{ref:.+}", matching_refs),
    Route("POST", _GIT + "/refs", create_ref, "write"),
    Route("PATCH", _GIT + "/refs/{ref:.+}", change_ref, "write"),
    Route("DELETE", _GIT + "/refs/{ref:.+}", delete_ref, "write"),
    Route("GET", _GIT + "/commits/{sha}", get_commit),
)
