"""What an installation's token may do: each route asks for one of its permissions.

Whatever is public may be read without; the account's role in the repository is judged
apart. https://docs.github.com/rest/authentication/permissions-required-for-github-apps
"""

import re
from typing import Final

from brat.forge.apps import LEVELS
from brat.forge.calls import Route
from brat.forge.records import Access, Repository
from brat.forge.refusals import Refused

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
"""The first that matches counts; any one of its permissions will do."""
_NEVER_PUBLIC: Final = (("repository_hooks",), ("secrets",))
_REFUSED: Final = "Resource not accessible by integration"


def grants(access: Access, name: str, level: str) -> bool:
    """Say whether a token has a permission."""
    given = dict(access.permissions).get(name, "none")
    return LEVELS.index(given) >= LEVELS.index(level)


def check(access: Access, route: Route, repo: Repository | None) -> None:
    """Let an installation's token through.

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
    """Return the permissions of which a route asks for one."""
    path = route.path.removeprefix(_REPO) or "/"
    for pattern, names in _ASKED:
        if pattern.fullmatch(path):
            return names
    return ()
