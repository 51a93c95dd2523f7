"""What CI hands to the code of agents: an agent's commit is a fork's pull request.

GitHub gives a fork's pull request no secrets and a token that only reads. A push to
`brat/queue/**` or `convoy/**` comes from the bot, so GitHub trusts it: its jobs get
what the workflow files say. Pure.
https://docs.github.com/actions/reference/security/secure-use
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from bot.forge.ci_triggers import candidates
from bot.forge.workflow_file import EVERY_SECRET, Job, WorkflowFile, parsed

OUR_BRANCHES: Final = (
    *candidates("main"),
    *candidates("master"),
    "convoy/any/base",
    "convoy/any/task-1",
)
"""A branch of each kind that holds what agents wrote."""
_EVENTS: Final = ("push", "pull_request", "create")
_TARGET: Final = "pull_request_target"
_READ: Final = "give it `permissions: contents: read`"

Default = Literal["read", "write", ""]
"""What the repository's jobs may do by default; empty: not known."""


class Exposure(Struct, frozen=True):
    """One thing that an agent's code can reach."""

    said: str
    """A sentence without its end; file and job are named in it."""
    mend: str


def exposures(
    files: Mapping[str, str], default: Default, open_environments: frozenset[str] | None
) -> tuple[Exposure, ...]:
    """Return what the code of agents can reach by the repository's own workflows.

    Args:
        files: the workflow files on the default branch but brat's own, by name.
        default: what a job's token may do where no permissions are named.
        open_environments: the environments whose rules let our branches in; None: not
            known.
    """
    known = {name: file for name, text in files.items() if (file := parsed(text))}
    found: list[Exposure] = []
    for name, file in known.items():
        if _TARGET in file.on:
            said = f"{name} runs on {_TARGET}: with secrets, for what an agent wrote"
            found.append(Exposure(said, "let it run on pull_request"))
        if is_exposed(file):
            for job in file.jobs:
                found += _of_job(name, job, default, open_environments)
    return (*found, *_caches(known))


def is_exposed(file: WorkflowFile) -> bool:
    """Whether a workflow may run on what an agent wrote."""
    return any(file.starts_on(event, OUR_BRANCHES) for event in _EVENTS)


def environments_in(files: Mapping[str, str]) -> frozenset[str]:
    """Return the environments that jobs on the code of agents name."""
    known = (parsed(text) for text in files.values())
    return frozenset(
        job.environment
        for file in known
        if file is not None and is_exposed(file)
        for job in file.jobs
        if job.environment
    )


def _of_job(
    name: str, job: Job, default: Default, environments: frozenset[str] | None
) -> Iterator[Exposure]:
    where = f"{name}, job {job.name}"
    if job.may_write or (job.may_write is None and default == "write"):
        yield Exposure(f"{where}: its token can write, and agents' code gets it", _READ)
    elif job.may_write is None and not default:
        said = f"{where}: it names no permissions, so its token may be able to write"
        yield Exposure(said, _READ)
    if job.secrets:
        what = "all" if EVERY_SECRET in job.secrets else ", ".join(job.secrets)
        said = f"{where}: agents' code gets the secrets it names ({what})"
        mend = "move them to a workflow that runs on the default branch alone"
        yield Exposure(said, mend)
    if job.environment and (environments is None or job.environment in environments):
        said = f"{where}: agents' code gets the environment {job.environment}"
        mend = "limit its deployment branches to the default branch"
        yield Exposure(said, mend)


def _caches(files: Mapping[str, WorkflowFile]) -> Iterator[Exposure]:
    """Give the releases that read a cache which jobs on agents' code also write."""
    writers = [
        name
        for name, file in files.items()
        if is_exposed(file) and any(job.uses_cache for job in file.jobs)
    ]
    for name, file in files.items():
        if writers and file.releases and any(job.uses_cache for job in file.jobs):
            said = f"{name} releases with a cache, and {writers[0]} writes caches, too"
            yield Exposure(said, f"let {name} build without a cache")
