"""REST: who works in a repository.

https://docs.github.com/rest/collaborators/collaborators
"""

from typing import Final

from brat.forge.resources import account_resource
from brat.forge.resources.account_resource import Role, User
from brat.forge.resources.wire import not_found
from brat.forge.rest.rest_call import Answer, Call, Route, found

_PERMISSIONS: Final = ("pull", "triage", "push", "maintain", "admin")
_ROLES: Final[dict[str, Role]] = {
    "triage": "triage",
    "push": "write",
    "maintain": "maintain",
    "admin": "admin",
}


def _collaborators(call: Call) -> list[User]:
    logins = [login for login, role in call.repo.rights if role != "none"]
    known = map(call.service.forge.user, logins)
    return [who for who in known if who is not None]


async def list_collaborators(call: Call) -> Answer:
    """`GET collaborators`: without an organisation each is a direct one."""
    call.choice("affiliation", ("all", "direct"))
    least = call.choice("permission", _PERMISSIONS)
    role = _ROLES.get(least, "read")
    people = [
        who
        for who in _collaborators(call)
        if call.service.forge.may(call.repo, who, role)
    ]

    def shown(who: User) -> dict[str, object]:
        role = call.service.forge.role(call.repo, who)
        more = {"permissions": account_resource.permissions(role), "role_name": role}
        return account_resource.user(call.site, who) | more

    return call.page(people, shown)


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
