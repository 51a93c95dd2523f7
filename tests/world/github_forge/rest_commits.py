"""REST: files of commits, and refs.

https://docs.github.com/en/rest/git/refs
"""

from base64 import encodebytes

from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement

_REPO = "/repos/{owner}/{repo}"


async def get_content(call: Call) -> Answer:
    revision = call.asked("ref", call.repo.default_branch)
    sha = call.bare.resolve(revision)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {revision}")
    path = call.word("path").strip("/")
    blob = found(call.bare.file(sha, path))
    said = encodebytes(blob.data).decode()
    return Answer({"encoding": "base64", "path": path, "content": said})


class RefChange(Body):
    sha: str


def _shown(call: Call, name: str, sha: str) -> dict[str, object]:
    return {"ref": name, "object": {"type": call.bare.kind(sha), "sha": sha}}


def _moved(call: Call, name: str, before: str | None, after: str | None) -> None:
    move = Move(name, before, after)
    RuleEnforcement(call.service).check_move(call.repo, call.user, move)
    call.bare.move(name, after)
    call.service.settle(call.repo, call.user, [move])


async def matching_refs(call: Call) -> Answer:
    refs = call.bare.refs("refs/" + call.word("ref"))
    return call.page(list(refs.items()), lambda one: _shown(call, *one))


async def change_ref(call: Call) -> Answer:
    asked, name = call.body(RefChange), "refs/" + call.word("ref")
    async with call.service.lock(call.repo):
        before = call.bare.ref(name)
        if before is None:
            raise Refused(422, "Reference does not exist")
        if call.bare.kind(asked.sha) is None:
            raise Refused(422, "Object does not exist")
        if not call.bare.reaches(asked.sha, before):
            raise Refused(422, "Update is not a fast forward")
        if before != asked.sha:
            _moved(call, name, before, asked.sha)
    return Answer(_shown(call, name, asked.sha))


async def delete_ref(call: Call) -> Answer:
    name = "refs/" + call.word("ref")
    async with call.service.lock(call.repo):
        before = call.bare.ref(name)
        if before is None:
            raise Refused(422, "Reference does not exist")
        _moved(call, name, before, None)
    return Answer(status=204)


_GIT = _REPO + "/git"
ROUTES = (
    Route("GET", _GIT + "/matching-refs/{ref:.+}", matching_refs),
    Route("PATCH", _GIT + "/refs/{ref:.+}", change_ref, "write"),
    Route("DELETE", _GIT + "/refs/{ref:.+}", delete_ref, "write"),
    Route("GET", _REPO + "/contents/{path:.+}", get_content),
)
