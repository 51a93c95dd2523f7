"""REST: labels of a repository and of an issue.

https://docs.github.com/en/rest/issues/labels
"""

from brat.forge.resources.issue_resource import Issue, Label
from brat.forge.rest.issue_lookup import issue_of
from brat.forge.rest.label_changes import GREY, Named, find_label, label_names, relabel
from brat.forge.rest.request_bodies import Body
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.rest.text_limits import checked_label
from brat.forge.wire.http_refusals import Refused, fault


class NewLabel(Body):
    """The body of `POST labels`."""

    name: str
    color: str = GREY
    description: str | None = None


class Labels(Body):
    """The body of `POST` and `PUT issues/{number}/labels`."""

    labels: tuple[Named, ...] = ()


def _asked(call: Call) -> list[str]:
    """Read labels as an object, or as a bare array as many clients send them."""
    if call.body_bytes.lstrip().startswith(b"["):
        return label_names(call.body(tuple[Named, ...]))
    return label_names(call.body(Labels).labels)


async def list_labels(call: Call) -> Answer:
    """`GET labels`."""
    renderer = call.service.renderer
    labels = call.store.labels.of(call.repo.id)
    return call.page(labels, lambda one: renderer.label(call.repo, one))


async def create_label(call: Call) -> Answer:
    """`POST labels`."""
    asked = call.body(NewLabel)
    checked_label(asked.name, asked.color, asked.description)
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


def _shown(call: Call, issue: Issue) -> Answer:
    renderer = call.service.renderer
    return Answer([renderer.label(call.repo, one) for one in renderer.labels(issue)])


async def list_issue_labels(call: Call) -> Answer:
    """`GET issues/{number}/labels`."""
    return _shown(call, issue_of(call))


async def add_issue_labels(call: Call) -> Answer:
    """`POST issues/{number}/labels`."""
    issue, names = issue_of(call), _asked(call)
    with call.store.change():
        return _shown(call, relabel(call, issue, add=names))


async def set_issue_labels(call: Call) -> Answer:
    """`PUT issues/{number}/labels`."""
    issue, names = issue_of(call), _asked(call)
    with call.store.change():
        return _shown(call, relabel(call, issue, to=names))


async def remove_issue_label(call: Call) -> Answer:
    """`DELETE issues/{number}/labels/{name}`."""
    issue = issue_of(call)
    label = find_label(call.store, call.repo, call.word("name"))
    if label is None or label.id not in issue.labels:
        raise Refused(404, "Label does not exist")
    with call.store.change():
        return _shown(call, relabel(call, issue, drop=label))


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + r"/issues/{number:\d+}/labels"
ROUTES = (
    Route("GET", _REPO + "/labels", list_labels),
    Route("POST", _REPO + "/labels", create_label, "triage"),
    Route("GET", _REPO + "/labels/{name:.+}", get_label),
    Route("GET", _ISSUE, list_issue_labels),
    Route("POST", _ISSUE, add_issue_labels, "triage"),
    Route("PUT", _ISSUE, set_issue_labels, "triage"),
    Route("DELETE", _ISSUE + "/{name:.+}", remove_issue_label, "triage"),
)
