"""The forge's own CI as workflow runs, so that a client finds each job behind a check.

On GitHub a check of Actions counts only if a run's job stands behind it. Runs that no
file of the repository describes have a path of this form there, too.
"""

from typing import Final

from brat.forge.resources.account_resource import ACTIONS_APP, EPOCH
from brat.forge.resources.check_resource import CheckRun
from brat.forge.resources.run_resource import Run
from brat.forge.rest.rest_call import Call

PATH: Final = "dynamic/ci"


def listed(call: Call, commit: str = "") -> list[Run]:
    """Return the runs of the forge's own CI, of one commit if it is given."""
    checks = call.store.check_runs
    known = checks.of((call.repo.id, commit)) if commit else checks.all()
    return [_run(call, one) for one in known if one.job and one.repo == call.repo.id]


def one(call: Call, number: int) -> Run | None:
    """Return the run of a check by its number; None: the forge's CI made none."""
    check = call.store.check_runs.get(number)
    return _run(call, check) if check is not None and check.job else None


def check_of(call: Call, run: Run) -> CheckRun | None:
    """Return the check run that a run's job puts on its commit; None: it puts none."""
    for check in call.store.check_runs.of((run.repo, run.head_sha)):
        is_its = check.id == run.id or check.external_id == str(run.id)
        if is_its and check.app == ACTIONS_APP:
            return check
    return None


def _run(call: Call, check: CheckRun) -> Run:
    since = check.started_at or EPOCH
    return Run(
        id=check.id,
        repo=check.repo,
        number=1,
        path=PATH,
        title=check.name,
        branch=check.job.ref if check.job else "",
        head_sha=check.head_sha,
        actor=call.service.renderer.owner(call.repo).id,
        inputs={},
        created_at=since,
        updated_at=check.completed_at or since,
        event="push",
        status=check.status,
        conclusion=check.conclusion,
        started_at=check.started_at,
    )
