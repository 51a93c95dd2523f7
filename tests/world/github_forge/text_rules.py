"""Texts: how long they may be."""

import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec import DecodeError, json

from brat.forge.resources.wire import API, Refused, fault
from brat.forge.rest.rest_call import Call
from brat.forge.rest.rest_issues import GREY
from convoy.text import LABEL_CHARS, STATUS_CHARS, SUMMARY_CHARS, TITLE_CHARS

_REPOSITORIES = (API + "/repos/{owner}/{repo}", API + "/repositories/{repository}")


def asked_route(call: Call) -> str:
    """Return method and path, such as `GET /pulls/{number}` below a repository."""
    resource = call.request.match_info.route.resource
    path = resource.canonical if resource is not None else ""
    for beginning in _REPOSITORIES:
        path = path.removeprefix(beginning)
    return f"{call.request.method} {path}"


BODY_CHARS: Final = 65_536
MOST_ANNOTATIONS: Final = 50
"""In one request. https://docs.github.com/rest/checks/runs#create-a-check-run"""
MOST_ACTIONS: Final = 3
ACTION_CHARS: Final = {"label": 20, "description": 40, "identifier": 20}
_LABEL_TEXT: Final = 100
_COLOR: Final = re.compile(r"[0-9A-Fa-f]{6}")
_TEXTS: Final = {
    "POST /issues": "Issue",
    "PATCH /issues/{number}": "Issue",
    "POST /pulls": "PullRequest",
    "PATCH /pulls/{number}": "PullRequest",
    "POST /issues/{number}/comments": "IssueComment",
    "PATCH /issues/comments/{comment}": "IssueComment",
}
_CHECKS: Final = frozenset({"POST /check-runs", "PATCH /check-runs/{check}"})
_MADE_BY_USE: Final = "POST /issues/{number}/labels"


def within_limits(call: Call) -> dict[str, str]:
    """Refuse what is too long; what is no JSON, the endpoint refuses itself."""
    try:
        asked = json.decode(call.body_bytes or b"{}")
    except DecodeError:
        return {}
    route = asked_route(call)
    if route == _MADE_BY_USE:
        labels = asked.get("labels", ()) if isinstance(asked, dict) else asked
        for name in labels:
            if isinstance(name, str):
                checked_label(name, GREY, None)
    elif isinstance(asked, dict):
        _check(route, asked)
    return {}


def _check(route: str, asked: dict[str, Any]) -> None:
    if route in _TEXTS:
        within(_TEXTS[route], "title", _text(asked, "title"), TITLE_CHARS)
        within(_TEXTS[route], "body", _text(asked, "body"), BODY_CHARS)
    elif route == "POST /labels":
        color = _text(asked, "color") or GREY
        name = _text(asked, "name")
        if name is not None:
            checked_label(name, color, _text(asked, "description"))
    elif route == "POST /statuses/{sha}":
        within("Status", "description", _text(asked, "description"), STATUS_CHARS)
    elif route in _CHECKS:
        output = asked.get("output")
        if isinstance(output, dict):
            texts = {name: _text(output, name) for name in ("summary", "text")}
            checked_output(texts, output.get("annotations", ()))
        if isinstance(actions := asked.get("actions"), list):
            checked_actions(actions)


def _text(asked: dict[str, Any], name: str) -> str | None:
    said = asked.get(name)
    return said if isinstance(said, str) else None


def within(resource: str, field: str, text: str | None, most: int) -> None:
    """Check that a text has at most so many characters.

    Raises `Refused`: 422: it has more.
    """
    if text is not None and len(text) > most:
        said = f"{field} is too long (maximum is {most} characters)"
        raise fault(resource, field, "custom", said)


def checked_label(name: str, color: str, description: str | None) -> None:
    """Check what a label is to be.

    Raises:
        Refused: 422: it has no name, no such colour can be, or something is too long.
    """
    if not name.strip():
        raise fault("Label", "name", "missing_field")
    within("Label", "name", name, LABEL_CHARS)
    within("Label", "description", description, _LABEL_TEXT)
    if not _COLOR.fullmatch(color):
        raise fault("Label", "color", "invalid")


def checked_output(texts: dict[str, str | None], annotations: Sequence[object]) -> None:
    """Check what a check run says: characters are counted first, and then bytes.

    https://github.com/github/docs/issues/35252 has the second sentence,
    https://github.com/reviewdog/action-actionlint/issues/72 the first.

    Raises `Refused`: 422: it is too much.
    """
    for name, text in texts.items():
        size = len(text or "")
        if size > SUMMARY_CHARS:
            raise _too_many(f"Only {SUMMARY_CHARS} characters are", size)
        if len((text or "").encode()) > SUMMARY_CHARS:
            said = f"{name} exceeds a maximum bytesize of {SUMMARY_CHARS}"
            raise fault("CheckRun", name, "custom", said)
    if len(annotations) > MOST_ANNOTATIONS:
        most = f"No more than {MOST_ANNOTATIONS} items are"
        raise _too_many(most, len(annotations))


def checked_actions(actions: Sequence[dict[str, str]]) -> None:
    """Check the buttons of a check run.

    https://docs.github.com/rest/checks/runs#create-a-check-run has the figures.

    Raises `Refused`: 422: there are too many, or a text is too long.
    """
    if len(actions) > MOST_ACTIONS:
        raise _too_many(f"No more than {MOST_ACTIONS} items are", len(actions))
    for name, most in ACTION_CHARS.items():
        for action in actions:
            within("CheckRun", name, action[name], most)


def _too_many(most: str, given: int) -> Refused:
    said = f"Invalid request.\n\n{most} allowed; {given} were supplied."
    return Refused(422, said)
