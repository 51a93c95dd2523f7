"""REST: who I am; repositories, rights, branches and where webhooks go."""

from msgspec.structs import replace

from brat.forge.resources.wire import BY_NAME, Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, empty, found, shows


async def get_permission(call: Call) -> Answer:
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    older = {"triage": "read", "maintain": "write"}.get(role, role)
    return Answer({"permission": older, "role_name": role})


async def get_branch(call: Call) -> Answer:
    name = call.word("branch")
    tip = call.bare.tip(name)
    if tip is None:
        raise Refused(404, "Branch not found")
    return Answer({"name": name, "commit": {"sha": tip}, "protected": False})


class HookConfig(Body):
    url: str


async def change_config(call: Call) -> Answer:
    hook, config = call.own(call.store.hooks, "hook"), call.body(HookConfig)
    with call.store.change():
        call.store.hooks.put(replace(hook, url=config.url))
    return Answer(config)


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
BRANCH = f"{BY_NAME}/branches/{_BRANCH}"
BRANCH_RULES = BY_NAME + "/rules/branches/{branch:.+}"
CONFIG = BY_NAME + r"/hooks/{hook:\d+}/config"
ROUTES = (
    Route("PATCH", CONFIG, change_config, "admin"),
    Route("GET", BRANCH, get_branch),
    Route("GET", BRANCH_RULES, empty),
    Route("GET", "/user", shows(lambda call: call.renderer.user(call.user))),
    Route("GET", BY_NAME, shows(lambda call: call.renderer.repository(call.repo))),
    Route("GET", BY_NAME + "/collaborators/{username}/permission", get_permission),
)
