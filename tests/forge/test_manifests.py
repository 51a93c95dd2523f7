"""Manifests: GitHub makes an App of one, or refuses it as a whole."""

import re

import pytest

from bot.forge.app_auth import PERMISSIONS
from bot.serving.github_app import EVENTS
from tests.contract.webhook_schemas import description
from tests.world.github_forge.apps import EVENT_NEEDS, manifest_faults

TITLES = {"Commit statuses": "statuses"}
NEEDED = re.compile(r"must have at least read-level access for the (.*?)\.(?:$|\s)")


@pytest.mark.needs("npm")
def test_what_an_event_needs_is_githubs() -> None:
    told = description()["webhooks"]
    theirs = {}
    for operation in (item["post"] for item in told.values()):
        words = f"{operation.get('summary', '')}\n{operation.get('description', '')}"
        needed = NEEDED.search(words)
        if needed and "app" in operation["x-github"]["supported-webhook-types"]:
            event = operation["x-github"]["subcategory"].replace("-", "_")
            titles = re.findall(r'"([^"]+)"', needed[1])
            theirs[event] = [TITLES.get(title, title.lower()) for title in titles]

    ours = {event: [name.replace("_", " ")] for event, name in EVENT_NEEDS.items()}
    assert ours == {event: theirs[event] for event in EVENT_NEEDS}


def test_our_own_events_need_no_more_than_our_permissions() -> None:
    assert manifest_faults(PERMISSIONS, EVENTS) == []
