"""Which workflow files can judge a candidate: by dispatch, or by the push of it. Pure.

A push with a job's own token starts no workflow; a dispatch with it does.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Mapping
from typing import Final, Literal

from bot.forge.workflow_file import WorkflowFile, parsed
from convoy.model import ids

Way = Literal["dispatch", "push"]
_WAIVE: Final = "or set [refinery] require_ci = false"


def candidates(target: str) -> tuple[str, ...]:
    """Return a branch of each kind that holds a candidate: a task's, the convoy's."""
    bases = (ids.base_branch("any"), target)
    return tuple(ids.queue_branch(base, "0") for base in bases)


def ways(text: str, target: str = "main") -> frozenset[Way]:
    """Return how a workflow file can be started on a candidate; empty: it cannot.

    `target` is the branch that convoys land on.
    """
    file = parsed(text)
    if file is None or not file.jobs:
        return frozenset()
    found: set[Way] = set()
    if "workflow_dispatch" in file.on and not _needs_input(file):
        found.add("dispatch")
    if file.starts_on("push", candidates(target)):
        found.add("push")
    return frozenset(found)


def lack(
    files: Mapping[str, str], *, by_job: bool, target: str = "main"
) -> tuple[str, str] | None:
    """Return why no file judges what brat builds, and what mends it; None: one can.

    Args:
        files: the repository's own workflow files, by name.
        by_job: whether brat pushes with the token of a job, if it is no App.
        target: the branch that convoys land on.
    """
    if by_job and judges(files, "dispatch"):
        return None
    if not by_job:
        missing = unjudged(files, target)
        if not missing:
            return None
        where = f"brat/queue/**, such as {missing[0]}"
        said = f"no workflow here runs on pushes to {where}, and CI is required"
        return said, f'add "brat/queue/**" to the branches of your CI\'s push, {_WAIVE}'
    mend = (
        "give your CI the trigger workflow_dispatch, without required inputs, and set "
        "the variable BRAT_CI_WORKFLOW to its file"
    )
    if pushed := judges(files, "push"):
        said = f"{', '.join(pushed)} runs on an App's pushes alone, not on a job's"
        return f"{said}, and CI is required", f"{mend}, let brat be an App, {_WAIVE}"
    said = "no workflow here can judge what brat builds, and CI is required"
    return said, f"{mend}, {_WAIVE}"


def dispatch_fault(files: Mapping[str, str], named: str) -> str | None:
    """Return why a loop that dispatches CI cannot start it; None: it can.

    Args:
        files: the repository's own workflow files, by name.
        named: the file that BRAT_CI_WORKFLOW names; empty: none.
    """
    if named in files:
        if "dispatch" in ways(files[named]):
            return None
        return f"{named} has no trigger workflow_dispatch that goes without inputs"
    if named:
        return f"this repository has no workflow file {named}"
    known = [name for name, text in files.items() if ways(text)]
    return (
        f"no variable BRAT_CI_WORKFLOW says whether it is {known[0]}" if known else None
    )


def unjudged(files: Mapping[str, str], target: str) -> tuple[str, ...]:
    """Return the candidates whose push starts nothing, of tasks and of the convoy.

    Args:
        files: the repository's own workflow files, by name.
        target: the branch that convoys land on.
    """
    known = [file for text in files.values() if (file := parsed(text)) and file.jobs]
    return tuple(
        branch
        for branch in candidates(target)
        if not any(file.starts_on("push", (branch,)) for file in known)
    )


def judges(files: Mapping[str, str], way: Way) -> tuple[str, ...]:
    """Return the names of the files that can be started in one way."""
    return tuple(name for name, text in files.items() if way in ways(text))


def _needs_input(file: WorkflowFile) -> bool:
    """Whether GitHub refuses a dispatch that gives no inputs."""
    told = file.on["workflow_dispatch"]
    inputs = told.get("inputs") if isinstance(told, dict) else None
    return any(
        isinstance(each, dict)
        and each.get("required") is True
        and each.get("default") in (None, "")
        for each in (inputs.values() if isinstance(inputs, dict) else ())
    )
