"""REST: comments on issues and pull requests, and reactions.

https://docs.github.com/en/rest/issues/comments
"""

from typing import Literal

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Comment, Reaction
from brat.forge.resources.wire import fault, not_found, parse
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, issue_of


class CommentText(Body):
    """The body of `POST` and `PATCH` of a comment."""

    body: str


class NewReaction(Body):
    """The body of `POST reactions`."""

    content: Literal[
        "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"
    ]


def comment_of(call: Call) -> Comment:
    """Return the comment that the path names."""
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
    return Answer(call.service.renderer.comment(call.repo, comment_of(call)))


async def change_comment(call: Call) -> Answer:
    """`PATCH issues/comments/{id}`: one's own, or by those who may write."""
    comment, asked = comment_of(call), call.body(CommentText)
    if comment.author != call.user.id:
        call.need("write")
    was = {"body": {"from": comment.body}}
    issue = found(call.store.issues.get(comment.issue))
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


async def create_reaction(call: Call) -> Answer:
    """`POST issues/comments/{id}/reactions`."""
    return react(call, comment_of(call).id)


def react(call: Call, subject: int) -> Answer:
    """React to what has an id; 200 when that was done before."""
    content = call.body(NewReaction).content
    for known in call.store.reactions.of(subject):
        if (known.user, known.content) == (call.user.id, content):
            return Answer(call.service.renderer.reaction(known))
    with call.store.change():
        reaction = call.store.reactions.put(
            Reaction(
                id=call.store.next_id(),
                subject=subject,
                user=call.user.id,
                content=content,
                created_at=call.service.forge.now(),
            )
        )
    return Answer(call.service.renderer.reaction(reaction), 201)


_ISSUES = "/repos/{owner}/{repo}/issues"
_ONE = _ISSUES + r"/{number:\d+}"
_COMMENT = _ISSUES + r"/comments/{comment:\d+}"
ROUTES = (
    Route("GET", _ISSUES + "/comments", list_all_comments),
    Route("GET", _ONE + "/comments", list_comments),
    Route("POST", _ONE + "/comments", create_comment),
    Route("GET", _COMMENT, get_comment),
    Route("PATCH", _COMMENT, change_comment),
    Route("POST", _COMMENT + "/reactions", create_reaction),
)
