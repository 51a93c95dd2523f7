"""REST: who I am, repositories, and rights."""

from brat.forge.resources import account_resource, repository_resource
from brat.forge.rest.rest_call import Answer, Call, Route, found


async def get_user(call: Call) -> Answer:
    """`GET /user`."""
    return Answer(account_resource.public_user(call.site, call.user))


async def get_repository(call: Call) -> Answer:
    """`GET /repos/{owner}/{repo}`."""
    owner = call.service.renderer.owner(call.repo)
    role = call.service.forge.role(call.repo, call.user)
    face = repository_resource.full_repository(call.site, call.repo, owner, role)
    issues = call.store.issues.of(call.repo.id)
    count = sum(one.state == "open" for one in issues)
    return Answer(face | {"open_issues": count, "open_issues_count": count})


async def get_permission(call: Call) -> Answer:
    """`GET collaborators/{username}/permission`."""
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    return Answer(account_resource.collaborator(call.site, who, role))


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", "/user", get_user),
    Route("GET", _REPO, get_repository),
    Route("GET", _REPO + "/collaborators/{username}/permission", get_permission),
)
