"""What judges commits."""

from typing import Literal

from msgspec import Struct

from brat.forge.records.record import Record

Conclusion = Literal[
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "stale",
    "timed_out",
    "action_required",
]
Progress = Literal["queued", "in_progress", "completed"]


class Output(Struct, frozen=True, kw_only=True):
    """What a check run says."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None


class Job(Struct, frozen=True, kw_only=True):
    """The CI job behind a check run of the forge's own."""

    ref: str
    pid: int | None = None
    born: float | None = None
    """When it was created: with the pid this names one process for good."""


class CheckRun(Record, frozen=True, kw_only=True):
    """A check run on one commit."""

    repo: int
    head_sha: str
    name: str
    app: str
    """The slug of the app that made it."""
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: Output = Output()
    annotations: int = 0
    job: Job | None = None


class CommitStatus(Record, frozen=True, kw_only=True):
    """A commit status; the newest of a context counts."""

    repo: int
    sha: str
    state: str
    context: str
    creator: int
    created_at: str
    description: str | None = None
    target_url: str | None = None
