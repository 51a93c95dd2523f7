"""What the tokens of workflow jobs may do.

https://docs.github.com/rest/actions/permissions
"""

from bot.forge.payloads import Payload
from bot.forge.rest import Rest
from brat.setup.step import Look, owed, wanted


class Jobs(Payload):
    """The settings of a repository."""

    can_approve_pull_request_reviews: bool
    default_workflow_permissions: str = ""


def planned_default(jobs: Jobs) -> Look:
    """Return what is owed of the token's default permissions."""
    if jobs.default_workflow_permissions == "read":
        return wanted("by default a job's token only reads")
    return owed(
        "tighten: let a job's token only read by default (CI runs what agents write)"
    )


def planned_pulls(jobs: Jobs) -> Look:
    """Return what is owed of the right to open pull requests."""
    if jobs.can_approve_pull_request_reviews:
        return wanted("jobs may open pull requests")
    return owed(
        "LOOSEN: allow GitHub Actions to create and approve pull requests "
        "(with an App of your own, this is not needed)"
    )


class _Setting:
    """One of the settings, read and written alone."""

    def __init__(self, rest: Rest, repository: str) -> None:
        """Send nothing yet."""
        self._rest = rest
        self._url = f"/repos/{repository}/actions/permissions/workflow"

    async def _read(self) -> Jobs:
        return await self._rest.read(Jobs, self._url)

    async def _put(self, setting: dict[str, object]) -> None:
        """Change one setting and send the other one as it is."""
        known = (await self._read()).model_dump()
        await self._rest.write("PUT", self._url, known | setting)


class DefaultTokenStep(_Setting):
    """Lets a job's token only read, unless its workflow says more."""

    by_hand = (
        "choose read permissions for workflows under Settings, Actions, General "
        "(an administrator may)"
    )

    async def look(self) -> Look:
        """Look at the default."""
        return planned_default(await self._read())

    async def do(self) -> None:
        """Make the default read-only."""
        await self._put({"default_workflow_permissions": "read"})


class PullRequestStep(_Setting):
    """Lets jobs open pull requests."""

    by_hand = (
        "allow GitHub Actions to create and approve pull requests under Settings, "
        "Actions, General (an administrator may)"
    )

    async def look(self) -> Look:
        """Look whether they may."""
        return planned_pulls(await self._read())

    async def do(self) -> None:
        """Allow it."""
        await self._put({"can_approve_pull_request_reviews": True})
