"""REST: workflows and artifacts one by one, and runs by more than what started them.

https://docs.github.com/rest/actions/workflow-runs
"""

from collections.abc import Callable
from operator import ge, gt, le, lt

from brat.forge.resources import run_resource as views
from brat.forge.resources.run_resource import Run
from brat.forge.resources.wire import Refused, parse
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.rest.rest_runs import (
    artifact_of,
    runs_that,
    workflow_of,
    workflow_paths,
)

_SIGNS = ((">=", ge), ("<=", le), (">", gt), ("<", lt))


async def list_workflows(call: Call) -> Answer:
    """`GET actions/workflows`."""
    return call.page(
        workflow_paths(call),
        lambda path: views.workflow(call.site, call.repo, path),
        wrap="workflows",
    )


async def get_workflow(call: Call) -> Answer:
    """`GET actions/workflows/{id or file name}`."""
    return Answer(views.workflow(call.site, call.repo, workflow_of(call)))


async def get_artifact(call: Call) -> Answer:
    """`GET actions/artifacts/{id}`."""
    artifact, run = artifact_of(call)
    return Answer(views.artifact(call.site, call.repo, artifact, run))


async def list_runs(call: Call) -> Answer:
    """`GET actions/runs` and `GET actions/workflows/{id}/runs`: newest first.

    A run's check suite has the run's id.
    """
    who = call.service.renderer.who
    status, branch = call.asked("status"), call.asked("branch")
    actor, suite = call.asked("actor").lower(), call.asked("check_suite_id")

    def fits(run: Run) -> bool:
        return (
            status in {"", run.status, run.conclusion}
            and branch in {"", run.branch}
            and suite in {"", str(run.id)}
            and actor in {"", who(run.actor).login.lower()}
        )

    return runs_that(call, fits, _created(call.asked("created")))


def _created(asked: str) -> Callable[[Run], bool]:
    """Read GitHub's date query: `>=T`, `>T`, `<=T`, `<T`, `A..B`, or a prefix.

    https://docs.github.com/en/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax#query-for-dates
    """
    first, dots, last = asked.partition("..")
    bounds = [(ge, first), (le, last)] if dots else []
    for sign, compare in _SIGNS:
        if not bounds and asked.startswith(sign):
            bounds = [(compare, asked.removeprefix(sign))]
    try:
        tests = [(compare, parse(text)) for compare, text in bounds if text != "*"]
    except ValueError:
        raise Refused(422, f"{asked!r} is no date query") from None
    if not bounds:
        return lambda run: run.created_at.startswith(asked)
    return lambda run: all(
        compare(parse(run.created_at), moment) for compare, moment in tests
    )


_ACTIONS = "/repos/{owner}/{repo}/actions"
_WORKFLOW = _ACTIONS + "/workflows/{workflow}"
ROUTES = (
    Route("GET", _ACTIONS + "/workflows", list_workflows),
    Route("GET", _WORKFLOW, get_workflow),
    Route("GET", _WORKFLOW + "/runs", list_runs),
    Route("GET", _ACTIONS + "/runs", list_runs),
    Route("GET", _ACTIONS + r"/artifacts/{artifact:\d+}", get_artifact),
)
