"""Shows checks on commits by REST: check runs, or statuses if the bot is no App.

https://docs.github.com/rest/checks/runs, https://docs.github.com/rest/commits/statuses
"""

from http import HTTPStatus
from typing import Final, Literal

from msgspec import Struct, to_builtins

from bot.forge import payloads
from bot.forge.rest import Refused, Rest
from convoy.text import STATUS_CHARS
from convoy.text.project_tests import FailingPlace

Conclusion = Literal["success", "failure", "cancelled", "action_required"]
_STATES: Final[dict[Conclusion | None, str]] = {
    None: "pending",
    "success": "success",
    "failure": "failure",
    "cancelled": "error",
    "action_required": "failure",
}


class Button(Struct, frozen=True, kw_only=True):
    """A button of a check, for people with write access.

    https://docs.github.com/rest/checks/runs#create-a-check-run has the limits.
    """

    label: str
    """At most 20 characters."""
    description: str
    """At most 40 characters."""
    identifier: str
    """What the App is told when it is pressed, at most 20 characters."""


class View(Struct, frozen=True, kw_only=True):
    """The content of a check."""

    key: str
    """Identifies the check, whichever process made it."""
    commit: str
    name: str
    conclusion: Conclusion | None
    """None: the check is still in progress."""
    title: str
    summary: str
    """Markdown."""
    url: str
    """The address of a page with more details."""
    places: tuple[FailingPlace, ...] = ()
    """The lines that the forge marks; those of a check never change."""
    buttons: tuple[Button, ...] = ()
    """At most three."""


class CheckRuns:
    """The checks that a bot shows on one repository's commits."""

    def __init__(self, rest: Rest, repo: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._repo = repo

    async def found(self, view: View) -> payloads.CheckRun | None:
        """Return the existing check with a view's key; None: there is none."""
        url = f"{self._repo}/commits/{view.commit}/check-runs?filter=all&per_page=100"
        async for check in self._rest.each(payloads.CheckRun, url, "check_runs"):
            if check.external_id == view.key:
                return check
        return None

    async def show(self, view: View, found: payloads.CheckRun | None) -> None:
        """Make a check, or update the found one if it differs.

        Raises:
            Unavailable: the forge did not answer; the write may have arrived.
            Refused: the forge allows neither check runs nor statuses.
        """
        if found is not None and _shows(found, view):
            return
        output: dict[str, object] = {"title": view.title, "summary": view.summary}
        marked = found is not None and found.output.annotations_count > 0
        if view.places and not marked:  # an update would add to them
            output["annotations"] = [_annotation(each) for each in view.places]
        body: dict[str, object] = {"output": output, "status": "in_progress"}
        body["actions"] = [to_builtins(each) for each in view.buttons]
        if view.conclusion is not None:
            body |= {"status": "completed", "conclusion": view.conclusion}
        if found is not None:
            url = f"{self._repo}/check-runs/{found.id}"
            await self._rest.write("PATCH", url, body)
            return
        body |= {"name": view.name, "head_sha": view.commit}
        body |= {"external_id": view.key, "details_url": view.url}
        try:
            await self._rest.write("POST", f"{self._repo}/check-runs", body)
        except Refused as refused:
            if refused.status != HTTPStatus.FORBIDDEN:
                raise
            await self._show_status(view)

    async def _show_status(self, view: View) -> None:
        """Show the check as a status; the newest status of a name counts."""
        state, said = _STATES[view.conclusion], view.title[:STATUS_CHARS]
        url = f"{self._repo}/commits/{view.commit}/status?per_page=100"
        async for status in self._rest.each(payloads.Status, url, "statuses"):
            known = (status.state, status.description)
            if status.context == view.name and known == (state, said):
                return
        body = {"state": state, "context": view.name, "description": said}
        address = f"{self._repo}/statuses/{view.commit}"
        await self._rest.write("POST", address, {**body, "target_url": view.url})


def _annotation(place: FailingPlace) -> dict[str, object]:
    return {
        "path": place.path,
        "start_line": place.line,
        "end_line": place.line,
        "annotation_level": "failure",
        "message": place.says,
    }


def _shows(check: payloads.CheckRun, view: View) -> bool:
    said = (check.conclusion, check.output.title, check.output.summary)
    marked = bool(check.output.annotations_count) or not view.places
    return marked and said == (view.conclusion, view.title, view.summary)
