"""The permissions that each endpoint of GitHub's REST API needs.

From GitHub's own table, `server-to-server-permissions.json` of github/docs, for what
the local forge serves and what bots like ours ask for beside that:
https://docs.github.com/rest/authentication/permissions-required-for-github-apps

A need is written as in the header `X-Accepted-GitHub-Permissions`: sets of permissions
with `;` between them, any one of which is enough, and with `,` inside a set.
https://github.blog/changelog/2023-08-10-x-accepted-github-permissions-header-for-fine-grained-permission-actors
"""

import re
from typing import Final

Need = tuple[tuple[tuple[str, str], ...], ...]
"""Sets of permissions with their levels; any one set is enough."""

_REPO: Final = "/repos/{owner}/{repo}"
_PARAMETER: Final = re.compile(r"\{[^}]*\}")
_SAME: Final = {
    "/actions/artifacts/{}/zip": "/actions/artifacts/{}/{}",
}
"""Addresses of the forge's that GitHub's table has in another form."""
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "metadata=read": (
        "GET ",
        "GET /collaborators/{username}/permission",
        "GET /rules/branches/{branch}",
        "GET /rulesets/{ruleset_id}",
    ),
    "administration=read": (
        "GET /actions/permissions",
        "GET /actions/permissions/selected-actions",
        "GET /actions/permissions/workflow",
    ),
    "administration=write": (
        "PUT /actions/permissions/workflow",
        "PUT /environments/{environment_name}",
        "DELETE /environments/{environment_name}",
        "POST /environments/{environment_name}/deployment-branch-policies",
    ),
    "actions=read": (
        "GET /actions/workflows",
        "GET /actions/workflows/{workflow_id}",
        "GET /actions/workflows/{workflow_id}/runs",
        "GET /actions/runs",
        "GET /actions/runs/{run_id}",
        "GET /actions/runs/{run_id}/jobs",
        "GET /actions/runs/{run_id}/artifacts",
        "GET /environments",
        "GET /environments/{environment_name}/deployment-branch-policies",
        "GET /actions/artifacts/{artifact_id}/{archive_format}",
    ),
    "actions=write": (
        "POST /actions/workflows/{workflow_id}/dispatches",
        "POST /actions/runs/{run_id}/cancel",
        "POST /actions/runs/{run_id}/force-cancel",
    ),
    "checks=read": ("GET /commits/{ref}/check-runs",),
    "checks=write": (
        "POST /check-runs",
        "PATCH /check-runs/{check_run_id}",
    ),
    "statuses=read": (
        "GET /commits/{ref}/status",
        "GET /commits/{ref}/statuses",
    ),
    "statuses=write": ("POST /statuses/{sha}",),
    "contents=read": (
        "GET /branches/{branch}",
        "GET /contents/{path}",
        "GET /git/matching-refs/{ref}",
    ),
    "contents=write": (
        "DELETE /git/refs/{ref}",
        "PUT /pulls/{pull_number}/merge",
    ),
    "contents=write; contents=write,workflows=write": ("PATCH /git/refs/{ref}",),
    "issues=read": (
        "GET /issues",
        "GET /issues/{issue_number}",
        "GET /issues/{issue_number}/dependencies/blocked_by",
        "GET /issues/{issue_number}/sub_issues",
    ),
    "issues=write": (
        "POST /issues",
        "POST /issues/{issue_number}/dependencies/blocked_by",
        "POST /issues/{issue_number}/sub_issues",
        "DELETE /issues/{issue_number}/sub_issue",
        "POST /issues/comments/{comment_id}/reactions",
    ),
    "issues=read; pull_requests=read": (
        "GET /issues/comments",
        "GET /issues/comments/{comment_id}",
        "GET /issues/{issue_number}/comments",
        "GET /issues/{issue_number}/events",
        "GET /labels",
        "GET /labels/{name}",
    ),
    "issues=write; pull_requests=write": (
        "PATCH /issues/comments/{comment_id}",
        "DELETE /issues/comments/{comment_id}",
        "PATCH /issues/{issue_number}",
        "POST /issues/{issue_number}/comments",
        "POST /issues/{issue_number}/labels",
        "DELETE /issues/{issue_number}/labels/{name}",
        "POST /labels",
        "DELETE /labels/{name}",
    ),
    "pull_requests=read; contents=read": ("GET /pulls/{pull_number}",),
    "pull_requests=read": (
        "GET /pulls",
        "GET /pulls/{pull_number}/reviews",
    ),
    "pull_requests=write": (
        "POST /pulls",
        "PATCH /pulls/{pull_number}",
        "POST /pulls/{pull_number}/reviews",
        "POST /pulls/{pull_number}/comments/{comment_id}/replies",
        "PUT /pulls/{pull_number}/reviews/{review_id}/dismissals",
    ),
    "secrets=read": (
        "GET /actions/secrets",
        "GET /actions/organization-secrets",
        "GET /actions/secrets/public-key",
    ),
    "secrets=write": (
        "PUT /actions/secrets/{secret_name}",
        "DELETE /actions/secrets/{secret_name}",
    ),
    "environments=read": (
        "GET /environments/{environment_name}/secrets",
        "GET /environments/{environment_name}/secrets/public-key",
    ),
    "environments=write": (
        "PUT /environments/{environment_name}/secrets/{secret_name}",
    ),
    "actions_variables=read": (
        "GET /actions/variables",
        "GET /actions/variables/{name}",
    ),
    "actions_variables=write": (
        "POST /actions/variables",
        "PATCH /actions/variables/{name}",
        "DELETE /actions/variables/{name}",
    ),
}


def shape(path: str) -> str:
    """Return a path without the names and patterns of its parameters."""
    bare = _PARAMETER.sub("{}", path)
    for ours, theirs in _SAME.items():
        bare = bare.replace(ours, theirs)
    return bare


ENDPOINTS: Final[dict[str, str]] = {
    f"{method} {_REPO}{path}": need
    for need, endpoints in _NEEDS.items()
    for method, path in (endpoint.split(" ") for endpoint in endpoints)
}
"""Each endpoint's need, by method and GitHub's own path."""
FOR_ANY: Final = frozenset(
    {
        "GET /apps/{}",
        "GET /installation/repositories",
        "DELETE /installation/token",
    }
)
"""What each token of an installation may ask for."""
_NEED_OF: Final = {shape(endpoint): need for endpoint, need in ENDPOINTS.items()}


def needed(method: str, path: str) -> str | None:
    """Return what opens a route, as the header has it; None: no token can use it."""
    endpoint = shape(f"{method} {path}")
    return "" if endpoint in FOR_ANY else _NEED_OF.get(endpoint)


def read(need: str) -> Need:
    """Read sets of permissions as the header has them."""
    return tuple(
        tuple((name, level) for name, _, level in (o.partition("=") for o in each if o))
        for each in (one.split(",") for one in need.split("; "))
    )
