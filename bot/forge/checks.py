"""What CI says of a commit, and the checks that the bot shows there itself, by REST.

Where the bot is no App, its own checks are statuses.
https://docs.github.com/rest/checks/runs, https://docs.github.com/rest/actions,
https://docs.github.com/rest/commits/statuses
https://docs.github.com/rest/actions/workflow-runs (head_sha)
https://docs.github.com/rest/actions/workflow-jobs
https://docs.github.com/rest/apps/apps#get-an-app
"""

import re
from collections.abc import AsyncIterator, Container, Iterable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import Final, Literal
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from bot.forge import payloads
from bot.forge.rest import HIDDEN, Part, Refused, Rest, checked
from bot.forge.workflows import ONLY_MAIN
from convoy.model import ids
from convoy.rules.verdict import (
    ANYBODY,
    WAITING,
    Check,
    Checks,
    Reporters,
    judge,
    may_turn,
)
from convoy.text import STATUS_CHARS
from convoy.text.project_tests import FailingPlace
from grite.errors import BratError, Unavailable

ACTIONS: Final = "github-actions"
JOB_LOGIN: Final = "github-actions[bot]"
"""The account as which a workflow run's token acts."""
JUDGING: Final = frozenset(
    {"push", "pull_request", "merge_group", "workflow_dispatch", "dynamic"}
)
"""Events whose runs judge the commit that they name; others run the default branch's
files, with its secrets, on something else.

https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
"""
_EMPTY: Final = frozenset({"success", "skipped", "neutral", None})
"""Conclusions of a run without jobs that say nothing."""
_APPROVE: Final = "run {} waits for approval of its environment: {}"
NO_STEP: Final = (
    "it failed before its first step, as a job does whose environment keeps "
    f"brat/queue/** out: {ONLY_MAIN}"
)
NOT_LET: Final = (
    "GitHub could not start the run ({}): its workflow file has a fault, or Settings, "
    "Actions, General does not allow what it uses"
)


CI_TITLE: Final = "brat ci"
"""The title of a run of brat's own test job, as the `run-name` of brat.yml has it."""


LOGS_MOST: Final = 3
"""Of so many failed jobs the logs are read."""
LOG_BYTES: Final = 20_000_000
"""A longer log is not read."""
LOG_CHARS: Final = 20_000
_STAMPED: Final = re.compile(r"\ufeff?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z ?(.*)")
_MARK: Final = re.compile(r"##\[[a-z]+\]")
_ERROR: Final = "##[error]"


def failed_output(log: str, steps: Iterable[payloads.Step]) -> str:
    """Return the end of what a job's first failed step printed, else of all it printed.

    A line of the log begins with its time, and a step's times have whole seconds, so
    the lines of others may be beside its own; those after its last error are left out.
    https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
    """
    failed = (step for step in steps if step.conclusion == "failure")
    step = next(failed, payloads.Step())
    begun, over = (step.started_at or "")[:19], (step.completed_at or "9")[:19]
    lines: list[str] = []
    end = 0
    for line in log.split("\n"):
        stamped = _STAMPED.fullmatch(line)
        at, text = stamped.groups() if stamped else ("", line)
        if at and not begun <= at <= over:
            continue
        lines.append(_MARK.sub("", text, count=1))
        if text.startswith(_ERROR):
            end = len(lines)
    return "\n".join(lines[: end or None])[-LOG_CHARS:]


def _check_of(run: payloads.Run) -> Check:
    """Return a whole run as one check."""
    return Check(
        id=run.id,
        app=ACTIONS,
        workflow=f"{run.file}@{run.event}",
        name=run.file.rpartition("/")[2],
        status=run.status or "",
        conclusion=run.conclusion,
    )


class Ci(Part):
    """The CI of one repository.

    Runs of brat's own workflow file do not count, but those of its job `ci`.
    """

    def __init__(self, rest: Rest, repository: str, workflow: str) -> None:
        super().__init__(rest, repository, workflow)
        self._apps: dict[int, int] = {}
        """The numbers of Apps by those of their accounts."""

    async def runs(self, commit: str) -> tuple[payloads.Run, ...] | None:
        """Return the workflow runs on a commit without brat's; None: hidden."""
        with HIDDEN:
            return tuple(
                [
                    run
                    async for run in self._runs(commit)
                    if run.head_sha in ("", commit) and not self._is_ours(run)
                ]
            )
        return None

    async def _runs(self, commit: str) -> AsyncIterator[payloads.Run]:
        """Yield the runs on a commit, but those that wait because a job's token asked.

        A pull request that such a token opens or updates starts runs that wait for a
        person's approval; brat starts its own on the same commit.
        https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/trigger-a-workflow
        """
        url = f"{self._repo}/actions/runs?head_sha={commit}&per_page=100"
        async for run in self._rest.each(payloads.Run, url, "workflow_runs"):
            by_job = run.actor is not None and run.actor.login == JOB_LOGIN
            if not (by_job and run.conclusion == "action_required"):
                yield run

    def _is_ours(self, run: payloads.Run) -> bool:
        is_own_file = run.file.endswith("/" + self._workflow)
        return is_own_file and run.display_title != CI_TITLE

    async def checks(
        self, commit: str, runs: tuple[payloads.Run, ...] | None = ()
    ) -> list[Check]:
        """Return the jobs of runs on a commit, and its other check runs.

        What Actions reported and no job of these runs stands behind is marked as loose:
        any job whose token may write checks can make such a check run. The jobs of
        brat's own runs are no checks: the loop would wait for itself.
        """
        jobs: dict[int, Check] = {}
        for run in runs or ():
            if run.event in JUDGING:
                jobs |= await self._jobs(run)
            if run.status == WAITING:
                jobs[run.id] = replace(_check_of(run), text=await self._awaited(run))
        url = f"{self._repo}/commits/{commit}/check-runs?per_page=100"
        shown = await self._rest.all(payloads.CheckRun, url, "check_runs")
        ours: set[int] = set()
        if any(
            one.app and one.app.slug == ACTIONS and one.id not in jobs for one in shown
        ):
            with HIDDEN:
                own = [run async for run in self._runs(commit) if self._is_ours(run)]
                ours = {run.check_suite_id for run in own} - {0}
        found = []
        for one in shown:
            if one.suite in ours:
                continue
            app, job = (one.app and one.app.slug) or "", jobs.pop(one.id, None)
            told = (one.output.summary, one.output.text, job.text if job else "")
            text = "\n".join(filter(None, told))
            check = Check(
                id=one.id,
                app=app,
                app_id=one.app.id if one.app else 0,
                workflow=job.workflow if job else "",
                is_loose=app == ACTIONS and job is None,
                name=one.name,
                status=job.status if job else one.status,
                conclusion=job.conclusion if job else one.conclusion,
                text=text,
                external=one.external_id or "",
            )
            found.append(check)
        return [*found, *jobs.values()]

    async def judged(
        self,
        commit: str,
        runs: tuple[payloads.Run, ...] | None,
        required: tuple[str, ...],
        own_app: str,
        whose: Reporters = ANYBODY,
        *,
        has_logs: bool = True,
    ) -> Checks:
        """Return the verdict; asks for statuses only where they may still change it.

        Of jobs that made it red, their logs are its text if it `has_logs`.
        """
        running = any(not run.is_over and run.status != WAITING for run in runs or ())
        said = await self.checks(commit, runs)
        verdict = partial(
            judge,
            required=required,
            own_app=own_app,
            running=running,
            reporters=whose,
        )
        seen = verdict(said)
        if may_turn(seen, required):
            said += await self.statuses(commit, whose.ids)
            seen = verdict(said)
        if seen.verdict == "red" and has_logs:
            silent = (
                one.id
                for one in said
                if one.workflow and one.name in seen.failed and not one.text
            )
            logs = {job: await self._log(job) for job in islice(silent, LOGS_MOST)}
            seen = verdict(
                [replace(one, text=logs.get(one.id, one.text)) for one in said]
            )
        return seen

    async def _log(self, job: int) -> str:
        """Return what a job's failed step printed; empty: the forge does not show it.

        The number of a job is that of its check run.
        """
        url = f"{self._repo}/actions/jobs/{job}"
        with suppress(BratError):  # the verdict stands without it
            steps = (await self._rest.read(payloads.Job, url)).steps or ()
            log = await self._rest.download(f"{url}/logs", LOG_BYTES)
            return failed_output(log.decode(errors="replace"), steps)
        return ""

    async def _jobs(self, run: payloads.Run) -> dict[int, Check]:
        """Return the jobs of a run's newest attempt by the ids of their check runs.

        A run that ended without any job is one check: its file may be at fault. A job
        that failed before its first step says nothing of the commit.
        """
        url = f"{self._repo}/actions/runs/{run.id}/jobs?filter=latest&per_page=100"
        jobs = await self._rest.all(payloads.Job, url, "jobs")
        whole = _check_of(run)
        if not jobs and run.is_over and run.conclusion not in _EMPTY:
            return {run.id: whole}
        found = {}
        for job in jobs:
            said = await self._marked(job) if job.is_kept_out else ""
            if job.is_kept_out and (not said or "environment" in said):
                said = NO_STEP
            found[job.check_run] = replace(
                whole,
                id=job.check_run,
                name=job.name,
                status=job.status,
                conclusion="action_required" if job.is_kept_out else job.conclusion,
                text=said,
            )
        return found

    async def _awaited(self, run: payloads.Run) -> str:
        """Return that a person must approve a waiting run; empty: it goes on alone.

        https://docs.github.com/rest/actions/workflow-runs#get-pending-deployments-for-a-workflow-run
        """
        url = f"{self._repo}/actions/runs/{run.id}/pending_deployments"
        with HIDDEN:
            found = await self._rest.all(payloads.PendingDeployment, url)
            if not any(one.reviewers for one in found):
                return ""
        return _APPROVE.format(run.id, run.html_url)

    async def _marked(self, job: payloads.Job) -> str:
        """Return what the forge says of a job that no runner took; empty: nothing.

        https://docs.github.com/rest/checks/runs#list-check-run-annotations
        """
        url = f"{self._repo}/check-runs/{job.check_run}/annotations?per_page=100"
        with HIDDEN:
            found = await self._rest.all(payloads.Annotation, url)
            return "\n".join(each.message for each in found if each.message)
        return ""

    async def why_unstarted(self, number: int) -> str:
        """Return why no runner took a job of a run that ended; empty: one did."""
        url = f"{self._repo}/actions/runs/{number}"
        with HIDDEN:
            run = await self._rest.read(payloads.Run, url)
            if run.conclusion == "startup_failure":
                return NOT_LET.format(run.html_url)
            listed = f"{url}/jobs?filter=latest&per_page=100"
            for job in await self._rest.all(payloads.Job, listed, "jobs"):
                if job.is_kept_out:
                    return await self._marked(job)
        return ""

    async def statuses(self, commit: str, pinned: Container[str] = ()) -> list[Check]:
        """Return the newest commit status of each context and account as a check.

        Also empty if the bot may not see them. Of `pinned` contexts the App is asked
        for, too. While they stay the same, asking again costs nothing of the limit.
        """
        url = f"{self._repo}/commits/{commit}/statuses?per_page=100"
        found: dict[tuple[str, str], Check] = {}
        with HIDDEN:
            async for status in self._rest.each(payloads.Status, url):
                by = status.creator.login if status.creator else ""
                if by == JOB_LOGIN and status.description == REPEATED:
                    continue
                key = (status.context, by)
                if key in found:
                    continue
                is_pinned, ended = status.context in pinned, status.state != "pending"
                told = (status.description, status.target_url)
                found[key] = Check(
                    id=status.id,
                    app=by,
                    app_id=await self._app_of(status.creator) if is_pinned else 0,
                    name=status.context,
                    status="completed" if ended else "in_progress",
                    conclusion=status.state if ended else None,
                    text="\n".join(filter(None, told)),
                    is_status=True,
                )
        return list(found.values())

    async def _app_of(self, account: payloads.Account | None) -> int:
        """Return the number of the App that acts as an account; 0: none does.

        A status names only its creator's account. That of Actions stands for no App
        here: any job whose token may write statuses speaks as it.
        """
        if account is None or account.type != "Bot" or account.login == JOB_LOGIN:
            return 0
        if account.id not in self._apps:
            slug = quote(account.login.removesuffix("[bot]"), safe="")
            with HIDDEN:
                app = await self._rest.read(payloads.App, f"/apps/{slug}")
                self._apps[account.id] = app.id
        return self._apps.get(account.id, 0)

    async def on_queues(self, commit: str) -> tuple[int, ...]:
        """Return the runs on a candidate's queue branch that go on; none if hidden."""
        found = []
        with HIDDEN:
            async for run in self._runs(commit):
                is_queued = (run.head_branch or "").startswith(ids.QUEUE)
                found += [run.id] if is_queued and not run.is_over else []
        return tuple(found)

    async def has_runs(self, commit: str) -> bool:
        """Whether a commit has any workflow run, ended or not; brat's do not count."""
        async for run in self._runs(commit):
            if not self._is_ours(run):
                return True
        return False

    async def start(
        self, workflow: str, branch: str, inputs: Mapping[str, str]
    ) -> None:
        """Dispatch a workflow file on a branch; each call starts a run."""
        url = f"{self._repo}/actions/workflows/{quote(workflow, safe='')}/dispatches"
        asked = {"ref": branch} | ({"inputs": dict(inputs)} if inputs else {})
        await self._rest.write("POST", url, asked)


Conclusion = Literal["success", "failure", "cancelled", "action_required"]
_STATES: Final[dict[Conclusion | None, str]] = {
    None: "pending",
    "success": "success",
    "failure": "failure",
    "cancelled": "error",
    "action_required": "failure",
}


REPEATED: Final = "Passed in a run that brat started"
"""The description of a status that repeats a check of ours."""


class CheckView(Struct, frozen=True, kw_only=True):
    key: str
    """Identifies the check, whichever process made it."""
    commit: str
    name: str
    conclusion: Conclusion | None
    """None: the check is still in progress."""
    title: str
    summary: str
    """Markdown."""
    url: str
    places: tuple[FailingPlace, ...] = ()
    """The lines that the forge marks; those of a check never change."""
    buttons: tuple[dict[str, str], ...] = ()
    """For people with write access, at most three: each with a `label`, a
    `description`, and the `identifier` that the App is told when it is pressed."""
    is_status: bool = False
    """Whether it is shown as a commit status, and repeats a check of its name."""


class CheckRuns(Part):
    def __init__(self, rest: Rest, repository: str) -> None:
        super().__init__(rest, repository)
        self._made: dict[tuple[str, str], payloads.CheckRun] = {}
        """Those that this process wrote last; how many lines are marked in one is known
        only later."""

    async def found(self, view: CheckView) -> payloads.CheckRun | None:
        if made := self._made.get((view.commit, view.key)):
            return made
        url = f"{self._repo}/commits/{view.commit}/check-runs?filter=all&per_page=100"
        runs = self._rest.each(payloads.CheckRun, url, "check_runs")
        ours = [check async for check in runs if check.external_id == view.key]
        return max(ours, key=lambda check: check.id, default=None)

    async def show(self, view: CheckView, found: payloads.CheckRun | None) -> None:
        if view.is_status:
            await self._show_status(view)
            return
        marked = found is not None and found.output.annotations_count > 0
        if found is not None and (marked or not view.places):
            said = (found.conclusion, found.output.title, found.output.summary)
            if said == (view.conclusion, view.title, view.summary):
                return
        output: dict[str, object] = {"title": view.title, "summary": view.summary}
        if view.places and not marked:  # an update would add to them
            output["annotations"] = [
                {
                    "path": place.path,
                    "start_line": place.line,
                    "end_line": place.line,
                    "annotation_level": "failure",
                    "message": place.says,
                }
                for place in view.places
            ]
        body: dict[str, object] = {"output": output, "status": "in_progress"}
        body["actions"] = view.buttons
        if view.conclusion is not None:
            body |= {"status": "completed", "conclusion": view.conclusion}
        url, method = f"{self._repo}/check-runs", "POST"
        if found is not None:
            url, method = f"{url}/{found.id}", "PATCH"
        else:
            body |= {"name": view.name, "head_sha": view.commit}
            body |= {"external_id": view.key, "details_url": view.url}
        self._made.pop((view.commit, view.key), None)
        try:
            answer = await self._rest.write(method, url, body)
            with suppress(Unavailable):  # the answer is not whole: it is looked for
                if not view.places:
                    made = checked(payloads.CheckRun, answer, f"{method} {url}")
                    self._made[view.commit, view.key] = made
        except Refused as refused:
            if refused.status != HTTPStatus.FORBIDDEN:
                raise
            if found is None:
                await self._show_status(view)
                return
            # A job's token cannot change a check that another run's token made:
            # https://github.blog/changelog/2025-02-12-notice-of-upcoming-deprecations-and-breaking-changes-for-github-actions/
            # A new check with the same name takes its place.
            await self.show(view, None)

    async def _show_status(self, view: CheckView) -> None:
        """Show the check as a status; the newest status of a name counts."""
        state, said = _STATES[view.conclusion], view.title[:STATUS_CHARS]
        url = f"{self._repo}/commits/{view.commit}/status?per_page=100"
        async for status in self._rest.each(payloads.Status, url, "statuses"):
            known = (status.state, status.description)
            if status.context == view.name and known == (state, said):
                return
        body = {"state": state, "context": view.name, "description": said}
        address = f"{self._repo}/statuses/{view.commit}"
        await self._rest.write("POST", address, {**body, "target_url": view.url})
