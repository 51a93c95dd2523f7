"""REST: commits, what they changed, the pull requests that brought them, and refs.

A ref may hold slashes, so these routes stand before those of commits and branches.

https://docs.github.com/en/rest/git/refs
"""

from base64 import encodebytes
from typing import Any
from urllib.parse import quote

import pygit2

from brat.forge.resources.forge_records import Repository
from brat.forge.resources.wire import Refused, Site
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.dull import dull
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.shapes import node_id

_REPO = "/repos/{owner}/{repo}"


def ref(
    site: Site, repo: Repository, name: str, found: tuple[str, str]
) -> dict[str, Any]:
    """A ref; `found` are the kind and the id of what it points at."""
    kind, sha = found
    api = f"{site.repo(repo.full_name)}/git"
    return {
        "ref": name,
        "node_id": node_id("Ref", f"{repo.id}:{name}"),
        "url": f"{api}/{quote(name)}",
        "object": {"type": kind, "sha": sha, "url": f"{api}/{kind}s/{sha}"},
    }


def content(
    site: Site, repo: Repository, where: tuple[str, str], blob: pygit2.Blob
) -> dict[str, Any]:
    """A file; `where` are its path and the revision that was asked for."""
    path, revision = where
    api = f"{site.repo(repo.full_name)}/contents/{quote(path)}?ref={quote(revision)}"
    return {
        **dull("content-file"),
        "encoding": "base64",
        "size": blob.size,
        "name": path.rpartition("/")[2],
        "path": path,
        "content": encodebytes(blob.data).decode(),
        "sha": str(blob.id),
        "url": api,
    }


async def get_content(call: Call) -> Answer:
    revision = call.asked("ref", call.repo.default_branch)
    sha = call.bare.resolve(revision)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {revision}")
    path = call.word("path").strip("/")
    blob = found(call.bare.file(sha, path))
    return Answer(content(call.site, call.repo, (path, revision), blob))


ROUTES = (Route("GET", _REPO + "/contents/{path:.+}", get_content),)


class RefChange(Body):
    sha: str
    force: bool = False


def _shown(call: Call, name: str, sha: str) -> dict[str, object]:
    kind = call.bare.kind(sha) or "commit"
    return ref(call.site, call.repo, name, (kind, sha))


def _moved(call: Call, name: str, before: str | None, after: str | None) -> None:
    move = Move(name, before, after)
    caller = Caller(call.user, call.token)
    RuleEnforcement(call.service).check_move(call.repo, caller, move)
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
        if not asked.force and not call.bare.reaches(asked.sha, before):
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


_GIT = "/repos/{owner}/{repo}/git"
GIT_ROUTES = (
    Route("GET", _GIT + "/matching-refs/{ref:.+}", matching_refs),
    Route("PATCH", _GIT + "/refs/{ref:.+}", change_ref, "write"),
    Route("DELETE", _GIT + "/refs/{ref:.+}", delete_ref, "write"),
)
