"""How pushes are judged, changed while the forge runs: GitHub has nothing of the kind.

Only the repository's owner may: the command runs with all rights of whoever started
the forge.
"""

from msgspec.structs import replace

from brat.forge.resources.repository_resource import Ci
from brat.forge.rest.rest_call import Answer, Call, Route

PLACE = "/_ci/{owner}/{repo}"
"""Below the forge's own address."""


async def put_ci(call: Call) -> Answer:
    """Take a whole `Ci`; it counts for what is judged from now on."""
    ci, forge = call.body(Ci), call.service.forge
    async with call.service.lock(call.repo):
        settings = replace(call.repo.settings, ci=ci)
        repo = forge.set_settings(call.repo.full_name, settings)
        call.service.judge.look_again(repo)
    return Answer(status=204)


ROUTE = Route("PUT", PLACE, put_ci, "admin")
