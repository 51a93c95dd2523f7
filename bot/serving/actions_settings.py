"""May workflows run in a repository, and may their jobs open pull requests?

https://docs.github.com/rest/actions/permissions
"""

from collections.abc import AsyncIterator
from typing import Final

from pydantic import BaseModel, ConfigDict

from bot.forge.rest import Refused, Rest
from bot.serving.found import Found

RIGHT: Final = "administration"
"""The permission that these take; the bot itself needs it for nothing."""
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
) -> AsyncIterator[Found]:
    """Give what the settings of Actions are.

    Args:
        rest: asks with the permission `administration`, where there is one.
        name: of the repository.
        has_loop: brat.yml is there, whose jobs may act with their own token.
        fix: switch on what is needed and off.

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
        yield Found("fault", said, mend)
    if has_loop:
        yield await _jobs(rest, name, jobs, fix=fix)


def unseen(name: str) -> Found:
    """Say that the settings were not looked at."""
    said = f"{name}: the App may not see whether Actions may run ({RIGHT}: read)"
    return Found("note", said, f"look {_WHERE}")


async def _actions(rest: Rest, name: str, known: _Actions, *, fix: bool) -> Found:
    if known.enabled:
        return Found("ok", f"{name}: Actions may run")
    url = f"/repos/{name}/actions/permissions"
    if fix and await _put(rest, url, {"enabled": True}):
        return Found("ok", f"{name}: let Actions run")
    mend = f"allow them {_WHERE}; with {RIGHT}: write --fix does it"
    return Found("fault", f"{name}: Actions may not run", mend)


async def _jobs(rest: Rest, name: str, known: _Jobs, *, fix: bool) -> Found:
    if known.can_approve_pull_request_reviews:
        return Found("ok", f"{name}: jobs may open pull requests")
    url = f"/repos/{name}/actions/permissions/workflow"
    if fix and await _put(rest, url, {"can_approve_pull_request_reviews": True}):
        return Found("ok", f"{name}: let jobs open pull requests")
    said = f"{name}: jobs may not open pull requests, so brat.yml needs an App"
    mend = f"allow GitHub Actions to create pull requests {_WHERE}, or --fix"
    return Found("note", said, mend)


async def _put(rest: Rest, url: str, body: object) -> bool:
    """Whether the forge let us change it."""
    try:
        await rest.write("PUT", url, body)
    except Refused:
        return False
    return True
