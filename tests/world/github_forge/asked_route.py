"""Which route of the REST API a call goes to, for guards: they stand before all."""

from brat.forge.resources.wire import API
from brat.forge.rest.rest_call import Call

_REPOSITORIES = (API + "/repos/{owner}/{repo}", API + "/repositories/{repository}")


def asked_route(call: Call) -> str:
    """Return method and path, such as `GET /pulls/{number}` below a repository."""
    resource = call.request.match_info.route.resource
    path = resource.canonical if resource is not None else ""
    for beginning in _REPOSITORIES:
        path = path.removeprefix(beginning)
    return f"{call.request.method} {path}"
