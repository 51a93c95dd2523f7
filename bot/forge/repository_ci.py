"""Reads and starts a repository's own CI on commits, by REST.

https://docs.github.com/rest/checks/runs, https://docs.github.com/rest/actions,
https://docs.github.com/rest/commits/statuses
"""

from http import HTTPStatus
from urllib.parse import quote

from bot.forge import payloads
from bot.forge.rest import Refused, Rest
from convoy.model import ids
from convoy.readiness.observed import Check


class Ci:
    """The CI of one repository; runs of brat's own workflow file do not count."""

    def __init__(self, rest: Rest, repo: str, workflow: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._repo = repo
        self._workflow = workflow

    async def checks(self, commit: str) -> list[Check]:
        """Return the check runs on a commit."""
        url = f"{self._repo}/commits/{commit}/check-runs?per_page=100"
        found = []
        async for check in self._rest.each(payloads.CheckRun, url, "check_runs"):
            text = "\n".join(filter(None, (check.output.summary, check.output.text)))
            app = (check.app and check.app.slug) or ""
            found.append(
                Check(
                    id=check.id,
                    app=app,
                    name=check.name,
                    status=check.status,
                    conclusion=check.conclusion,
                    text=text,
                    external=check.external_id or "",
                )
            )
        return found

    async def statuses(self, commit: str) -> list[Check]:
        """Return the newest commit status of each context as a check.

        Also empty if the bot may not see them. While they stay the same, asking again
        costs nothing of the rate limit.
        Source: https://docs.github.com/rest/commits/statuses
        """
        url = f"{self._repo}/commits/{commit}/status?per_page=100"
        found = []
        try:
            async for status in self._rest.each(payloads.Status, url, "statuses"):
                ended = status.state != "pending"
                told = (status.description, status.target_url)
                found.append(
                    Check(
                        id=status.id,
                        app="",
                        name=status.context,
                        status="completed" if ended else "in_progress",
                        conclusion=status.state if ended else None,
                        text="\n".join(filter(None, told)),
                        is_status=True,
                    )
                )
        except Refused as refused:
            if refused.status not in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
                raise
        return found

    async def is_judging(self, commit: str) -> bool:
        """Whether a workflow run on a commit has not ended; brat's do not count.

        Also False if the bot may not see the runs, or there are none.
        Source: https://docs.github.com/rest/actions/workflow-runs (head_sha)
        """
        url = f"{self._repo}/actions/runs?head_sha={commit}&per_page=100"
        try:
            async for run in self._rest.each(payloads.Run, url, "workflow_runs"):
                ours = run.path.split("@", maxsplit=1)[0].endswith("/" + self._workflow)
                if run.status != "completed" and not ours:
                    return True
        except Refused as refused:
            if refused.status not in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
                raise
        return False

    async def on_queues(self, commit: str) -> tuple[int, ...]:
        """Return the runs on a candidate that have not ended, by their ids.

        Only those on queue branches: on another one the same commit may be wanted. None
        if the bot may not see the runs.
        Source: https://docs.github.com/rest/actions/workflow-runs (head_branch)
        """
        url = f"{self._repo}/actions/runs?head_sha={commit}&per_page=100"
        found = []
        try:
            async for run in self._rest.each(payloads.Run, url, "workflow_runs"):
                is_queued = (run.head_branch or "").startswith(ids.QUEUE)
                if is_queued and run.status != "completed":
                    found.append(run.id)
        except Refused as refused:
            if refused.status not in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
                raise
        return tuple(found)

    async def has_runs(self, commit: str) -> bool:
        """Whether a commit has any workflow run, ended or not; brat's do not count."""
        url = f"{self._repo}/actions/runs?head_sha={commit}&per_page=100"
        async for run in self._rest.each(payloads.Run, url, "workflow_runs"):
            if not run.path.split("@", maxsplit=1)[0].endswith("/" + self._workflow):
                return True
        return False

    async def start(self, workflow: str, branch: str) -> None:
        """Dispatch a workflow file on a branch; each call starts a run."""
        url = f"{self._repo}/actions/workflows/{quote(workflow, safe='')}/dispatches"
        await self._rest.write("POST", url, {"ref": branch})
