"""The facts that the forge vouches for about a session's job."""

from collections.abc import Mapping
from typing import NamedTuple


class Origin(NamedTuple):
    """The origin of the jobs of a repository's sessions."""

    repository: str
    repository_id: int
    workflow: str
    """The workflow file at a ref: `<owner>/<name>/<path>@<ref>`."""


def claims_of(origin: Origin, run: int) -> Mapping[str, str]:
    """Return the claims in the token of a run's job."""
    return {
        "repository_id": str(origin.repository_id),
        "repository": origin.repository,
        "run_id": str(run),
        "run_attempt": "1",
        "event_name": "workflow_dispatch",
        "workflow_ref": origin.workflow,
        "job_workflow_ref": origin.workflow,
    }
