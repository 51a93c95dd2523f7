"""REST: who works in a repository.

https://docs.github.com/rest/collaborators/collaborators
"""

from brat.forge.resources import account_resource
from brat.forge.resources.account_resource import User
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.wire.http_refusals import not_found


def _collaborators(call: Call) -> list[User]:
    logins = [login for login, role in call.repo.rights if role != "none"]
    known = map(call.service.forge.user, logins)
    return [who for who in known if who is not None]


async def list_collaborators(call: Call) -> Answer:
    """`GET collaborators`."""

    def shown(who: User) -> dict[str, object]:
        role = call.service.forge.role(call.repo, who)
        more = {"permissions": account_resource.permissions(role), "role_name": role}
        return account_resource.user(call.site, who) | more

    return call.page(_collaborators(call), shown)


async def is_collaborator(call: Call) -> Answer:
    """`GET collaborators/{username}`: 204 if they are, else 404."""
    who = found(call.service.forge.user(call.word("username")))
    if who not in _collaborators(call):
        raise not_found()
    return Answer(status=204)


_PEOPLE = "/repos/{owner}/{repo}/collaborators"
ROUTES = (
    Route("GET", _PEOPLE, list_collaborators, "write"),
    Route("GET", _PEOPLE + "/{username}", is_collaborator, "write"),
)
