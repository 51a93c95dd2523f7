"""Reads and starts a repository's own CI on commits, by REST.

https://docs.github.com/rest/checks/runs, https://docs.github.com/rest/actions,
https://docs.github.com/rest/commits/statuses
"""

from collections.abc import Container
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from bot.forge import payloads
from bot.forge.rest import Refused, Rest
from convoy.model import ids
from convoy.rules.verdict import Check

ACTIONS: Final = "github-actions"
JOBS: Final = "github-actions[bot]"
"""The account of every job's token."""
JUDGING: Final = frozenset(
    {"push", "pull_request", "merge_group", "workflow_dispatch", "dynamic"}
)
"""Events whose runs judge the commit that they name; others run the default branch's
files, with its secrets, on something else.

https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
"""
_HIDDEN: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_EMPTY: Final = frozenset({"success", "skipped", "neutral", None})
"""Conclusions of a run without jobs that say nothing."""


class CiRun(Struct, frozen=True, kw_only=True):
    """A workflow run on a commit."""

    id: int
    event: str
    workflow: str
    """Its file and the event that started it."""
    completed: bool
    conclusion: str | None


class Ci:
    """The CI of one repository; runs of brat's own workflow file do not count."""

    def __init__(self, rest: Rest, repo: str, workflow: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._repo = repo
        self._workflow = workflow
        self._apps: dict[int, int] = {}
        """The numbers of Apps by those of their accounts."""

    async def runs(self, commit: str) -> tuple[CiRun, ...] | None:
        """Return the workflow runs on a commit, without brat's; None: they are hidden.

        Source: https://docs.github.com/rest/actions/workflow-runs (head_sha)
        """
        url = f"{self._repo}/actions/runs?head_sha={commit}&per_page=100"
        found = []
        try:
            async for run in self._rest.each(payloads.Run, url, "workflow_runs"):
                path = run.path.split("@", maxsplit=1)[0]
                is_here = run.head_sha in ("", commit)
                if is_here and not path.endswith("/" + self._workflow):
                    found.append(_ci_run(run, path))
        except Refused as refused:
            if refused.status not in _HIDDEN:
                raise
            return None
        return tuple(found)

    async def checks(
        self, commit: str, runs: tuple[CiRun, ...] | None = ()
    ) -> list[Check]:
        """Return the jobs of runs on a commit, and its other check runs.

        What Actions reported and no job of these runs stands behind is marked as loose:
        any job whose token may write checks can make such a check run.
        """
        jobs: dict[int, Check] = {}
        for run in runs or ():
            if run.event in JUDGING:
                jobs |= await self._jobs(run)
        url = f"{self._repo}/commits/{commit}/check-runs?per_page=100"
        found = []
        async for one in self._rest.each(payloads.CheckRun, url, "check_runs"):
            check = _check(one)
            job = jobs.pop(check.id, None)
            if job is not None:
                check = replace(
                    check,
                    workflow=job.workflow,
                    is_loose=False,
                    status=job.status,
                    conclusion=job.conclusion,
                )
            found.append(check)
        return [*found, *jobs.values()]

    async def _jobs(self, run: CiRun) -> dict[int, Check]:
        """Return the jobs of a run's newest attempt by the ids of their check runs.

        A run that ended without any job is one check: its file may be at fault.
        Source: https://docs.github.com/rest/actions/workflow-jobs
        """
        url = f"{self._repo}/actions/runs/{run.id}/jobs?filter=latest&per_page=100"
        jobs: dict[int, Check] = {}
        async for job in self._rest.each(payloads.Job, url, "jobs"):
            number = job.check_run or job.id
            jobs[number] = Check(
                id=number,
                app=ACTIONS,
                workflow=run.workflow,
                name=job.name,
                status=job.status,
                conclusion=job.conclusion,
            )
        if not jobs and run.completed and run.conclusion not in _EMPTY:
            jobs[run.id] = Check(
                id=run.id,
                app=ACTIONS,
                workflow=run.workflow,
                name=run.workflow.partition("@")[0].rpartition("/")[2],
                status="completed",
                conclusion=run.conclusion,
            )
        return jobs

    async def statuses(self, commit: str, pinned: Container[str] = ()) -> list[Check]:
        """Return the newest commit status of each context and account as a check.

        Also empty if the bot may not see them. While they stay the same, asking again
        costs nothing of the rate limit.
        Source: https://docs.github.com/rest/commits/statuses

        Args:
            commit: what the statuses are about.
            pinned: the contexts whose App is asked for, too.
        """
        url = f"{self._repo}/commits/{commit}/statuses?per_page=100"
        found: dict[tuple[str, str], Check] = {}
        try:
            async for status in self._rest.each(payloads.Status, url):
                by = status.creator.login if status.creator else ""
                key = (status.context, by)
                if key not in found:
                    found[key] = _status(status, by)
                    if status.context in pinned:
                        app = await self._app_of(status.creator)
                        found[key] = replace(found[key], app_id=app)
        except Refused as refused:
            if refused.status not in _HIDDEN:
                raise
        return list(found.values())

    async def _app_of(self, account: payloads.Account | None) -> int:
        """Return the number of the App that acts as an account; 0: none does.

        A status names only its creator's account. That of Actions stands for no App
        here: any job whose token may write statuses speaks as it.
        Source: https://docs.github.com/rest/apps/apps#get-an-app
        """
        if account is None or account.type != "Bot" or account.login == JOBS:
            return 0
        if account.id not in self._apps:
            slug = quote(account.login.removesuffix("[bot]"), safe="")
            try:
                app = await self._rest.read(payloads.App, f"/apps/{slug}")
            except Refused as refused:
                if refused.status not in _HIDDEN:
                    raise
                return 0
            self._apps[account.id] = app.id
        return self._apps[account.id]

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


def _ci_run(run: payloads.Run, path: str) -> CiRun:
    return CiRun(
        id=run.id,
        event=run.event,
        workflow=f"{path}@{run.event}",
        completed=run.status == "completed",
        conclusion=run.conclusion,
    )


def _check(one: payloads.CheckRun) -> Check:
    text = "\n".join(filter(None, (one.output.summary, one.output.text)))
    app = (one.app and one.app.slug) or ""
    return Check(
        id=one.id,
        app=app,
        app_id=one.app.id if one.app else 0,
        is_loose=app == ACTIONS,
        name=one.name,
        status=one.status,
        conclusion=one.conclusion,
        text=text,
        external=one.external_id or "",
    )


def _status(status: payloads.Status, by: str) -> Check:
    ended = status.state != "pending"
    told = (status.description, status.target_url)
    return Check(
        id=status.id,
        app=by,
        name=status.context,
        status="completed" if ended else "in_progress",
        conclusion=status.state if ended else None,
        text="\n".join(filter(None, told)),
        is_status=True,
    )
