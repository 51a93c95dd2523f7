"""REST: a repository is archived, who works in it, and its webhooks.

https://docs.github.com/rest/repos/repos#update-a-repository
https://docs.github.com/rest/collaborators/collaborators
https://docs.github.com/en/rest/repos/webhooks
"""

from typing import Any, Final

from brat.forge.resources.forge_records import Hook, Repository, Role, User
from brat.forge.resources.wire import Site
from brat.forge.rest.rest_call import (
    MOST_PER_PAGE,
    PER_PAGE,
    Answer,
    Call,
    Route,
)
from brat.forge.rest.rest_repositories import CONFIG
from tests.world.github_forge import shapes
from tests.world.github_forge.webhooks import (
    Delivery,
    asked_hook,
    kept_in,
    shown_config,
)

_PERMISSIONS: Final = ("pull", "triage", "push", "maintain", "admin")
_ROLES: Final[dict[str, Role]] = {
    "triage": "triage",
    "push": "write",
    "maintain": "maintain",
    "admin": "admin",
}


def _collaborators(call: Call) -> list[User]:
    logins = [login for login, role in call.repo.rights if role != "none"]
    known = map(call.service.forge.user, logins)
    return [who for who in known if who is not None]


async def list_collaborators(call: Call) -> Answer:
    call.choice("affiliation", ("all", "direct"))
    least = call.choice("permission", _PERMISSIONS)
    role = _ROLES.get(least, "read")
    people = [
        who
        for who in _collaborators(call)
        if call.service.forge.may(call.repo, who, role)
    ]

    def shown(who: User) -> dict[str, object]:
        role = call.service.forge.role(call.repo, who)
        more = {"permissions": shapes.permissions(role), "role_name": role}
        return shapes.user(call.site, who) | more

    return call.page(people, shown)


_PEOPLE = "/repos/{owner}/{repo}/collaborators"
PEOPLE_ROUTES = (Route("GET", _PEOPLE, list_collaborators, "write"),)


def hook_view(
    site: Site, repo: Repository, one: Hook, last: Delivery | None
) -> dict[str, Any]:
    """A webhook of a repository; `last` is the newest delivery that ended."""
    api = f"{site.repo(repo.full_name)}/hooks/{one.id}"
    return {
        "type": "Repository",
        "id": one.id,
        "name": "web",
        "active": True,
        "events": ["*"],
        "config": shown_config(one),
        "created_at": repo.created_at,
        "updated_at": repo.created_at,
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


def _shown(call: Call, hook: Hook) -> dict[str, object]:
    ended = [d for d in kept_in(call.store).deliveries.of(hook.id) if not d.pending]
    return hook_view(call.site, call.repo, hook, ended[-1] if ended else None)


async def list_hooks(call: Call) -> Answer:
    return call.page(call.store.hooks.of(call.repo.id), lambda one: _shown(call, one))


async def get_config(call: Call) -> Answer:
    return Answer(shown_config(asked_hook(call)))


# --- deliveries -----------------------------------------------------------------------


async def list_deliveries(call: Call) -> Answer:
    known = kept_in(call.store).deliveries.of(asked_hook(call).id)
    ended = [one for one in reversed(known) if not one.pending]
    return listed(call, ended)


def listed(call: Call, known: list[Delivery]) -> Answer:
    """Return a page of deliveries: a cursor leads on, which is the last one's id."""
    cursor, size = call.asked("cursor"), call.asked("per_page")
    most = int(size) if size.isdecimal() else PER_PAGE
    most = min(max(most, 1), MOST_PER_PAGE)
    if cursor.isdecimal():
        known = [one for one in known if one.id < int(cursor)]
    wanted = call.asked("status")
    if wanted:
        known = [one for one in known if _worked(one) == (wanted == "success")]
    shown, headers = known[:most], dict[str, str]()
    if len(known) > most:
        onward = call.request.rel_url.update_query(cursor=shown[-1].id)
        headers["Link"] = f'<{call.site.base}{onward}>; rel="next"'
    return Answer([delivery(one) for one in shown], headers=headers)


def _worked(one: Delivery) -> bool:
    return 200 <= one.status_code < 400


_HOOKS = "/repos/{owner}/{repo}/hooks"
_ONE = _HOOKS + r"/{hook:\d+}"
HOOK_ROUTES = (
    Route("GET", _HOOKS, list_hooks, "admin"),
    Route("GET", CONFIG, get_config, "admin"),
    Route("GET", _ONE + "/deliveries", list_deliveries, "admin"),
)
