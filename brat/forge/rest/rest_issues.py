"""REST: issues, their labels, comments and events.

https://docs.github.com/en/rest/issues
"""

from typing import Final, Literal

from brat.forge.resources.forge_records import (
    Comment,
    Issue,
    Label,
    Reaction,
    Repository,
)
from brat.forge.resources.wire import Refused, fault
from brat.forge.rest.rest_call import (
    Answer,
    Body,
    Call,
    Route,
    issue_of,
    made,
    new_issue,
    shows,
    titled,
)
from brat.forge.storage.record_store import Store

GREY: Final = "ededed"
"""GitHub's colour for labels that are made by being used."""


def find_label(store: Store, repo: Repository, name: str) -> Label | None:
    """Return a repository's label by its name, in any case."""
    same = [one for one in store.labels.of(repo.id) if one.name.lower() == name.lower()]
    return same[0] if same else None


def relabel(
    call: Call,
    issue: Issue,
    *,
    to: tuple[str, ...] | None = None,
    add: tuple[str, ...] = (),
    drop: Label | None = None,
) -> Issue:
    """Set, add or take off labels, and tell of each; only inside `Store.change`.

    A label that the repository does not have yet is made.
    """
    known = call.renderer.labels(issue)
    names = [label.name for label in known] if to is None else to
    wanted = [_ensure(call, name) for name in dict.fromkeys((*names, *add))]
    kept = {label.id: label for label in wanted if label != drop}
    before = {label.id: label for label in known}
    if list(kept) == list(before):
        return issue
    now = call.service.forge.now()
    issue = call.store.issues.change(issue, labels=tuple(kept), updated_at=now)
    for number in before.keys() - kept.keys():
        _tell(call, issue, "unlabeled", before[number])
    for number, label in kept.items():
        if number not in before:
            _tell(call, issue, "labeled", label)
    return issue


def _tell(call: Call, issue: Issue, event: str, label: Label) -> None:
    call.service.forge.note(issue.id, call.user, event, label=(label.name, label.color))
    face = call.renderer.label(call.repo, label)
    call.tell(event, issue, label=face)


def _ensure(call: Call, name: str) -> Label:
    known = find_label(call.store, call.repo, name)
    made = Label(repo=call.repo.id, name=name, color=GREY)
    return known or call.store.labels.add(made)


class Labels(Body):
    labels: tuple[str, ...] = ()


def shown(call: Call, issue: Issue) -> Answer:
    return Answer(
        [call.renderer.label(call.repo, one) for one in call.renderer.labels(issue)]
    )


async def add_issue_labels(call: Call) -> Answer:
    issue, names = issue_of(call), call.body(Labels).labels
    with call.store.change():
        return shown(call, relabel(call, issue, add=names))


async def remove_issue_label(call: Call) -> Answer:
    issue = issue_of(call)
    label = find_label(call.store, call.repo, call.word("name"))
    if label is None or label.id not in issue.labels:
        raise Refused(404, "Label does not exist")
    with call.store.change():
        return shown(call, relabel(call, issue, drop=label))


class CommentText(Body):
    body: str


class NewReaction(Body):
    content: Literal[
        "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"
    ]


def comment_of(call: Call) -> Comment:
    return call.own(call.store.comments, "comment")


def _comments_since(call: Call, comments: list[Comment]) -> Answer:
    """Return the comments that were written or edited since the time in the query."""
    comments = [one for one in comments if call.changed_since(one)]
    return call.page(comments, lambda one: call.renderer.comment(call.repo, one))


async def list_comments(call: Call) -> Answer:
    """`GET issues/{number}/comments`: oldest first."""
    return _comments_since(call, call.store.comments.of(issue_of(call).id))


async def list_all_comments(call: Call) -> Answer:
    """`GET issues/comments`: those of the whole repository."""
    comments = (
        comment
        for issue in call.store.issues.of(call.repo.id)
        for comment in call.store.comments.of(issue.id)
    )
    return _comments_since(call, call.in_order(comments, lambda one: one, "asc"))


async def create_comment(call: Call) -> Answer:
    issue, asked = issue_of(call), call.body(CommentText)
    if not asked.body.strip():
        raise fault("IssueComment", "body", "missing_field")
    now = call.service.forge.now()
    with call.store.change():
        comment = call.store.comments.add(
            Comment(
                repo=call.repo.id,
                issue=issue.id,
                number=issue.number,
                author=call.user.id,
                body=asked.body,
                created_at=now,
                updated_at=now,
            )
        )
        count = issue.comments + 1
        call.store.issues.change(issue, comments=count, updated_at=now)
        call.tell("created", comment)
    return made(call.renderer.comment(call.repo, comment))


async def change_comment(call: Call) -> Answer:
    """`PATCH issues/comments/{id}`: one's own, or by those who may write."""
    comment, asked = comment_of(call), call.body(CommentText)
    if comment.author != call.user.id:
        call.need("write")
    was = {"body": {"from": comment.body}}
    if asked.body != comment.body:
        now, comments = call.service.forge.now(), call.store.comments
        with call.store.change():
            comment = comments.change(comment, body=asked.body, updated_at=now)
            call.tell("edited", comment, changes=was)
    return Answer(call.renderer.comment(call.repo, comment))


async def create_reaction(call: Call) -> Answer:
    """React to a comment; 200 when that was done before."""
    subject = comment_of(call).id
    content = call.body(NewReaction).content
    for known in call.store.reactions.of(subject):
        if (known.user, known.content) == (call.user.id, content):
            return Answer(call.renderer.reaction(known))
    reaction = Reaction(
        subject=subject,
        user=call.user.id,
        content=content,
        created_at=call.service.forge.now(),
    )
    reaction = call.store.reactions.add(reaction)
    return Answer(call.renderer.reaction(reaction), 201)


class NewIssue(Body):
    title: str
    body: str | None = None
    labels: tuple[str, ...] = ()


class IssueChange(Body):
    """The body of `PATCH issues/{number}`; what is left out stays."""

    state: Literal["open", "closed"] | None = None
    state_reason: (
        Literal["completed", "not_planned", "duplicate", "reopened"] | None
    ) = None


async def create_issue(call: Call) -> Answer:
    """`POST issues`: labels only of those who may set them, as there."""
    asked = call.body(NewIssue)
    titled("Issue", asked.title)
    with call.store.change():
        repo, issue = new_issue(call, asked.title, asked.body)
        if call.service.forge.may(repo, call.user, "triage"):
            issue = relabel(call, issue, add=asked.labels)
        call.tell("opened", issue)
    return made(call.renderer.issue(repo, issue))


async def change_issue(call: Call) -> Answer:
    """`PATCH issues/{number}`: closes or reopens it; nobody edits it here."""
    issue, asked = issue_of(call), call.body(IssueChange)
    if issue.author != call.user.id:
        call.need("triage")
    if asked.state in {None, issue.state}:
        return Answer(call.renderer.issue(call.repo, issue))
    if issue.pull:
        raise Refused(422, "To close or reopen it, use `PATCH pulls/{number}`.")
    now, closing = call.service.forge.now(), asked.state == "closed"
    action = "closed" if closing else "reopened"
    with call.store.change():
        issue = call.store.issues.change(
            issue,
            state="closed" if closing else "open",
            state_reason=asked.state_reason or ("completed" if closing else "reopened"),
            closed_at=now if closing else None,
            closed_by=call.user.id if closing else None,
            updated_at=now,
        )
        call.service.forge.note(issue.id, call.user, action)
        call.tell(action, issue)
    return Answer(call.renderer.issue(call.repo, issue))


async def list_events(call: Call) -> Answer:
    """`GET issues/{number}/events`: oldest first."""
    return call.page(
        call.store.issue_events.of(issue_of(call).id),
        lambda one: call.renderer.issue_event(call.repo, one),
    )


async def list_issues(call: Call) -> Answer:
    """`GET issues`: newest first, pull requests among them; all labels count."""
    state, creator = call.asked("state", "open"), call.asked("creator").lower()
    wanted = {name for name in call.asked("labels").lower().split(",") if name}

    def fits(one: Issue) -> bool:
        labels = {label.name.lower() for label in call.renderer.labels(one)}
        return (
            state in {"all", one.state}
            and wanted <= labels
            and call.changed_since(one)
            and creator in {"", call.renderer.who(one.author).login.lower()}
        )

    fitting = filter(fits, call.store.issues.of(call.repo.id))
    chosen = call.in_order(fitting, lambda one: one, "desc")
    return call.page(chosen, lambda one: call.renderer.issue(call.repo, one))


_ISSUES = "/repos/{owner}/{repo}/issues"
_ONE = _ISSUES + r"/{number:\d+}"
_COMMENT = _ISSUES + r"/comments/{comment:\d+}"
ROUTES = (
    Route("GET", _ISSUES + "/comments", list_all_comments),  # before `issues/NUMBER`
    Route("GET", _ONE + "/comments", list_comments),
    Route("POST", _ONE + "/comments", create_comment),
    Route("GET", _COMMENT, shows(lambda c: c.renderer.comment(c.repo, comment_of(c)))),
    Route("PATCH", _COMMENT, change_comment),
    Route("POST", _COMMENT + "/reactions", create_reaction),
    Route("POST", _ISSUES, create_issue),
    Route("GET", _ISSUES, list_issues),
    Route("GET", _ONE, shows(lambda c: c.renderer.issue(c.repo, issue_of(c)))),
    Route("PATCH", _ONE, change_issue),
    Route("GET", _ONE + "/events", list_events),
    Route("POST", _ONE + "/labels", add_issue_labels, "triage"),
    Route("DELETE", _ONE + "/labels/{name:.+}", remove_issue_label, "triage"),
)
