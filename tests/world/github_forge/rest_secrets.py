"""REST: which secrets the runs get. Their names; a value is never shown.

https://docs.github.com/en/rest/actions/secrets
"""

from collections.abc import Sequence

from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.service.run_processes import run_secrets
from tests.world.github_forge import sealed_secrets


async def list_secrets(call: Call) -> Answer:
    """`GET actions/secrets`: those that the forge was started with, and those since."""
    kept = (one.name for one in sealed_secrets.stored(call))
    return _listed(call, sorted({*run_secrets(), *kept}))


async def list_shared(call: Call) -> Answer:
    """`GET actions/organization-secrets`: no organisation shares any."""
    return _listed(call, ())


def _listed(call: Call, names: Sequence[str]) -> Answer:
    made = call.service.forge.now()
    dates = {"created_at": made, "updated_at": made}
    return call.page(names, lambda name: {"name": name, **dates}, wrap="secrets")


_ACTIONS = "/repos/{owner}/{repo}/actions"
ROUTES = (
    Route("GET", _ACTIONS + "/secrets", list_secrets, "write"),
    Route("GET", _ACTIONS + "/organization-secrets", list_shared, "write"),
)
