"""What the forge says of a session's job, when it vouches for it."""

from collections.abc import Mapping
from typing import NamedTuple


class Origin(NamedTuple):
    """Where the jobs of a repository's sessions come from."""

    repository: str
    repository_id: int
    workflow: str
    """The file, in its repository and at a ref: `<owner>/<name>/<path>@<ref>`."""


def claims_of(origin: Origin, run: int) -> Mapping[str, str]:
    """Return what the token of a run's job says."""
    return {
        "repository_id": str(origin.repository_id),
        "repository": origin.repository,
        "run_id": str(run),
        "run_attempt": "1",
        "event_name": "workflow_dispatch",
        "workflow_ref": origin.workflow,
        "job_workflow_ref": origin.workflow,
    }
