"""Workflow runs that work on tasks, by REST.

https://docs.github.com/rest/actions
"""

import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Final

from bot.forge import payloads
from bot.forge.rest import Refused, Rest, checked
from convoy.rules.verdict import Run

ARTIFACT_BYTES: Final = 100_000_000
"""A larger artifact is refused unread (design: 100 MB zipped)."""
_DETAILS: Final = "return_run_details"
_COMMIT: Final = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NEWEST: Final = 100


class TaskRuns:
    """The runs of one workflow file in one repository."""

    def __init__(self, rest: Rest, repo: str, workflow: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._repo = repo
        self._workflow = workflow
        self._details = {_DETAILS: True}

    async def start(self, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Start a run on `ref`; return its id, None where the forge gives none.

        Enterprise Server up to 3.19 refuses to be asked for the id, and is not asked
        again.
        Source: https://docs.github.com/rest/actions/workflows (return_run_details)
        """
        url = f"{self._repo}/actions/workflows/{self._workflow}/dispatches"
        content = {"ref": ref, "inputs": dict(inputs)}
        try:
            answer = await self._rest.write("POST", url, content | self._details)
        except Refused as refused:
            if _DETAILS not in refused.said:
                raise
            self._details = {}
            answer = await self._rest.write("POST", url, content)
        if not answer:
            return None
        return checked(payloads.Dispatched, answer, f"POST {url}").workflow_run_id

    async def named(self, nonce: str) -> int | None:
        """Return the dispatched task run whose name contains `nonce`.

        Only the first attempt of a dispatched run of our own workflow counts.
        """
        async for run in self._runs():
            ours = run.path.split("@", maxsplit=1)[0].endswith("/" + self._workflow)
            first = run.event == "workflow_dispatch" and run.run_attempt == 1
            if ours and first and nonce in run.display_title.split():
                return run.id
        return None

    async def logs(self) -> tuple[str, ...]:
        """Return the log's commits that the newest runs name, the newest first.

        None where the forge does not show its runs. They are in the runs' titles, where
        whoever may only push cannot change them; but anybody who may start runs can
        make one up.
        """
        found: list[str] = []
        try:
            async for run in self._runs():
                found += _COMMIT.findall(run.display_title)
                if len(found) >= _NEWEST:
                    break
        except Refused:
            return ()
        return tuple(dict.fromkeys(found))

    async def listed(self, wanted: frozenset[int]) -> dict[int, Run]:
        """Return the states of those wanted task runs that the workflow's list has."""
        found: dict[int, Run] = {}
        async for run in self._runs():
            if run.id in wanted:
                found[run.id] = _run(run)
            if len(found) == len(wanted):
                break
        return found

    async def state(self, number: int) -> Run:
        """Return the state of a run; one that was deleted has ended."""
        url = f"{self._repo}/actions/runs/{number}"
        try:
            return _run(await self._rest.read(payloads.Run, url))
        except Refused as refused:
            if refused.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
                raise
            return Run(id=number, completed=True, deleted=True)

    async def cancel(self, run: int, *, force: bool = False) -> None:
        """Ask the forge to cancel a run; the run may have ended already.

        With `force`, its `if: always()` steps are skipped too.
        Source: https://docs.github.com/rest/actions/workflow-runs
        """
        word = "force-cancel" if force else "cancel"
        try:
            await self._rest.write("POST", f"{self._repo}/actions/runs/{run}/{word}")
        except Refused as refused:
            if refused.status != HTTPStatus.CONFLICT:
                raise

    async def artifact(self, run: int, name: str) -> bytes | None:
        """Return the zip of a run's artifact; None if there is none.

        Raises:
            Refused: the artifact is larger than `ARTIFACT_BYTES`; nothing was read.
        """
        url = f"{self._repo}/actions/runs/{run}/artifacts?per_page=100"
        async for artifact in self._rest.each(payloads.Artifact, url, "artifacts"):
            if artifact.name == name and not artifact.expired:
                if artifact.size_in_bytes > ARTIFACT_BYTES:
                    size = artifact.size_in_bytes
                    raise Refused(f"artifact of run {run}", 413, f"{size} bytes")
                zipped = f"{self._repo}/actions/artifacts/{artifact.id}/zip"
                return await self._rest.download(zipped)
        return None

    def _runs(self) -> AsyncIterator[payloads.Run]:
        url = (
            f"{self._repo}/actions/workflows/{self._workflow}/runs"
            "?event=workflow_dispatch&per_page=100"
        )
        return self._rest.each(payloads.Run, url, "workflow_runs")


def _run(run: payloads.Run) -> Run:
    return Run(
        id=run.id, completed=run.status == "completed", conclusion=run.conclusion
    )
