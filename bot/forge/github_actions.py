"""GitHub Actions by REST: runs of tasks, the timed wake, secrets, and environments.

Of secrets only the names are read, never a value; of environments, which of them let in
the branches that agents write.
https://docs.github.com/rest/actions
https://docs.github.com/rest/actions/secrets
https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/deployments/branch-policies
https://docs.github.com/rest/actions/workflows (return_run_details)
https://docs.github.com/rest/actions/workflow-runs
"""

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from bot.forge import payloads
from bot.forge.payloads import Payload
from bot.forge.rest import ABSENT, Part, Refused, Rest, Unless, checked
from bot.forge.workflows import OUR_BRANCHES, picks_branch
from convoy.rules.observed import Run
from grite.errors import BratError

ARTIFACT_BYTES: Final = 100_000_000
"""A larger artifact is refused unread (design: 100 MB zipped)."""
_DETAILS: Final = "return_run_details"
_COMMIT: Final = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NEWEST: Final = 100
WAKE_WORKFLOW: Final = "brat-wake.yml"


class TaskRuns(Part):
    _names_runs = True
    """Whether the forge gives the id of a run that it starts."""

    async def start(self, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Start a run on `ref`; return its id, None where the forge gives none.

        Enterprise Server up to 3.19 refuses to be asked for the id, and is not asked
        again.
        """
        url = f"{self._repo}/actions/workflows/{self._workflow}/dispatches"
        content = {"ref": ref, "inputs": dict(inputs)}
        asked = content | ({_DETAILS: True} if self._names_runs else {})
        try:
            answer = await self._rest.write("POST", url, asked)
        except Refused as refused:
            if _DETAILS not in refused.said:
                raise
            self._names_runs = False
            answer = await self._rest.write("POST", url, content)
        if not answer:
            return None
        return checked(payloads.Dispatched, answer, f"POST {url}").workflow_run_id

    async def named(self, nonce: str) -> int | None:
        """Return the dispatched run, in its first attempt, named by `nonce`."""
        async for run in self._runs():
            ours = run.file.endswith("/" + self._workflow)
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
        found: dict[int, Run] = {}
        async for run in self._runs():
            if run.id in wanted:
                found[run.id] = _run(run)
            if len(found) == len(wanted):
                break
        return found

    async def state(self, number: int) -> Run:
        """Return the state of a run; one that was deleted has ended."""
        with ABSENT:
            url = f"{self._repo}/actions/runs/{number}"
            return _run(await self._rest.read(payloads.Run, url))
        return Run(id=number, completed=True, deleted=True)

    async def cancel(self, run: int, *, force: bool = False) -> None:
        """Ask to cancel a run, which may be over; `force` skips `always()` steps."""
        word = "force-cancel" if force else "cancel"
        with Unless(HTTPStatus.CONFLICT):
            await self._rest.write("POST", f"{self._repo}/actions/runs/{run}/{word}")

    async def artifact(self, run: int, name: str) -> bytes | None:
        """Return a run's artifact, of at most `ARTIFACT_BYTES`; None: it has none.

        Of several with the name, which attempts of the run have left, it is the newest.
        """
        url = f"{self._repo}/actions/runs/{run}/artifacts?per_page=100"
        listed = await self._rest.all(payloads.Artifact, url, "artifacts")
        for artifact in sorted(listed, key=lambda one: -one.id):
            if artifact.name == name and not artifact.expired:
                if artifact.size_in_bytes > ARTIFACT_BYTES:
                    said = f"the artifact of run {run} exceeds {ARTIFACT_BYTES} bytes"
                    raise Refused(f"artifact of run {run}", 413, said)
                zipped = f"{self._repo}/actions/artifacts/{artifact.id}/zip"
                return await self._rest.download(zipped)
        return None

    def _runs(self) -> AsyncIterator[payloads.Run]:
        url = (
            f"{self._repo}/actions/workflows/{self._workflow}/runs"
            "?event=workflow_dispatch&per_page=100"
        )
        return self._rest.each(payloads.Run, url, "workflow_runs")

    async def wake_by_clock(self, *, on: bool) -> None:
        """Enable or disable the timed wake where it is otherwise; safe to repeat."""
        url = f"{self._repo}/actions/workflows/{WAKE_WORKFLOW}"
        state = (await self._rest.read(payloads.Workflow, url)).state
        if (state == "active") is not on:
            word = "enable" if on else "disable"
            await self._rest.write("PUT", f"{url}/{word}", {})


def _run(run: payloads.Run) -> Run:
    return Run(id=run.id, completed=run.is_over, conclusion=run.conclusion)


SECRETS_RIGHT: Final = {"secrets": "read", "metadata": "read"}
"""The permissions for this; a bot without them works all the same."""
_LISTS: Final = ("secrets", "organization-secrets")


class _Named(Payload):
    name: str
    type: str = "branch"
    """Of a pattern for branches or tags; GitHub sends none with a secret."""


async def secret_names(rest: Rest, repository: str) -> frozenset[str] | None:
    """Return the secrets of a repository and those its organisation shares with it.

    None when we may not know: the right is missing, or the forge does not answer.
    """
    names: set[str] = set()
    for listed in _LISTS:
        url = f"/repos/{repository}/actions/{listed}?per_page=100"
        try:
            names |= {each.name async for each in rest.each(_Named, url, "secrets")}
        except Refused as refused:
            is_nobodys = refused.status == HTTPStatus.NOT_FOUND  # no organisation
            if not (names and is_nobodys):
                return None
        except BratError:
            return None
    return frozenset(names)


_PAGE: Final = "?per_page=100"


class _Policy(Payload):
    protected_branches: bool


class _Environment(Payload):
    name: str
    deployment_branch_policy: _Policy | None = None


async def open_environments(
    rest: Rest, repository: str, named: Iterable[str]
) -> frozenset[str]:
    """Return those of the named environments that our branches can use.

    Protected branches count as closed: nobody protects ours. One that is not there yet
    is made without rules by the first job that names it. Hidden ones count as open.
    """
    found = set(named)
    where = f"/repos/{repository}/environments"
    try:
        listed = rest.each(_Environment, where + _PAGE, "environments")
        async for each in listed:
            policy = each.deployment_branch_policy
            if each.name not in found or policy is None:
                continue
            patterns: list[str] = []
            if not policy.protected_branches:
                url = f"{where}/{quote(each.name, safe='')}/deployment-branch-policies"
                known = await rest.all(_Named, url + _PAGE, "branch_policies")
                patterns = [one.name for one in known if one.type == "branch"]
            lets_in = (picks_branch([p], b) for p in patterns for b in OUR_BRANCHES)
            if not any(lets_in):
                found.discard(each.name)
    except Refused:
        return frozenset(named)
    return frozenset(found)
