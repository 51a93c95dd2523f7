"""Lists the environments of Actions that let in the branches agents write.

https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/deployments/branch-policies
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from bot.forge.ci_exposure import OUR_BRANCHES
from bot.forge.payload import Payload
from bot.forge.rest import Refused, Rest
from bot.forge.workflow_file import picked

_PAGE: Final = "?per_page=100"


class _Policy(Payload):
    protected_branches: bool


class _Environment(Payload):
    name: str
    deployment_branch_policy: _Policy | None = None


class _Pattern(Payload):
    name: str
    type: str = "branch"


async def open_environments(
    rest: Rest, repository: str, named: Iterable[str]
) -> frozenset[str] | None:
    """Return those of the named environments that our branches can use.

    Protected branches count as closed: nobody protects ours. One that is not there yet
    is made without rules by the first job that names it. None: the forge does not say.

    Raises:
        Unavailable: the forge did not answer.
    """
    found = set(named)
    where = f"/repos/{repository}/environments"
    try:
        listed = rest.each(_Environment, where + _PAGE, "environments")
        async for each in listed:
            policy = each.deployment_branch_policy
            if each.name not in found or policy is None:
                continue
            url = f"{where}/{quote(each.name, safe='')}/deployment-branch-policies"
            if policy.protected_branches or not await _lets_in(rest, url + _PAGE):
                found.discard(each.name)
    except Refused:
        return None
    return frozenset(found)


async def _lets_in(rest: Rest, url: str) -> bool:
    listed = rest.each(_Pattern, url, "branch_policies")
    patterns = [each.name async for each in listed if each.type == "branch"]
    return any(picked([each], branch) for each in patterns for branch in OUR_BRANCHES)
