"""REST: commits, what they changed, the pull requests that brought them, and refs.

A ref may hold slashes, so what belongs to a commit stands before commits and branches.

A ref may hold slashes, so these routes stand before those of commits and branches.

https://docs.github.com/en/rest/git/refs
"""

from base64 import encodebytes
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pygit2
from pygit2.enums import DeltaStatus

from brat.forge.resources import run_resource
from brat.forge.resources.account_resource import Repository
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused, Site, node_id, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, pull_of
from brat.forge.service.renderer import diff
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.text_rules import JSON, change_text, form_of


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
COMMIT_PULLS = (Route("GET", _COMMIT + "/pulls", list_commit_pulls),)
_PARTS = "branches-where-head|check-suites|comments"
UNSERVED = (Route("GET", _COMMIT + f"/{{part:{_PARTS}}}", unserved),)
"""Of GitHub's, and hidden by a ref that may hold slashes if they did not stand here."""


_STATUS = {
    DeltaStatus.ADDED: "added",
    DeltaStatus.DELETED: "removed",
    DeltaStatus.RENAMED: "renamed",
    DeltaStatus.COPIED: "copied",
    DeltaStatus.TYPECHANGE: "changed",
}


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
    git = f"{site.repo(repo.full_name)}/git/blobs/{blob.id}"
    page = site.page(repo.full_name, "blob", quote(revision), quote(path))
    return {
        "type": "file",
        "encoding": "base64",
        "size": blob.size,
        "name": path.rpartition("/")[2],
        "path": path,
        "content": encodebytes(blob.data).decode(),
        "sha": str(blob.id),
        "url": api,
        "git_url": git,
        "html_url": page,
        "download_url": None,
        "_links": {"self": api, "git": git, "html": page},
    }


def changed_files(
    site: Site, repo: Repository, diff: pygit2.Diff, head: str
) -> Iterator[dict[str, Any]]:
    """Yield the files that a diff touches; `head` is the commit it leads to."""
    for patch in diff:
        if patch is None:
            continue
        delta = patch.delta
        path = delta.new_file.path or delta.old_file.path
        _, added, removed = patch.line_stats
        shape = {
            "sha": str(delta.new_file.id),
            "filename": path,
            "status": _STATUS.get(delta.status, "modified"),
            "additions": added,
            "deletions": removed,
            "changes": added + removed,
            "blob_url": site.page(repo.full_name, "blob", head, quote(path)),
            "raw_url": site.page(repo.full_name, "raw", head, quote(path)),
            "contents_url": f"{site.repo(repo.full_name)}/contents/{quote(path)}"
            f"?ref={head}",
        }
        if not delta.is_binary:
            text = patch.text or ""
            shape["patch"] = text[text.find("@@") :] if "@@" in text else ""
        if delta.status == DeltaStatus.RENAMED:
            shape["previous_filename"] = delta.old_file.path
        yield shape


async def get_commit(call: Call) -> Answer:
    """`GET commits/{ref}`: with its files."""
    sha = call.bare.resolve(call.word("ref"))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.word('ref')}")
    commit = found(call.bare.commit(sha))
    if form_of(call) == "sha":
        return Answer(sha.encode())
    if form_of(call) != JSON:
        return await change_text(call, None, sha)
    face = run_resource.commit(call.site, call.repo, commit)
    if commit.parent_ids:
        change = diff(call.bare, str(commit.parent_ids[0]), sha)
    else:
        change = commit.tree.diff_to_tree(swap=True)
    files = list(changed_files(call.site, call.repo, change, sha))
    stats = {
        "additions": change.stats.insertions,
        "deletions": change.stats.deletions,
        "total": change.stats.insertions + change.stats.deletions,
    }
    return Answer(face | {"files": files, "stats": stats})


async def get_content(call: Call) -> Answer:
    """`GET contents/{path}`: a file."""
    revision = call.asked("ref", call.repo.default_branch)
    sha = call.bare.resolve(revision)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {revision}")
    path = call.word("path").strip("/")
    blob = found(call.bare.file(sha, path))
    if form_of(call) != JSON:
        return Answer(blob.data)
    return Answer(content(call.site, call.repo, (path, revision), blob))


async def compare(call: Call) -> Answer:
    one, _, other = call.word("basehead").partition("...")
    base, head = call.bare.resolve(one), call.bare.resolve(other)
    fork = call.bare.fork_point(base, head) if base and head else None
    if base is None or head is None or fork is None:
        raise Refused(404, "Not Found")
    if form_of(call) != JSON:
        return await change_text(call, fork, head)
    ahead, behind = call.bare.between(base, head), call.bare.between(head, base)
    words = {
        (True, True): "diverged",
        (True, False): "ahead",
        (False, True): "behind",
        (False, False): "identical",
    }
    repo, site = call.repo, call.site
    page = site.page(repo.full_name, "compare", f"{base}...{head}")
    return Answer(
        {
            "url": f"{site.repo(repo.full_name)}/compare/{base}...{head}",
            "html_url": page,
            "permalink_url": page,
            "diff_url": page + ".diff",
            "patch_url": page + ".patch",
            "base_commit": run_resource.commit(
                site, repo, found(call.bare.commit(base))
            ),
            "merge_base_commit": run_resource.commit(
                site, repo, found(call.bare.commit(fork))
            ),
            "status": words[bool(ahead), bool(behind)],
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [run_resource.commit(site, repo, each) for each in ahead[:250]],
            "files": list(changed_files(site, repo, diff(call.bare, fork, head), head)),
        }
    )


async def list_files(call: Call) -> Answer:
    """`GET pulls/{number}/files`: against where it left its base."""
    pull = pull_of(call)
    fork = found(call.bare.fork_point(pull.base_sha, pull.head_sha))
    change = diff(call.bare, fork, pull.head_sha)
    files = list(changed_files(call.site, call.repo, change, pull.head_sha))
    return call.page(files, lambda one: one)


async def list_commits(call: Call) -> Answer:
    """`GET pulls/{number}/commits`: oldest first."""
    pull = pull_of(call)
    own = call.bare.between(pull.base_sha, pull.head_sha)
    return call.page(own, lambda one: run_resource.commit(call.site, call.repo, one))


_PULL = _REPO + r"/pulls/{number:\d+}"
ROUTES = (
    Route("GET", _REPO + "/contents/{path:.+}", get_content),
    Route("GET", _REPO + "/compare/{basehead:.+}", compare),
    Route("GET", _REPO + "/commits/{ref:.+}", get_commit),
    Route("GET", _PULL + "/files", list_files),
    Route("GET", _PULL + "/commits", list_commits),
)


class NewRef(Body):
    ref: str
    sha: str


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
    call.service.pushes.settle(call.repo, call.user, [move])


async def get_ref(call: Call) -> Answer:
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
    name = "refs/" + call.word("ref")
    async with call.service.lock(call.repo):
        before = call.bare.ref(name)
        if before is None:
            raise Refused(422, "Reference does not exist")
        if name == f"refs/heads/{call.repo.default_branch}":
            raise Refused(422, "The default branch cannot be deleted")
        _moved(call, name, before, None)
    return Answer(status=204)


async def get_git_commit(call: Call) -> Answer:
    commit = found(call.bare.commit(call.word("sha")))
    return Answer(run_resource.git_commit(call.site, call.repo, commit))


_GIT = "/repos/{owner}/{repo}/git"
GIT_ROUTES = (
    Route("GET", _GIT + "/ref/{ref:.+}", get_ref),
    Route("GET", _GIT + "/matching-refs/{ref:.+}", matching_refs),
    Route("POST", _GIT + "/refs", create_ref, "write"),
    Route("PATCH", _GIT + "/refs/{ref:.+}", change_ref, "write"),
    Route("DELETE", _GIT + "/refs/{ref:.+}", delete_ref, "write"),
    Route("GET", _GIT + "/commits/{sha}", get_git_commit),
)
