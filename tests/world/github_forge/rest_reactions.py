"""REST: comments that are deleted, and reactions to issues and comments."""

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Comment, Issue
from brat.forge.resources.wire import not_found
from brat.forge.rest.rest_call import Answer, Call, Route, found, issue_of
from brat.forge.rest.rest_issues import comment_of, react


async def delete_comment(call: Call) -> Answer:
    """`DELETE issues/comments/{id}`: one's own, or by those who may write."""
    comment = comment_of(call)
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


def _subject(call: Call) -> Issue | Comment:
    if "comment" in call.request.match_info:
        return comment_of(call)
    return issue_of(call)


async def list_reactions(call: Call) -> Answer:
    """`GET .../reactions`."""
    content = call.asked("content")
    known = call.store.reactions.of(_subject(call).id)
    given = [one for one in known if content in {"", one.content}]
    return call.page(given, call.service.renderer.reaction)


async def create_reaction(call: Call) -> Answer:
    """`POST issues/{number}/reactions`."""
    return react(call, issue_of(call).id)


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
    Route("DELETE", _COMMENT, delete_comment),
    Route("POST", _ONE + "/reactions", create_reaction),
    *(
        route
        for path in (_ONE, _COMMENT)
        for route in (
            Route("GET", path + "/reactions", list_reactions),
            Route("DELETE", path + r"/reactions/{reaction:\d+}", delete_reaction),
        )
    ),
)
