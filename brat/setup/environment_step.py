"""The environment whose secret signs the log: only the default branch may use it.

https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/deployments/branch-policies
"""

from http import HTTPStatus
from typing import Final

from bot.forge.payloads import Payload
from bot.forge.rest import Json, Refused, Rest
from brat.setup.step import Look, for_a_person, owed, wanted

NAME: Final = "brat"


class _Policy(Payload):
    custom_branch_policies: bool


class Environment(Payload):
    """What is there of an environment."""

    name: str
    protection_rules: tuple[Json, ...] = ()
    deployment_branch_policy: _Policy | None = None


class Pattern(Payload):
    """A pattern of the refs that may use an environment."""

    name: str
    type: str = "branch"


def planned(
    known: Environment | None, patterns: list[Pattern], branch: str, by_hand: str
) -> Look:
    """Return what is owed of the environment.

    Rules that people made are never replaced.
    """
    make = f"let only the branch {branch} use the environment {NAME} (the log's key)"
    if known is None:
        return owed(make)
    if known.deployment_branch_policy is None:
        return for_a_person(by_hand) if known.protection_rules else owed(make)
    if not known.deployment_branch_policy.custom_branch_policies:
        return for_a_person(by_hand)
    if not patterns:
        return owed(make)
    if [(one.name, one.type) for one in patterns] == [(branch, "branch")]:
        return wanted(f"only the branch {branch} may use the environment {NAME}")
    return for_a_person(by_hand)


class EnvironmentStep:
    """Makes the environment, and limits it to the default branch."""

    def __init__(self, rest: Rest, repository: str, branch: str) -> None:
        """Send nothing yet; `branch` is the default branch."""
        self._rest, self._branch = rest, branch
        self._all = f"/repos/{repository}/environments"
        self._one = f"{self._all}/{NAME}"
        self._patterns = f"{self._one}/deployment-branch-policies"
        self.by_hand = (
            f"let only the branch {branch} use the environment {NAME}, under "
            "Settings, Environments (an administrator may)"
        )

    async def look(self) -> Look:
        """Look at the environment and its branches."""
        known, patterns = await self._known()
        return planned(known, patterns, self._branch, self.by_hand)

    async def do(self) -> None:
        """Make what lacks of it."""
        known, _ = await self._known()
        if known is None or known.deployment_branch_policy is None:
            rule = {"protected_branches": False, "custom_branch_policies": True}
            asked = {"deployment_branch_policy": rule}
            await self._rest.write("PUT", self._one, asked)
        asked_branch = {"name": self._branch, "type": "branch"}
        await self._rest.write("POST", self._patterns, asked_branch)

    async def _known(self) -> tuple[Environment | None, list[Pattern]]:
        """Return the environment, if it is there, and its patterns."""
        known = None
        listed = self._rest.each(
            Environment, f"{self._all}?per_page=100", "environments"
        )
        try:
            async for each in listed:
                known = each if each.name == NAME else known
        except Refused as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
        rule = known.deployment_branch_policy if known else None
        if rule is None or not rule.custom_branch_policies:
            return known, []
        url = f"{self._patterns}?per_page=100"
        more = self._rest.each(Pattern, url, "branch_policies")
        return known, [one async for one in more]
