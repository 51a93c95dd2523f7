"""The permissions of a token: each route asks for one of them.

Public data may be read without any; the account's role in the repository is checked
apart. https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""

import re
from typing import Final

from brat.forge.resources.account_resource import Access
from brat.forge.resources.repository_resource import Repository
from brat.forge.rest.rest_call import Route
from brat.forge.wire.http_refusals import Refused

LEVELS: Final = ("none", "read", "write", "admin")
"""In rising order."""
_REPO: Final = "/repos/{owner}/{repo}"
_ASKED: Final = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"/(collaborators/.*|rules/.*)?", ("metadata",)),
        (r"/commits/[^/]*/check-runs|/check-runs.*", ("checks",)),
        (r"/commits/[^/]*/status|/statuses/.*", ("statuses",)),
        (r"/(branches|commits|compare|contents|git)/.*", ("contents",)),
        (r"/pulls/[^/]*/merge", ("contents",)),
        (r"/pulls.*", ("pull_requests",)),
        (r"/(issues|labels).*", ("issues", "pull_requests")),
        (r"/actions/(organization-)?secrets", ("secrets",)),
        (r"/actions/.*", ("actions",)),
        (r"/hooks.*", ("repository_hooks",)),
    )
)
"""The first matching pattern counts; any one of its permissions is enough."""
_NEVER_PUBLIC: Final = (("repository_hooks",), ("secrets",))
_REFUSED: Final = "Resource not accessible by integration"


def grants(access: Access, name: str, level: str) -> bool:
    """Say whether a token has a permission."""
    given = dict(access.permissions).get(name, "none")
    return LEVELS.index(given) >= LEVELS.index(level)


def check(access: Access, route: Route, repo: Repository | None) -> None:
    """Check that a token may use a route.

    Raises:
        Refused: 403; it names the permission that is missing.
    """
    if repo is None:
        if route.path == "/user":
            raise Refused(403, _REFUSED)
        return
    reads = route.method == "GET"
    names = _names(route)
    if reads and not repo.private and names not in _NEVER_PUBLIC:
        return
    level = "read" if reads else "write"
    if not any(grants(access, name, level) for name in names):
        needs = "; ".join(f"{name}={level}" for name in names)
        headers = {"X-Accepted-GitHub-Permissions": needs}
        raise Refused(403, _REFUSED, headers=headers)


def _names(route: Route) -> tuple[str, ...]:
    """Return a route's permissions, any one of which is enough."""
    path = route.path.removeprefix(_REPO) or "/"
    for pattern, names in _ASKED:
        if pattern.fullmatch(path):
            return names
    return ()
