"""REST: who I am; repositories, rights, branches and where webhooks go."""

from msgspec.structs import replace

from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found


async def get_user(call: Call) -> Answer:
    return Answer(call.service.renderer.user(call.user))


async def get_repository(call: Call) -> Answer:
    return Answer(call.service.renderer.repository(call.repo))


async def get_permission(call: Call) -> Answer:
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    older = {"triage": "read", "maintain": "write"}.get(role, role)
    return Answer({"permission": older, "role_name": role})


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", "/user", get_user),
    Route("GET", _REPO, get_repository),
    Route("GET", _REPO + "/collaborators/{username}/permission", get_permission),
)


async def get_branch(call: Call) -> Answer:
    name = call.word("branch")
    tip = call.bare.tip(name)
    if tip is None:
        raise Refused(404, "Branch not found")
    return Answer({"name": name, "commit": {"sha": tip}, "protected": False})


async def list_branch_rules(call: Call) -> Answer:
    """`GET rules/branches/{branch}`: whether the branch is there or not."""
    return call.page([], lambda rule: rule)


_BRANCH = "{branch:(?!.+/protection(?:/|$)).+}"
"""A branch; what lies below its protection is something else."""
BRANCH = f"/repos/{{owner}}/{{repo}}/branches/{_BRANCH}"
BRANCH_RULES = "/repos/{owner}/{repo}/rules/branches/{branch:.+}"
BRANCH_ROUTES = (
    Route("GET", BRANCH, get_branch),
    Route("GET", BRANCH_RULES, list_branch_rules),
)


class HookConfig(Body):
    url: str


async def change_config(call: Call) -> Answer:
    hook = found(call.store.hooks.get(call.number("hook")))
    if hook.repo != call.repo.id:
        raise not_found()
    config = call.body(HookConfig)
    with call.store.change():
        call.store.hooks.put(replace(hook, url=config.url))
    return Answer(config)


CONFIG = r"/repos/{owner}/{repo}/hooks/{hook:\d+}/config"
HOOK_ROUTES = (Route("PATCH", CONFIG, change_config, "admin"),)
