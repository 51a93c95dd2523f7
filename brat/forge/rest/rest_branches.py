"""REST: a branch, and whether it is protected.

https://docs.github.com/rest/branches/branches
"""

from urllib.parse import quote

from brat.forge.resources import commit_resource, protection_resource
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.service.rule_bindings import is_protected, protection_of
from brat.forge.wire.http_refusals import Refused


async def get_branch(call: Call) -> Answer:
    """`GET branches/{branch}`."""
    name, site, repo = call.word("branch"), call.site, call.repo
    tip = call.bare.tip(name)
    commit = call.bare.commit(tip) if tip else None
    if commit is None:
        raise Refused(404, "Branch not found")
    kept = protection_of(call.service.forge, repo, name)
    face = {
        "name": name,
        "commit": commit_resource.commit(site, repo, commit),
        "_links": {
            "self": f"{site.repo(repo.full_name)}/branches/{quote(name)}",
            "html": site.page(repo.full_name, "tree", quote(name)),
        },
        "protected": is_protected(call.service.forge, repo, name),
        "protection": protection_resource.branch_protection(kept),
        "protection_url": protection_resource.protection_url(site, repo, name),
    }
    return Answer(face)


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
ROUTES = (Route("GET", f"/repos/{{owner}}/{{repo}}/branches/{_BRANCH}", get_branch),)
