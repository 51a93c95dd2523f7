"""Workflow runs and what they leave."""

from brat.forge.records.checks import Conclusion, Progress
from brat.forge.records.record import Record


class Run(Record, frozen=True, kw_only=True):
    """A workflow run and the process that carries it out, in runs/<id>/."""

    repo: int
    number: int
    """Counts the workflow's runs."""
    path: str
    """The workflow's file."""
    title: str
    branch: str
    head_sha: str
    actor: int
    inputs: dict[str, str]
    created_at: str
    updated_at: str
    event: str = "workflow_dispatch"
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    pid: int | None = None
    born: float | None = None
    """When it was created: with the pid this names one process for good."""
    payload: str | None = None
    """The event that started it, as JSON; None: a dispatch, made of its inputs."""
    token: int | None = None
    """The token it was given, which dies with it."""
    cancelling: bool = False
    artifact_digest: str | None = None
    """SHA-256 of the token with which another starter may hand over artifacts."""


class Artifact(Record, frozen=True, kw_only=True):
    """A zip in runs/<run>/artifacts/<name>.zip."""

    run: int
    repo: int
    name: str
    size: int
    digest: str
    """`sha256:` and 64 hex digits."""
    created_at: str
