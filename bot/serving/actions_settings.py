"""Checks whether workflows may run and whether their jobs may open pull requests.

https://docs.github.com/rest/actions/permissions
"""

from collections.abc import AsyncIterator
from typing import Final

from pydantic import BaseModel, ConfigDict

from bot.forge.rest import Refused, Rest
from bot.serving.examination_finding import Finding

RIGHT: Final = "administration"
"""The permission for these settings; the bot itself never needs it."""
_WHERE: Final = "under Settings, Actions, General"


class _Actions(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    enabled: bool
    allowed_actions: str = "all"


class _Jobs(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    can_approve_pull_request_reviews: bool


async def examined(
    rest: Rest, name: str, *, has_loop: bool, fix: bool
) -> AsyncIterator[Finding]:
    """Give the findings about the settings of Actions.

    Args:
        rest: a client with the permission `administration`, if the App has it.
        name: the repository's full name.
        has_loop: whether brat.yml is there, whose jobs may act with their own token.
        fix: whether to switch on settings that are needed and off.

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
    yield await _actions(rest, name, actions, fix=fix)
    if actions.enabled and actions.allowed_actions == "local_only":
        said = f"{name}: only actions of the repository's own may run"
        mend = f"allow actions/upload-artifact {_WHERE}: brat-task.yml hands in by it"
        yield Finding("fault", said, mend)
    if has_loop:
        yield await _jobs(rest, name, jobs, fix=fix)


def unseen(name: str) -> Finding:
    """Return the finding that the settings could not be checked."""
    said = f"{name}: the App may not see whether Actions may run ({RIGHT}: read)"
    return Finding("note", said, f"look {_WHERE}")


async def _actions(rest: Rest, name: str, known: _Actions, *, fix: bool) -> Finding:
    if known.enabled:
        return Finding("ok", f"{name}: Actions may run")
    url = f"/repos/{name}/actions/permissions"
    if fix and await _put(rest, url, {"enabled": True}):
        return Finding("ok", f"{name}: let Actions run")
    mend = f"allow them {_WHERE}; with {RIGHT}: write --fix does it"
    return Finding("fault", f"{name}: Actions may not run", mend)


async def _jobs(rest: Rest, name: str, known: _Jobs, *, fix: bool) -> Finding:
    if known.can_approve_pull_request_reviews:
        return Finding("ok", f"{name}: jobs may open pull requests")
    url = f"/repos/{name}/actions/permissions/workflow"
    if fix and await _put(rest, url, {"can_approve_pull_request_reviews": True}):
        return Finding("ok", f"{name}: let jobs open pull requests")
    said = f"{name}: jobs may not open pull requests, so brat.yml needs an App"
    mend = f"allow GitHub Actions to create pull requests {_WHERE}, or --fix"
    return Finding("note", said, mend)


async def _put(rest: Rest, url: str, body: object) -> bool:
    """Change a setting; return whether the forge allowed it."""
    try:
        await rest.write("PUT", url, body)
    except Refused:
        return False
    return True
