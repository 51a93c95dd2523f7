"""Comments on lines of a pull request: in reviews, replies, and threads resolved.

https://docs.github.com/rest/pulls/comments
https://docs.github.com/graphql/reference/objects#pullrequestreviewthread
https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review_comment
"""

from typing import Any

from msgspec.structs import replace

from brat.forge.resources.forge_records import Owned, Pull
from brat.forge.resources.wire import Refused, fields, not_found
from brat.forge.rest.rest_call import Body, Call
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.shapes import Review


class LineComment(Owned, frozen=True, kw_only=True):
    """A comment on a line; the first of a thread holds whether it is resolved."""

    pull: int
    review: int
    user: int
    body: str
    path: str
    line: int
    hunk: str
    begins: int = 0
    """The first comment of its thread; 0: it is that."""
    is_resolved: bool = False


comments_of = per_store(lambda store: Table(store, LineComment, lambda o: o.pull))
"""The comments on lines, by their pull requests."""


class OnLine(Body):
    """One of the `comments` of a new review."""

    path: str
    body: str
    line: int


def add(call: Call, pull: Pull, review: Review, said: OnLine) -> LineComment:
    """Put a comment into a review; only inside `Store.change`.

    Raises `Refused`: 422: the line is no part of the change.
    """
    hunk = _hunk(call, pull, said)
    return comments_of(call.store).add(
        LineComment(
            repo=call.repo.id,
            pull=pull.id,
            review=review.id,
            user=call.user.id,
            body=said.body,
            path=said.path,
            line=said.line,
            hunk=hunk,
        )
    )


def _hunk(call: Call, pull: Pull, said: OnLine) -> str:
    """Return the lines of the change up to the one that is meant."""
    git = call.bare.git
    diff = git.diff(str(git.merge_base(pull.base_sha, pull.head_sha)), pull.head_sha)
    for patch in diff:
        if patch is None or patch.delta.new_file.path != said.path:
            continue
        for hunk in patch.hunks:
            lines = [hunk.header.strip()]
            for line in hunk.lines:
                lines.append(f"{line.origin}{line.content.rstrip()}")
                if line.new_lineno == said.line:
                    return "\n".join(lines)
    raise Refused(422, "pull_request_review_thread.line must be part of the diff")


def face_of(call: Call, one: LineComment) -> dict[str, Any]:
    user = call.renderer.user(call.renderer.who(one.user))
    return fields(one, "id body") | {"user": user}


def tell(call: Call, pull: Pull, one: LineComment) -> None:
    body = {
        "comment": face_of(call, one),
        "pull_request": call.renderer.pull(call.repo, pull),
    }
    kind = ("pull_request_review_comment", "created")
    call.service.events.send(call.repo, call.user, kind, body)


class Said(Body):
    body: str


def reply_to(call: Call, pull: Pull, review: Review, body: str) -> LineComment:
    """Answer the comment that the path names; only inside `Store.change`."""
    found = comments_of(call.store).get(call.number("comment"))
    if found is None or found.pull != pull.id or found.begins:
        raise not_found()
    one = replace(
        found,
        review=review.id,
        user=call.user.id,
        body=body,
        begins=found.id,
        is_resolved=False,
    )
    return comments_of(call.store).add(one)


def threads_of(store: Store, pull: Pull) -> list[list[LineComment]]:
    threads: dict[int, list[LineComment]] = {}
    for one in comments_of(store).of(pull.id):
        threads.setdefault(one.begins or one.id, []).append(one)
    return list(threads.values())
