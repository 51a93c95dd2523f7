"""REST: labels of a repository, and what lists and replaces those of an issue.

https://docs.github.com/rest/issues/labels
"""

from brat.forge.resources.issue_resource import Label
from brat.forge.resources.wire import fault
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, issue_of
from brat.forge.rest.rest_issues import GREY, asked_names, find_label, relabel, shown


class NewLabel(Body):
    """The body of `POST labels`."""

    name: str
    color: str = GREY
    description: str | None = None


async def list_labels(call: Call) -> Answer:
    """`GET labels`."""
    renderer = call.service.renderer
    labels = call.store.labels.of(call.repo.id)
    return call.page(labels, lambda one: renderer.label(call.repo, one))


async def create_label(call: Call) -> Answer:
    """`POST labels`."""
    asked = call.body(NewLabel)
    if find_label(call.store, call.repo, asked.name) is not None:
        raise fault("Label", "name", "already_exists")
    with call.store.change():
        label = call.store.labels.put(
            Label(
                id=call.store.next_id(),
                repo=call.repo.id,
                name=asked.name,
                color=asked.color.lower(),
                description=asked.description,
            )
        )
    face = call.service.renderer.label(call.repo, label)
    return Answer(face, 201, {"Location": face["url"]})


async def get_label(call: Call) -> Answer:
    """`GET labels/{name}`."""
    label = found(find_label(call.store, call.repo, call.word("name")))
    return Answer(call.service.renderer.label(call.repo, label))


async def list_issue_labels(call: Call) -> Answer:
    """`GET issues/{number}/labels`."""
    return shown(call, issue_of(call))


async def set_issue_labels(call: Call) -> Answer:
    """`PUT issues/{number}/labels`."""
    issue, names = issue_of(call), asked_names(call)
    with call.store.change():
        return shown(call, relabel(call, issue, to=names))


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + r"/issues/{number:\d+}/labels"
ROUTES = (
    Route("GET", _REPO + "/labels", list_labels),
    Route("POST", _REPO + "/labels", create_label, "triage"),
    Route("GET", _REPO + "/labels/{name:.+}", get_label),
    Route("GET", _ISSUE, list_issue_labels),
    Route("PUT", _ISSUE, set_issue_labels, "triage"),
)
