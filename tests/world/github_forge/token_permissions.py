"""What a restricted token may do: each endpoint needs permissions, public data none.

A restricted token is an App installation's or a workflow job's. Its permissions count,
and not the role of the account that it acts as.
https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""

from typing import Final

from brat.forge.resources.account_resource import Access, Repository
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import NOT_ACCESSIBLE, Call, Route
from tests.world.github_forge.endpoint_permissions import Need, needed, written

LEVELS: Final = ("none", "read", "write", "admin")
"""In rising order."""
ALWAYS: Final = ("metadata", "read")
"""Every installation has it.

https://docs.github.com/apps/creating-github-apps/registering-a-github-app/choosing-permissions-for-a-github-app
"""
_NEVER_PUBLIC: Final = frozenset({"administration", "repository_hooks", "secrets"})


def grants(access: Access, name: str, level: str) -> bool:
    """Say whether a token has a permission."""
    if (name, level) == ALWAYS:
        return True
    given = dict(access.permissions).get(name, "none")
    return LEVELS.index(given) >= LEVELS.index(level)


def check(access: Access, route: Route, repo: Repository | None) -> None:
    """Check that a token may use a route.

    Raises:
        Refused: 403; it names the permissions that would do, if any would.
    """
    if not route.path:
        return  # nothing is there: 404 follows
    needs = needed(route.method, route.path)
    if needs is None:
        raise Refused(403, NOT_ACCESSIBLE)
    is_public = repo is not None and not repo.private and not _is_hidden(needs)
    if is_public and route.method == "GET":
        return
    if not any(all(grants(access, *one) for one in each) for each in needs):
        raise Refused(403, NOT_ACCESSIBLE, headers=accepted(needs))


class TokenPermissions:
    """GitHub's permissions, as the forge's `Extension` asks for them."""

    def check(self, call: Call, route: Route) -> None:
        """Check that a restricted token may use a route."""
        if call.token.access is not None:
            check(call.token.access, route, call.found)

    def accepted(self, route: Route) -> dict[str, str]:
        """Return the header that names what a route needs."""
        needs = needed(route.method, route.path)
        return accepted(needs) if needs else {}

    def check_git(self, access: Access, level: str) -> None:
        """Check that a restricted token may fetch (`read`) or push (`write`)."""
        if not grants(access, "contents", level):
            raise Refused(403, f"This token may not {level} contents.")


def accepted(needs: Need) -> dict[str, str]:
    """Return the header that names what an endpoint needs."""
    return {"X-Accepted-GitHub-Permissions": written(needs)}


def _is_hidden(needs: Need) -> bool:
    return any(name in _NEVER_PUBLIC for each in needs for name, _ in each)
