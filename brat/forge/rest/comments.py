"""REST: comments on issues and pull requests, and reactions.

https://docs.github.com/en/rest/issues/comments
"""

from typing import Literal

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Comment, Issue, Reaction
from brat.forge.rest.lookup import issue_of, need_conversation
from brat.forge.rest.rest_call import Answer, Body, Call, Route, checked, found
from brat.forge.wire import fault, not_found, parse


class CommentText(Body):
    """The body of `POST` and `PATCH` of a comment."""

    body: str


class NewReaction(Body):
    """The body of `POST reactions`."""

    content: Literal[
        "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"
    ]


def _comment(call: Call) -> Comment:
    comment = found(call.store.comments.get(call.number("comment")))
    if comment.repo != call.repo.id:
        raise not_found()
    return comment


def _since(call: Call, comments: list[Comment]) -> Answer:
    """Return the comments that were written or edited since the time in the query."""
    since = call.asked("since")
    if since:
        try:
            after = parse(since)
        except ValueError:
            raise fault("IssueComment", "since", "invalid") from None
        comments = [one for one in comments if parse(one.updated_at) >= after]
    renderer = call.service.renderer
    return call.page(comments, lambda one: renderer.comment(call.repo, one))


async def list_comments(call: Call) -> Answer:
    """`GET issues/{number}/comments`: oldest first."""
    return _since(call, call.store.comments.of(issue_of(call).id))


async def list_all_comments(call: Call) -> Answer:
    """`GET issues/comments`: those of the whole repository."""
    key = "updated_at" if call.asked("sort") == "updated" else "created_at"
    comments = [
        comment
        for issue in call.store.issues.of(call.repo.id)
        for comment in call.store.comments.of(issue.id)
    ]
    comments.sort(
        key=lambda one: (getattr(one, key), one.id),
        reverse=call.asked("direction", "asc") == "desc",
    )
    return _since(call, comments)


async def create_comment(call: Call) -> Answer:
    """`POST issues/{number}/comments`."""
    issue, asked = issue_of(call), call.body(CommentText)
    need_conversation(call, issue, "create comment")
    checked("IssueComment", None, asked.body)
    if not asked.body.strip():
        raise fault("IssueComment", "body", "missing_field")
    now = call.service.forge.now()
    with call.store.change():
        comment = call.store.comments.put(
            Comment(
                id=call.store.next_id(),
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
        issue = call.store.issues.put(replace(issue, comments=count, updated_at=now))
        call.service.events.comment(call.repo, call.user, "created", (issue, comment))
    face = call.service.renderer.comment(call.repo, comment)
    return Answer(face, 201, {"Location": face["url"]})


async def get_comment(call: Call) -> Answer:
    """`GET issues/comments/{id}`."""
    return Answer(call.service.renderer.comment(call.repo, _comment(call)))


async def change_comment(call: Call) -> Answer:
    """`PATCH issues/comments/{id}`: one's own, or by those who may write."""
    comment, asked = _comment(call), call.body(CommentText)
    checked("IssueComment", None, asked.body)
    if comment.author != call.user.id:
        call.need("write")
    was = {"body": {"from": comment.body}}
    issue = found(call.store.issues.get(comment.issue))
    need_conversation(call, issue, "update comment")
    if asked.body != comment.body:
        now = call.service.forge.now()
        with call.store.change():
            comment = call.store.comments.put(
                replace(comment, body=asked.body, updated_at=now)
            )
            call.service.events.comment(
                call.repo, call.user, "edited", (issue, comment), changes=was
            )
    return Answer(call.service.renderer.comment(call.repo, comment))


async def delete_comment(call: Call) -> Answer:
    """`DELETE issues/comments/{id}`: one's own, or by those who may write."""
    comment = _comment(call)
    if comment.author != call.user.id:
        call.need("write")
    issue = found(call.store.issues.get(comment.issue))
    with call.store.change():
        issue = call.store.issues.put(replace(issue, comments=issue.comments - 1))
        call.service.events.comment(call.repo, call.user, "deleted", (issue, comment))
        for reaction in call.store.reactions.of(comment.id):
            call.store.reactions.remove(reaction)
        call.store.comments.remove(comment)
    return Answer(status=204)


# --- reactions ----------------------------------------------------------------------


def _subject(call: Call) -> Issue | Comment:
    if "comment" in call.request.match_info:
        return _comment(call)
    return issue_of(call)


def _issue(call: Call, subject: Issue | Comment) -> Issue:
    if isinstance(subject, Issue):
        return subject
    return found(call.store.issues.get(subject.issue))


async def list_reactions(call: Call) -> Answer:
    """`GET .../reactions`."""
    content = call.asked("content")
    known = call.store.reactions.of(_subject(call).id)
    given = [one for one in known if content in {"", one.content}]
    return call.page(given, call.service.renderer.reaction)


async def create_reaction(call: Call) -> Answer:
    """`POST .../reactions`: 200 when it was given before."""
    subject, content = _subject(call), call.body(NewReaction).content
    for known in call.store.reactions.of(subject.id):
        if (known.user, known.content) == (call.user.id, content):
            return Answer(call.service.renderer.reaction(known))
    need_conversation(call, _issue(call, subject), "create reaction")
    with call.store.change():
        reaction = call.store.reactions.put(
            Reaction(
                id=call.store.next_id(),
                subject=subject.id,
                user=call.user.id,
                content=content,
                created_at=call.service.forge.now(),
            )
        )
    return Answer(call.service.renderer.reaction(reaction), 201)


async def delete_reaction(call: Call) -> Answer:
    """`DELETE .../reactions/{id}`: one's own."""
    reaction = found(call.store.reactions.get(call.number("reaction")))
    if reaction.subject != _subject(call).id:
        raise not_found()
    if reaction.user != call.user.id:
        call.need("admin")
    with call.store.change():
        call.store.reactions.remove(reaction)
    return Answer(status=204)


_ISSUES = "/repos/{owner}/{repo}/issues"
_ONE = _ISSUES + r"/{number:\d+}"
_COMMENT = _ISSUES + r"/comments/{comment:\d+}"
ROUTES = (
    Route("GET", _ISSUES + "/comments", list_all_comments),
    Route("GET", _ONE + "/comments", list_comments),
    Route("POST", _ONE + "/comments", create_comment),
    Route("GET", _COMMENT, get_comment),
    Route("PATCH", _COMMENT, change_comment),
    Route("DELETE", _COMMENT, delete_comment),
    *(
        route
        for path in (_ONE, _COMMENT)
        for route in (
            Route("GET", path + "/reactions", list_reactions),
            Route("POST", path + "/reactions", create_reaction),
            Route("DELETE", path + r"/reactions/{reaction:\d+}", delete_reaction),
        )
    ),
)
