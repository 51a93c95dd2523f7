"""REST: `GET issues`, with all of its filters.

There are no milestones, types and fields of issues here: a filter asks for those that
have one (none has) or have none (all do); one that names one is refused.

https://docs.github.com/rest/issues/issues#list-repository-issues
"""

import re
from collections.abc import Callable
from typing import Final

from brat.forge.resources.issue_resource import Issue
from brat.forge.rest.rest_call import Answer, Call, Route
from brat.forge.wire.http_refusals import fault
from brat.forge.wire.timestamps import parse

_SORTS: Final = {
    "created": "created_at",
    "updated": "updated_at",
    "comments": "comments",
}
_ANY: Final = "*"
_NONE: Final = "none"

Fits = Callable[[Issue], bool]


async def list_issues(call: Call) -> Answer:
    """`GET issues`: newest first, pull requests among them."""
    tests = (
        _in_state(call),
        _labelled(call),
        _since(call),
        _of_people(call),
        _absent(call, "milestone"),
        _absent(call, "type"),
        _absent(call, "issue_field_values"),
    )
    key = _SORTS[call.choice("sort", tuple(_SORTS))]
    known = call.store.issues.of(call.repo.id)
    chosen = [one for one in known if all(fits(one) for fits in tests)]
    chosen.sort(
        key=lambda one: (getattr(one, key), one.number), reverse=call.falling("desc")
    )
    return call.page(chosen, lambda one: call.service.renderer.issue(call.repo, one))


def _in_state(call: Call) -> Fits:
    state = call.choice("state", ("open", "closed", "all"))
    return lambda one: state in {"all", one.state}


def _labelled(call: Call) -> Fits:
    """Read `labels`: an issue has to have all of them."""
    wanted = {name for name in call.asked("labels").lower().split(",") if name}

    def fits(one: Issue) -> bool:
        labels = call.service.renderer.labels(one)
        return wanted <= {label.name.lower() for label in labels}

    return fits


def _since(call: Call) -> Fits:
    since = call.asked("since")
    try:
        after = parse(since) if since else None
    except ValueError:
        raise fault("Issue", "since", "invalid") from None
    return lambda one: after is None or parse(one.updated_at) >= after


def _of_people(call: Call) -> Fits:
    """Read `creator`, `assignee` and `mentioned`."""
    creator, mentioned = call.asked("creator").lower(), call.asked("mentioned").lower()
    assignee = call.asked("assignee").lower()

    def login(number: int) -> str:
        return call.service.renderer.who(number).login.lower()

    def fits(one: Issue) -> bool:
        assigned = {login(number) for number in one.assignees}
        return (
            creator in {"", login(one.author)}
            and (assignee in {"", *assigned} or _matches(assignee, assigned))
            and (not mentioned or mentioned in _mentions(call, one))
        )

    return fits


def _matches(asked: str, assigned: set[str]) -> bool:
    return bool(assigned) if asked == _ANY else asked == _NONE and not assigned


def _mentions(call: Call, one: Issue) -> set[str]:
    """Return whose names stand in an issue or its comments, in lower case."""
    said = [one.body or "", *(each.body for each in call.store.comments.of(one.id))]
    return {name.lower() for text in said for name in re.findall(r"@([\w-]+)", text)}


def _absent(call: Call, name: str) -> Fits:
    """Read a filter on what no issue of this forge has.

    Raises:
        Refused: 422: it names one.
    """
    asked = call.asked(name)
    if asked not in {"", _ANY, _NONE}:
        raise fault("Issue", name, "invalid", f"This repository has no {name} {asked}.")
    return lambda _: asked != _ANY


ROUTES = (Route("GET", "/repos/{owner}/{repo}/issues", list_issues),)
