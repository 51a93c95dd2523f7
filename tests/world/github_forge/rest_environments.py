"""REST: the environments of Actions, and the branches that may use them.

https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/deployments/branch-policies
"""

from typing import Any, Final

from brat.forge.resources.forge_records import Owned
from brat.forge.resources.wire import fields
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.storage.record_store import Table
from tests.world.github_forge import rest_secrets


class BranchPolicy(Body):
    """Which branches may use an environment: protected ones, or those of patterns."""

    protected_branches: bool
    custom_branch_policies: bool


class Asked(Body):
    """The body of `PUT environments/{name}`, as far as it is kept."""

    deployment_branch_policy: BranchPolicy | None = None


class Pattern(Body):
    name: str
    type: str = "branch"


class Environment(Owned, frozen=True, kw_only=True):
    name: str
    created_at: str
    policy: BranchPolicy | None = None
    """None: all branches may use it."""
    patterns: tuple[tuple[int, str, str], ...] = ()


def _table(call: Call) -> Table[Environment]:
    return Table(call.store, Environment, lambda one: one.repo)


def _named(call: Call) -> Environment | None:
    name = call.word("environment_name")
    return next((e for e in _table(call).of(call.repo.id) if e.name == name), None)


async def list_environments(call: Call) -> Answer:
    known = _table(call).of(call.repo.id)
    return call.page(known, _view, wrap="environments")


async def put_environment(call: Call) -> Answer:
    rules, known = call.body(Asked).deployment_branch_policy, _named(call)
    name, now = call.word("environment_name"), call.service.forge.now()
    new = Environment(repo=call.repo.id, name=name, created_at=now)
    one = known or _table(call).add(new)
    return Answer(_view(_table(call).change(one, policy=rules)))


async def delete_environment(call: Call) -> Answer:
    one = found(_named(call))
    with call.store.change():
        rest_secrets.forget(call, one.name)
        _table(call).remove(one)
    return Answer(status=204)


async def list_policies(call: Call) -> Answer:
    one = found(_named(call))
    return call.page(one.patterns, _pattern, wrap="branch_policies")


async def list_secrets(call: Call) -> Answer:
    kept = rest_secrets.stored(call, found(_named(call)).name)
    return rest_secrets.listed(call, {one.name: one.made_at for one in kept})


async def public_key(call: Call) -> Answer:
    found(_named(call))
    return await rest_secrets.public_key(call)


async def put_secret(call: Call) -> Answer:
    return await rest_secrets.put(call, found(_named(call)).name)


async def add_policy(call: Call) -> Answer:
    one, asked = found(_named(call)), call.body(Pattern)
    with call.store.change():
        new = (call.store.next_id(), asked.name, asked.type)
        _table(call).change(one, patterns=(*one.patterns, new))
    return Answer(_pattern(new))


def _pattern(one: tuple[int, str, str]) -> dict[str, Any]:
    return dict(zip(("id", "name", "type"), one, strict=True))


def _view(one: Environment) -> dict[str, Any]:
    known = fields(one, "id name created_at")
    return known | {"deployment_branch_policy": one.policy}


_ALL: Final = "/repos/{owner}/{repo}/environments"
_ONE: Final = _ALL + "/{environment_name}"
_SECRETS: Final = _ONE + "/secrets"
_POLICIES: Final = _ONE + "/deployment-branch-policies"
ROUTES: Final = (
    Route("GET", _ALL, list_environments),
    Route("PUT", _ONE, put_environment, "admin"),
    Route("DELETE", _ONE, delete_environment, "admin"),
    Route("GET", _POLICIES, list_policies),
    Route("POST", _POLICIES, add_policy, "admin"),
    Route("GET", _SECRETS, list_secrets, "write"),
    Route("GET", _SECRETS + "/public-key", public_key, "write"),
    Route("PUT", _SECRETS + "/{secret_name}", put_secret, "write"),
)
