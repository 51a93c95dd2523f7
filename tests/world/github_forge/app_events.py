"""Which permission an App needs to hear of an event.

From GitHub's own descriptions of its webhooks, as the npm package
`@octokit/openapi-webhooks` has them; tests/forge/test_manifests.py compares.
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from msgspec import json

from tests.contract.openapi import SPEC

_HEARD: Final[dict[str, tuple[str, ...]]] = {
    "actions": ("workflow_job", "workflow_run"),
    "administration": (
        "branch_protection_configuration",
        "branch_protection_rule",
        "repository_ruleset",
        "security_and_analysis",
    ),
    "checks": ("check_run", "check_suite"),
    "contents": (
        "commit_comment",
        "create",
        "delete",
        "fork",
        "gollum",
        "push",
        "release",
        "repository_dispatch",
        "workflow_dispatch",
    ),
    "deployments": (
        "deploy_key",
        "deployment",
        "deployment_protection_rule",
        "deployment_review",
        "deployment_status",
    ),
    "discussions": ("discussion", "discussion_comment"),
    "issues": (
        "issue_comment",
        "issue_dependencies",
        "issues",
        "milestone",
        "sub_issues",
    ),
    "members": ("member", "membership", "organization", "team", "team_add"),
    "merge_queues": ("merge_group",),
    "metadata": ("label", "public", "repository", "star", "watch"),
    "organization_administration": ("org_block", "repository_ruleset"),
    "organization_custom_properties": ("custom_property", "custom_property_values"),
    "organization_personal_access_token_requests": ("personal_access_token_request",),
    "organization_projects": ("project", "project_card", "project_column"),
    "packages": ("package", "registry_package"),
    "pages": ("page_build",),
    "pull_requests": (
        "milestone",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "pull_request_review_thread",
    ),
    "repository_advisories": ("repository_advisory",),
    "repository_projects": ("project", "project_card", "project_column"),
    "secret_scanning_alerts": (
        "secret_scanning_alert",
        "secret_scanning_alert_location",
        "secret_scanning_scan",
    ),
    "security_events": ("code_scanning_alert",),
    "statuses": ("status",),
    "vulnerability_alerts": ("dependabot_alert",),
}
EVENT_NEEDS: Final[dict[str, frozenset[str]]] = {
    event: frozenset(name for name, heard in _HEARD.items() if event in heard)
    for events in _HEARD.values()
    for event in events
}
"""Each event with the permissions of which one, to read, is enough."""
FOR_ALL: Final = frozenset({"meta", "security_advisory"})
"""Events that an App may subscribe to whatever its permissions are."""


@cache
def _levels() -> dict[str, list[str]]:
    """Return the levels of each permission that GitHub has."""
    schemas = json.decode(SPEC.read_bytes())["components"]["schemas"]
    own = schemas["app-permissions"]["properties"]
    unlisted = {name: ["read", "write"] for name in _HEARD}
    return unlisted | {name: one["enum"] for name, one in own.items()}


def may_hear(event: str, permissions: Mapping[str, str]) -> bool:
    """Say whether an App with these permissions is told of an event."""
    needs = EVENT_NEEDS.get(event, frozenset())
    return event in FOR_ALL or not needs.isdisjoint({*permissions, "metadata"})


def manifest_faults(permissions: Mapping[str, str], events: Iterable[str]) -> list[str]:
    """Return why GitHub makes no App of a manifest; empty: it does.

    Of events it is GitHub's wording; that of permissions is ours.
    """
    levels = _levels()
    unknown = [name for name in permissions if name not in levels]
    wrong = [
        name
        for name in permissions.keys() & levels.keys()
        if permissions[name] not in levels[name]
    ]
    asked = [*events]
    known = EVENT_NEEDS.keys() | FOR_ALL
    said = {
        "Default permissions unsupported": unknown,
        "Default permissions have no such level": wrong,
        "Default events unsupported": [one for one in asked if one not in known],
        "Default events are not supported by permissions": [
            one for one in asked if not may_hear(one, permissions)
        ],
    }
    return [f"{what}: {_listed(names)}" for what, names in said.items() if names]


def _listed(names: list[str]) -> str:
    *first, last = names
    if len(first) > 1:
        return f"{', '.join(first)}, and {last}"
    return " and ".join(names)
