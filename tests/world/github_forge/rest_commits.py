"""REST: commits, files, and what lies between two commits."""

from brat.forge.resources import run_resource
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Call, Route, found, pull_of
from brat.forge.service.renderer import diff
from tests.world.github_forge import commit_views
from tests.world.github_forge.text_forms import JSON, change_text, form_of


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
    files = list(commit_views.files(call.site, call.repo, change, sha))
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
    return Answer(commit_views.content(call.site, call.repo, (path, revision), blob))


async def compare(call: Call) -> Answer:
    """`GET compare/{base}...{head}`."""
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
            "files": list(
                commit_views.files(site, repo, diff(call.bare, fork, head), head)
            ),
        }
    )


async def list_files(call: Call) -> Answer:
    """`GET pulls/{number}/files`: against where it left its base."""
    pull = pull_of(call)
    fork = found(call.bare.fork_point(pull.base_sha, pull.head_sha))
    change = diff(call.bare, fork, pull.head_sha)
    files = list(commit_views.files(call.site, call.repo, change, pull.head_sha))
    return call.page(files, lambda one: one)


async def list_commits(call: Call) -> Answer:
    """`GET pulls/{number}/commits`: oldest first."""
    pull = pull_of(call)
    own = call.bare.between(pull.base_sha, pull.head_sha)
    return call.page(own, lambda one: run_resource.commit(call.site, call.repo, one))


_REPO = "/repos/{owner}/{repo}"
_PULL = _REPO + r"/pulls/{number:\d+}"
ROUTES = (
    Route("GET", _REPO + "/contents/{path:.+}", get_content),
    Route("GET", _REPO + "/compare/{basehead:.+}", compare),
    Route("GET", _REPO + "/commits/{ref:.+}", get_commit),
    Route("GET", _PULL + "/files", list_files),
    Route("GET", _PULL + "/commits", list_commits),
)
