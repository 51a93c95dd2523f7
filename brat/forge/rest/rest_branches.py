"""REST: a branch, and the rules that bind it, which are none.

https://docs.github.com/rest/branches/branches
"""

from urllib.parse import quote

from brat.forge.resources import commit_resource
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.wire.http_refusals import Refused

_UNPROTECTED = {
    "enabled": False,
    "required_status_checks": {
        "enforcement_level": "off",
        "contexts": [],
        "checks": [],
    },
}


async def get_branch(call: Call) -> Answer:
    """`GET branches/{branch}`."""
    name, site, repo = call.word("branch"), call.site, call.repo
    tip = call.bare.tip(name)
    commit = call.bare.commit(tip) if tip else None
    if commit is None:
        raise Refused(404, "Branch not found")
    here = f"{site.repo(repo.full_name)}/branches/{quote(name)}"
    face = {
        "name": name,
        "commit": commit_resource.commit(site, repo, commit),
        "_links": {
            "self": here,
            "html": site.page(repo.full_name, "tree", quote(name)),
        },
        "protected": False,
        "protection": _UNPROTECTED,
        "protection_url": f"{here}/protection",
    }
    return Answer(face)


async def list_branch_rules(call: Call) -> Answer:
    """`GET rules/branches/{branch}`: whether the branch is there or not."""
    return call.page([], lambda rule: rule)


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
BRANCH = f"/repos/{{owner}}/{{repo}}/branches/{_BRANCH}"
BRANCH_RULES = "/repos/{owner}/{repo}/rules/branches/{branch:.+}"
ROUTES = (
    Route("GET", BRANCH, get_branch),
    Route("GET", BRANCH_RULES, list_branch_rules),
)
