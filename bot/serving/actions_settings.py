"""Checks whether workflows may run, and what the tokens of their jobs may do.

https://docs.github.com/rest/actions/permissions
"""

from collections.abc import AsyncIterator
from typing import Final

from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest
from bot.forge.workflows import DefaultRight
from bot.serving.examination_finding import Finding

RIGHT: Final = "administration"
"""The permission for these settings; the bot itself never needs it."""
_WHERE: Final = "under Settings, Actions, General"


class _Actions(Payload):
    enabled: bool
    allowed_actions: str = "all"


class _Jobs(Payload):
    can_approve_pull_request_reviews: bool
    default_workflow_permissions: DefaultRight = ""


async def examined(
    rest: Rest, name: str, *, has_loop: bool, fix: bool
) -> AsyncIterator[Finding]:
    """Give the findings about the settings of Actions.

    Args:
        rest: a client with the permission `administration`, if the App has it.
        name: the repository's full name.
        has_loop: whether brat.yml is there, whose jobs may act with their own token.
        fix: whether to make the default token read-only; nothing is ever loosened.

    Raises:
        Unavailable: the forge did not answer.
    """
    url = f"/repos/{name}/actions/permissions"
    try:
        actions = await rest.read(_Actions, url)
        jobs = await rest.read(_Jobs, f"{url}/workflow")
    except Refused:
        yield unseen(name)
        return
    yield _actions(name, actions)
    yield await _token(rest, name, jobs, fix=fix)
    if actions.enabled and actions.allowed_actions == "local_only":
        said = f"{name}: only actions of the repository's own may run"
        mend = f"allow actions/upload-artifact {_WHERE}: brat-task.yml hands in by it"
        yield Finding("fault", said, mend)
    if has_loop:
        yield _jobs(name, jobs)


def unseen(name: str) -> Finding:
    """Return the finding that the settings could not be checked."""
    said = f"{name}: the App may not see whether Actions may run ({RIGHT}: read)"
    return Finding("note", said, f"look {_WHERE}")


async def default_token(rest: Rest, name: str) -> DefaultRight:
    """Return what a job's token may do by default; empty: the App may not see it.

    Raises:
        Unavailable: the forge did not answer.
    """
    try:
        url = f"/repos/{name}/actions/permissions/workflow"
        return (await rest.read(_Jobs, url)).default_workflow_permissions
    except Refused:
        return ""


def _actions(name: str, known: _Actions) -> Finding:
    if known.enabled:
        return Finding("ok", f"{name}: Actions may run")
    return Finding("fault", f"{name}: Actions may not run", f"allow them {_WHERE}")


async def _token(rest: Rest, name: str, known: _Jobs, *, fix: bool) -> Finding:
    """Check the default token of jobs: CI runs what agents write with it."""
    if known.default_workflow_permissions != "write":
        return Finding("ok", f"{name}: by default a job's token only reads")
    url = f"/repos/{name}/actions/permissions/workflow"
    if fix and await _put(rest, url, {"default_workflow_permissions": "read"}):
        return Finding("ok", f"{name}: let a job's token only read by default")
    said = f"{name}: by default a job's token can write, and CI runs agents' code"
    mend = f"choose read permissions {_WHERE}; with {RIGHT}: write --fix does it"
    return Finding("fault", said, mend)


def _jobs(name: str, known: _Jobs) -> Finding:
    if known.can_approve_pull_request_reviews:
        return Finding("ok", f"{name}: jobs may open pull requests")
    said = f"{name}: jobs may not open pull requests, so brat.yml needs an App"
    mend = f"give it one, or allow GitHub Actions to create pull requests {_WHERE}"
    return Finding("note", said, mend)


async def _put(rest: Rest, url: str, body: object) -> bool:
    """Change a setting; return whether the forge allowed it."""
    try:
        await rest.write("PUT", url, body)
    except Refused:
        return False
    return True
