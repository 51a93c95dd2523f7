"""REST: who I am; repositories, rights, branches and where webhooks go."""

from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from brat.forge.resources import account_resource, run_resource
from brat.forge.resources.account_resource import Hook
from brat.forge.resources.wire import Refused, fault, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found


async def get_user(call: Call) -> Answer:
    return Answer(account_resource.public_user(call.site, call.user))


async def get_repository(call: Call) -> Answer:
    owner = call.service.renderer.owner(call.repo)
    role = call.service.forge.role(call.repo, call.user)
    face = account_resource.full_repository(call.site, call.repo, owner, role)
    issues = call.store.issues.of(call.repo.id)
    count = sum(one.state == "open" for one in issues)
    return Answer(face | {"open_issues": count, "open_issues_count": count})


async def get_permission(call: Call) -> Answer:
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    return Answer(account_resource.collaborator(call.site, who, role))


_REPO = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", "/user", get_user),
    Route("GET", _REPO, get_repository),
    Route("GET", _REPO + "/collaborators/{username}/permission", get_permission),
)


_UNPROTECTED = {
    "enabled": False,
    "required_status_checks": {
        "enforcement_level": "off",
        "contexts": [],
        "checks": [],
    },
}


async def get_branch(call: Call) -> Answer:
    name, site, repo = call.word("branch"), call.site, call.repo
    tip = call.bare.tip(name)
    commit = call.bare.commit(tip) if tip else None
    if commit is None:
        raise Refused(404, "Branch not found")
    here = f"{site.repo(repo.full_name)}/branches/{quote(name)}"
    face = {
        "name": name,
        "commit": run_resource.commit(site, repo, commit),
        "_links": {
            "self": here,
            "html": site.page(repo.full_name, "tree", quote(name)),
        },
        "protected": False,
        "protection": _UNPROTECTED,
        "protection_url": f"{here}/protection",
    }
    return Answer(face)


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
    """Where deliveries go; what is left out stays."""

    url: str | None = None
    secret: str | None = None
    content_type: str = "json"
    insecure_ssl: str | int = "0"


def shown_config(hook: Hook) -> dict[str, Any]:
    """Return where a hook's deliveries go; the secret is never shown."""
    shape = {"url": hook.url, "content_type": "json", "insecure_ssl": "0"}
    return shape | ({"secret": "********"} if hook.secret else {})


def asked_hook(call: Call) -> Hook:
    """Return the hook that the path names."""
    hook = found(call.store.hooks.get(call.number("hook")))
    if hook.repo != call.repo.id:
        raise not_found()
    return hook


def checked(config: HookConfig) -> HookConfig:
    """Return a configuration that this forge can follow."""
    if config.url is not None and not config.url.startswith(("http://", "https://")):
        raise fault("Hook", "url", "invalid", "It must begin with http:// or https://.")
    if config.content_type != "json":
        raise fault("Hook", "content_type", "invalid", "This forge sends JSON only.")
    return config


def configured(call: Call, hook: Hook, config: HookConfig) -> Hook:
    """Return the hook with another configuration."""
    config = checked(config)
    return replace(
        hook,
        url=config.url or hook.url,
        secret=hook.secret if config.secret is None else config.secret,
        updated_at=call.service.forge.now(),
    )


async def change_config(call: Call) -> Answer:
    hook = configured(call, asked_hook(call), call.body(HookConfig))
    with call.store.change():
        call.store.hooks.put(hook)
    return Answer(shown_config(hook))


CONFIG = r"/repos/{owner}/{repo}/hooks/{hook:\d+}/config"
HOOK_ROUTES = (Route("PATCH", CONFIG, change_config, "admin"),)
