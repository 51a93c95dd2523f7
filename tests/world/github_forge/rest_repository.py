"""REST: a repository is archived, who works in it, and its webhooks.

https://docs.github.com/rest/repos/repos#update-a-repository
https://docs.github.com/rest/collaborators/collaborators
https://docs.github.com/en/rest/repos/webhooks
"""

from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from brat.forge.resources import account_resource
from brat.forge.resources.account_resource import Delivery, Hook, Repository, Role, User
from brat.forge.resources.wire import Site, fault, not_found
from brat.forge.rest.rest_call import (
    MOST_PER_PAGE,
    PER_PAGE,
    Answer,
    Body,
    Call,
    Route,
    found,
)
from brat.forge.rest.rest_repositories import (
    CONFIG,
    HookConfig,
    asked_hook,
    checked,
    configured,
    get_repository,
    shown_config,
)


class RepositoryChange(Body):
    """The body of `PATCH /repos/{owner}/{repo}`; more cannot be changed here."""

    archived: bool


async def change_repository(call: Call) -> Answer:
    asked = call.body(RepositoryChange)
    repo = call.service.forge.update(call.repo, archived=asked.archived)
    return await get_repository(replace(call, found=repo))


CHANGE_ROUTES = (Route("PATCH", "/repos/{owner}/{repo}", change_repository, "admin"),)


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
    """`GET collaborators`: without an organisation each is a direct one."""
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
        more = {"permissions": account_resource.permissions(role), "role_name": role}
        return account_resource.user(call.site, who) | more

    return call.page(people, shown)


async def is_collaborator(call: Call) -> Answer:
    """`GET collaborators/{username}`: 204 if they are, else 404."""
    who = found(call.service.forge.user(call.word("username")))
    if who not in _collaborators(call):
        raise not_found()
    return Answer(status=204)


_PEOPLE = "/repos/{owner}/{repo}/collaborators"
PEOPLE_ROUTES = (
    Route("GET", _PEOPLE, list_collaborators, "write"),
    Route("GET", _PEOPLE + "/{username}", is_collaborator, "write"),
)


def hook_view(
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


class NewHook(Body):
    config: HookConfig
    name: str = "web"
    events: tuple[str, ...] = ("push",)
    active: bool = True


class HookChange(Body):
    """The body of `PATCH hooks/{id}`; what is left out stays."""

    config: HookConfig | None = None
    events: tuple[str, ...] | None = None
    add_events: tuple[str, ...] = ()
    remove_events: tuple[str, ...] = ()
    active: bool | None = None


def _shown(call: Call, hook: Hook) -> dict[str, object]:
    ended = [d for d in call.store.deliveries.of(hook.id) if not d.pending]
    return hook_view(call.site, call.repo, hook, ended[-1] if ended else None)


def _ping(call: Call, hook: Hook) -> None:
    """Tell a hook that it is one; only inside `Store.change`."""
    payload = {
        "zen": "Keep it logically awesome.",
        "hook_id": hook.id,
        "hook": _shown(call, hook),
        "repository": call.service.renderer.repository(call.repo),
        "sender": call.service.renderer.user(call.user),
    }
    call.service.webhooks.send(hook, call.repo, ("ping", None), payload)


async def list_hooks(call: Call) -> Answer:
    return call.page(call.store.hooks.of(call.repo.id), lambda one: _shown(call, one))


async def create_hook(call: Call) -> Answer:
    asked = call.body(NewHook)
    config = checked(asked.config)
    if not config.url:
        raise fault("Hook", "url", "missing_field")
    if any(one.url == config.url for one in call.store.hooks.of(call.repo.id)):
        raise fault(
            "Hook", "config", "custom", "Hook already exists on this repository"
        )
    with call.store.change():
        hook = call.service.forge.add_hook(
            call.repo.full_name, config.url, config.secret or "", asked.events
        )
        hook = call.store.hooks.put(structs.replace(hook, active=asked.active))
        _ping(call, hook)
    face = _shown(call, hook)
    return Answer(face, 201, {"Location": str(face["url"])})


async def get_hook(call: Call) -> Answer:
    return Answer(_shown(call, asked_hook(call)))


async def change_hook(call: Call) -> Answer:
    hook, asked = asked_hook(call), call.body(HookChange)
    if asked.config is not None:
        hook = configured(call, hook, asked.config)
    active = hook.active if asked.active is None else asked.active
    with call.store.change():
        hook = call.store.hooks.put(
            structs.replace(hook, events=_heard(hook, asked), active=active)
        )
    return Answer(_shown(call, hook))


def _heard(hook: Hook, asked: HookChange) -> tuple[str, ...]:
    """Return the events that a hook hears of after a change."""
    events = (*(asked.events or hook.events), *asked.add_events)
    return tuple(one for one in dict.fromkeys(events) if one not in asked.remove_events)


async def delete_hook(call: Call) -> Answer:
    """`DELETE hooks/{id}`, and all it delivered."""
    hook = asked_hook(call)
    with call.store.change():
        for delivery in call.store.deliveries.of(hook.id):
            call.store.deliveries.remove(delivery)
        for payload in call.store.payloads.of(hook.id):
            call.store.payloads.remove(payload)
        call.store.hooks.remove(hook)
    return Answer(status=204)


async def get_config(call: Call) -> Answer:
    return Answer(shown_config(asked_hook(call)))


async def ping(call: Call) -> Answer:
    hook = asked_hook(call)
    with call.store.change():
        _ping(call, hook)
    return Answer(status=204)


# --- deliveries -----------------------------------------------------------------------


async def list_deliveries(call: Call) -> Answer:
    """`GET hooks/{id}/deliveries`: those that ended, newest first."""
    known = call.store.deliveries.of(asked_hook(call).id)
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
    Route("POST", _HOOKS, create_hook, "admin"),
    Route("GET", _ONE, get_hook, "admin"),
    Route("PATCH", _ONE, change_hook, "admin"),
    Route("DELETE", _ONE, delete_hook, "admin"),
    Route("GET", CONFIG, get_config, "admin"),
    Route("POST", _ONE + "/pings", ping, "admin"),
    Route("GET", _ONE + "/deliveries", list_deliveries, "admin"),
)
