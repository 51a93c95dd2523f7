"""Webhooks and their deliveries as GitHub writes them."""

from typing import Any

from brat.forge.resources.account_resource import Delivery, Hook, Repository
from brat.forge.resources.wire import Site
from brat.forge.rest.rest_repositories import shown_config


def hook(
    site: Site, repo: Repository, one: Hook, last: Delivery | None
) -> dict[str, Any]:
    """A webhook of a repository; `last` is the newest delivery that ended."""
    api = f"{site.repo(repo.full_name)}/hooks/{one.id}"
    return {
        "type": "Repository",
        "id": one.id,
        "name": "web",
        "active": one.active,
        "events": list(one.events),
        "config": shown_config(one),
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "url": api,
        "test_url": api + "/test",
        "ping_url": api + "/pings",
        "deliveries_url": api + "/deliveries",
        "last_response": {
            "code": last.status_code if last else None,
            "status": "active" if last else "unused",
            "message": last.status if last else None,
        },
    }


def delivery(one: Delivery) -> dict[str, Any]:
    """A delivery in the list."""
    return {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": one.created_at,
        "redelivery": False,
        "duration": one.duration_s,
        "status": one.status,
        "status_code": one.status_code,
        "event": one.event,
        "action": one.action,
        "installation_id": one.installation,
        "repository_id": one.repo,
    }
