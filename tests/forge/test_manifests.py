"""Manifests: GitHub makes an App of one, or refuses it as a whole."""

import re

import pytest

from bot.forge.app_auth import PERMISSIONS
from bot.serving.github_app import EVENTS
from tests.contract.webhook_schemas import description
from tests.world.github_forge.apps import EVENT_NEEDS, FOR_ALL, manifest_faults

NEEDED = re.compile(r"must have at least read-level access for the (.*?)\.(?:$|\s)")
UNDOCUMENTED = {"package", "registry_package", "meta", "security_advisory"}
"""Events of Apps whose permission GitHub does not tell, or that need an App's own."""
ORGANISATIONS = {
    "Administration": "organization_administration",
    "Custom properties": "organization_custom_properties",
    "Personal access token requests": "organization_personal_access_token_requests",
    "Projects": "organization_projects",
}
REPOSITORIES = {
    "Code scanning alerts": "security_events",
    "Commit statuses": "statuses",
    "Dependabot alerts": "vulnerability_alerts",
    "Projects": "repository_projects",
    "Repository security advisories": "repository_advisories",
}


def documented(said: str) -> frozenset[str]:
    """Return the permissions that a sentence of GitHub's names by their titles."""
    found = set()
    for title in re.findall(r'"([^"]+)"', said):
        plain = title.lower().replace(" ", "_")
        if "organization" in said:
            found.add(ORGANISATIONS.get(title, plain))
        if "organization permission" not in said or " or organization" in said:
            found.add(REPOSITORIES.get(title, plain))
    return frozenset(found)


@pytest.mark.needs("npm")
def test_what_an_event_needs_is_githubs() -> None:
    told = description()["webhooks"]
    theirs = {}
    for operation in (item["post"] for item in told.values()):
        words = f"{operation.get('summary', '')}\n{operation.get('description', '')}"
        needed = NEEDED.search(words)
        about = operation["x-github"]
        if needed and "app" in about["supported-webhook-types"]:
            theirs[about["subcategory"].replace("-", "_")] = documented(needed[1])

    ours = {event: EVENT_NEEDS[event] for event in EVENT_NEEDS.keys() - UNDOCUMENTED}
    assert ours == {event: theirs[event] for event in theirs.keys() - UNDOCUMENTED}
    assert EVENT_NEEDS.keys() | FOR_ALL >= UNDOCUMENTED


def test_our_own_events_need_no_more_than_our_permissions() -> None:
    assert manifest_faults(PERMISSIONS, EVENTS) == []
