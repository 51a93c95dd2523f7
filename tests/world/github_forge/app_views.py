"""Apps, installations and their tokens as GitHub writes them."""

from typing import Any

from brat.forge.resources.account_resource import Access, User, user
from brat.forge.resources.wire import Site, node_id
from tests.world.github_forge.app_records import App, Installation


def app(site: Site, one: App, owner: User, installations: int) -> dict[str, Any]:
    """An App, as it sees itself."""
    return {
        "id": one.id,
        "slug": one.slug,
        "node_id": node_id("App", one.slug),
        "client_id": one.client_id,
        "owner": user(site, owner),
        "name": one.slug,
        "description": None,
        "external_url": site.base,
        "html_url": f"{site.base}/apps/{one.slug}",
        "created_at": one.created_at,
        "updated_at": one.created_at,
        "permissions": dict(one.permissions),
        "events": list(one.events),
        "installations_count": installations,
    }


def installation(
    site: Site, one: Installation, app: App, owner: User
) -> dict[str, Any]:
    """An App's installation on the account `owner`."""
    api = f"{site.api}/app/installations/{one.id}"
    return {
        "id": one.id,
        "account": user(site, owner),
        "app_id": app.id,
        "client_id": app.client_id,
        "app_slug": app.slug,
        "target_id": owner.id,
        "target_type": owner.kind,
        "permissions": dict(one.permissions),
        "events": list(app.events),
        "repository_selection": "selected",
        "access_tokens_url": f"{api}/access_tokens",
        "repositories_url": f"{site.api}/installation/repositories",
        "html_url": f"{site.base}/settings/installations/{one.id}",
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(site, owner) if one.suspended_at else None,
        "suspended_at": one.suspended_at,
    }


def token(secret: str, access: Access, repositories: list[Any]) -> dict[str, Any]:
    """A token of an installation, the one time it is shown."""
    return {
        "token": secret,
        "expires_at": access.expires_at,
        "permissions": dict(access.permissions),
        "repository_selection": "selected",
        "repositories": repositories,
    }
