"""REST: who I am, repositories, rights, branches, rules, commits and files."""

from brat.forge.calls import Answer, Call, Route, found
from brat.forge.faces import diff
from brat.forge.refusals import Refused
from brat.forge.views import accounts, commits, repositories


async def get_user(call: Call) -> Answer:
    """`GET /user`."""
    return Answer(accounts.public_user(call.site, call.user))


async def get_repository(call: Call) -> Answer:
    """`GET /repos/{owner}/{repo}`."""
    owner = call.service.faces.owner(call.repo)
    role = call.service.forge.role(call.repo, call.user)
    face = repositories.full_repository(call.site, call.repo, owner, role)
    issues = call.store.issues.of(call.repo.id)
    count = sum(one.state == "open" for one in issues)
    return Answer(face | {"open_issues": count, "open_issues_count": count})


async def get_permission(call: Call) -> Answer:
    """`GET collaborators/{username}/permission`."""
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    return Answer(accounts.collaborator(call.site, who, role))


async def get_branch(call: Call) -> Answer:
    """`GET branches/{branch}`."""
    name = call.word("branch")
    tip = call.bare.tip(name)
    commit = call.bare.commit(tip) if tip else None
    if commit is None:
        raise Refused(404, "Branch not found")
    return Answer(commits.branch(call.site, call.repo, name, commit))


async def list_rules(call: Call) -> Answer:
    """`GET rules/branches/{branch}`: this forge has no rulesets."""
    return call.page((), dict)


async def get_commit(call: Call) -> Answer:
    """`GET commits/{ref}`: with its files."""
    sha = call.bare.resolve(call.word("ref"))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.word('ref')}")
    commit = found(call.bare.commit(sha))
    face = commits.commit(call.site, call.repo, commit)
    if commit.parent_ids:
        change = diff(call.bare, str(commit.parent_ids[0]), sha)
    else:
        change = commit.tree.diff_to_tree(swap=True)
    files = list(commits.files(call.site, call.repo, change, sha))
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
    return Answer(commits.content(call.site, call.repo, (path, revision), blob))


async def compare(call: Call) -> Answer:
    """`GET compare/{base}...{head}`."""
    one, _, other = call.word("basehead").partition("...")
    base, head = call.bare.resolve(one), call.bare.resolve(other)
    fork = call.bare.fork_point(base, head) if base and head else None
    if base is None or head is None or fork is None:
        raise Refused(404, "Not Found")
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
            "base_commit": commits.commit(site, repo, found(call.bare.commit(base))),
            "merge_base_commit": commits.commit(
                site, repo, found(call.bare.commit(fork))
            ),
            "status": words[bool(ahead), bool(behind)],
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [commits.commit(site, repo, each) for each in ahead[:250]],
            "files": list(commits.files(site, repo, diff(call.bare, fork, head), head)),
        }
    )


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", "/user", get_user),
    Route("GET", _REPO, get_repository),
    Route("GET", _REPO + "/collaborators/{username}/permission", get_permission),
    Route("GET", _REPO + "/branches/{branch:.+}", get_branch),
    Route("GET", _REPO + "/rules/branches/{branch:.+}", list_rules),
    Route("GET", _REPO + "/contents/{path:.+}", get_content),
    Route("GET", _REPO + "/compare/{basehead:.+}", compare),
    Route("GET", _REPO + "/commits/{ref:.+}", get_commit),
)
"""The last one takes what rest_checks does not: it is to be added after it."""
