"""Which workflow files this forge runs, what starts them, and what their tokens may do.

brat-task.yml is always there, and brat-task-live.yml where a repository holds it: they
stand for our runner. What else it holds runs where another starter executes whole
workflow files: by dispatch, and brat.yml by what people do, too. As on
GitHub nothing that a job's own token does starts a run, but a dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Mapping
from typing import Any, Final

from brat.forge.records import Permissions, Run
from brat.forge.refusals import Refused
from brat.forge.views.runs import TASK_WORKFLOW

LOOP_WORKFLOW: Final = ".github/workflows/brat.yml"
LIVE_WORKFLOW: Final = ".github/workflows/brat-task-live.yml"
OWN_WORKFLOWS: Final = frozenset({TASK_WORKFLOW, LIVE_WORKFLOW, LOOP_WORKFLOW})
JOB_LOGIN: Final = "github-actions[bot]"
"""The account whose token a run gets."""
TASK_INPUTS: Final = ("session", "log", "nonce")
MOST_INPUT_CHARS: Final = 65535
_KNOWN: Final = {
    TASK_WORKFLOW: TASK_INPUTS,
    LIVE_WORKFLOW: TASK_INPUTS,
    LOOP_WORKFLOW: (*TASK_INPUTS, "after"),
}
_LOOP_MAY: Final[Permissions] = tuple(
    (name, "write")
    for name in ("actions", "checks", "contents", "issues", "pull_requests")
)
_TASK_MAY: Final[Permissions] = (("actions", "write"), ("contents", "read"))
"""What the two jobs of such a run may together: an executor has one token for both."""


def inputs_of(path: str, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of a dispatch as text.

    Raises:
        Refused: 422: they are not those that the workflow takes.
    """
    known = _KNOWN.get(path, ())
    needed = TASK_INPUTS if path in {TASK_WORKFLOW, LIVE_WORKFLOW} else ()
    unknown = sorted(asked.keys() - set(known))
    if unknown:
        raise Refused(422, f"Unexpected inputs provided: {unknown}")
    missing = [name for name in needed if not asked.get(name)]
    if missing:
        raise Refused(422, f"Required input '{missing[0]}' not provided")
    inputs = {name: str(value) for name, value in asked.items()}
    if sum(map(len, inputs.values())) > MOST_INPUT_CHARS:
        raise Refused(422, f"inputs are too large (maximum {MOST_INPUT_CHARS})")
    return inputs


def title_of(path: str, inputs: Mapping[str, str]) -> str:
    """Return what `run-name` makes of the inputs."""
    if inputs.get("session"):
        return f"brat {inputs['session']} {inputs['nonce']}"
    return path.rpartition("/")[2].rpartition(".")[0]


def permissions_of(run: Run) -> Permissions | None:
    """Return what a run's token may do; None: read, and nothing else."""
    if run.path != LOOP_WORKFLOW:
        return None
    return _TASK_MAY if run.inputs.get("session") else _LOOP_MAY
