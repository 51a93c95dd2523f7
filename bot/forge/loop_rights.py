"""What the job of a loop may not do, by the workflow file that runs it. Pure.

A job cannot ask what its own token may do: GitHub tells it with each refusal alone.
https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#permissions
"""

from typing import Final

from bot.forge.workflow_file import Job, parsed

JOB: Final = "loop"
_NEEDS: Final = {
    "actions": ("write", "no task and no CI can be started"),
    "checks": ("write", "a task's state cannot be shown as a check"),
    "contents": ("write", "nothing can be pushed"),
    "issues": ("write", "nothing can be said on issues"),
    "pull-requests": ("write", "no pull request can be opened"),
    "statuses": ("read", "CI that reports by commit status is not seen"),
}
_ENOUGH: Final = {"read": ("read", "write"), "write": ("write",)}


def lacks(text: str) -> tuple[str, ...]:
    """Return which permissions the job `loop` of a workflow file lacks, and for what.

    Empty, too, where there is no such job, or where the repository's default decides.
    """
    file = parsed(text)
    jobs = file.jobs if file is not None else ()
    job = next((each for each in jobs if each.name == JOB), None)
    if job is None or job.permissions is None:
        return ()
    return tuple(
        f"{name}: {level} is missing, so {then}"
        for name, (level, then) in _NEEDS.items()
        if _level(job, name) not in _ENOUGH[level]
    )


def _level(job: Job, name: str) -> str:
    given = job.permissions
    if isinstance(given, str):
        return given.removesuffix("-all")
    return str((given or {}).get(name, "none"))
