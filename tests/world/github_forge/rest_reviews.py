"""REST: reviews of pull requests: drafts, submitted ones, dismissed ones.

Comments on lines are no part of this forge: a review that has some is refused.
https://docs.github.com/rest/pulls/reviews
"""

from typing import Any, Final, Literal

from msgspec.structs import replace

from brat.forge.resources.issue_resource import Pull, Review
from brat.forge.resources.wire import Refused, node_id, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, pull_of
from brat.forge.rest.rest_issues import note
from brat.forge.rest.rest_pulls import REVIEWS
from tests.world.github_forge.text_limits import BODY_CHARS

Verdict = Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
DRAFT: Final = "PENDING"
_STATES: Final = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}
_SAID: Final = {
    "APPROVE": "Can not approve your own pull request",
    "REQUEST_CHANGES": "Can not request changes on your own pull request",
}


def face_of(call: Call, one: Review, number: int) -> dict[str, Any]:
    """Return a review as GitHub shows it."""
    repo, renderer = call.repo, call.service.renderer
    author = renderer.who(one.user)
    association = renderer.association(repo, author)
    page = call.site.page(repo.full_name, "pull", number)
    page = f"{page}#pullrequestreview-{one.id}"
    api = f"{call.site.repo(repo.full_name)}/pulls/{number}"
    shape: dict[str, Any] = {
        "id": one.id,
        "node_id": node_id("PullRequestReview", one.id),
        "user": renderer.user(author),
        "author_association": association,
        "body": one.body,
        "state": one.state,
        "html_url": page,
        "pull_request_url": api,
        "_links": {"html": {"href": page}, "pull_request": {"href": api}},
        "commit_id": one.commit,
    }
    if one.submitted_at is not None:
        shape["submitted_at"] = one.submitted_at
    return shape


class NewReview(Body):
    """The body of `POST reviews`; without an event it is a draft."""

    event: Verdict | None = None
    body: str = ""
    commit_id: str | None = None
    comments: tuple[dict[str, Any], ...] = ()


class ReviewText(Body):
    """The body of `PUT reviews/{id}`."""

    body: str


class Submission(Body):
    """The body of `POST reviews/{id}/events`."""

    event: Verdict
    body: str | None = None


class Dismissal(Body):
    """The body of `PUT reviews/{id}/dismissals`."""

    message: str
    event: Literal["DISMISS"] = "DISMISS"


def _seen(call: Call, pull: Pull) -> list[Review]:
    """Return the reviews that the caller sees: drafts are their author's alone."""
    known = call.store.reviews.of(pull.id)
    return [one for one in known if one.state != DRAFT or one.user == call.user.id]


def _review(call: Call, pull: Pull) -> Review:
    number = call.number("review")
    return found(next((one for one in _seen(call, pull) if one.id == number), None))


def _shown(call: Call, pull: Pull, review: Review) -> Answer:
    return Answer(face_of(call, review, pull.number))


async def list_reviews(call: Call) -> Answer:
    """`GET reviews`: oldest first."""
    pull = pull_of(call)
    return call.page(_seen(call, pull), lambda one: face_of(call, one, pull.number))


async def get_review(call: Call) -> Answer:
    """`GET reviews/{id}`."""
    pull = pull_of(call)
    return _shown(call, pull, _review(call, pull))


async def create_review(call: Call) -> Answer:
    """`POST reviews`: of the head, unless a commit is named."""
    pull, asked = pull_of(call), call.body(NewReview)
    _short(asked.body)
    if asked.comments:
        raise Refused(422, "This forge has no comments on lines of a pull request.")
    commit = asked.commit_id or pull.head_sha
    if not call.bare.reaches(pull.head_sha, commit):
        raise Refused(422, "The commit_id is not part of the pull request.")
    if any(one.state == DRAFT for one in _seen(call, pull)):
        raise Refused(422, "User can only have one pending review per pull request")
    if asked.event is not None:
        _allowed(call, pull, asked.event, asked.body)
    with call.store.change():
        review = call.store.reviews.put(
            Review(
                id=call.store.next_id(),
                pull=pull.id,
                user=call.user.id,
                body=asked.body,
                state=DRAFT,
                commit=commit,
            )
        )
        if asked.event is not None:
            review = _submitted(call, pull, review, asked.event)
    return _shown(call, pull, review)


def _short(body: str) -> None:
    """Check how long a review is; here GitHub describes errors as sentences.

    Raises:
        Refused: 422: it is too long.
    """
    if len(body) > BODY_CHARS:
        said = f"Body is too long (maximum is {BODY_CHARS} characters)"
        raise Refused(422, said)


def _allowed(call: Call, pull: Pull, event: Verdict, body: str) -> None:
    """Check that the caller may say this of a pull request.

    Raises:
        Refused: 422: it is their own, or says nothing.
    """
    if event != "APPROVE" and not body.strip():
        raise Refused(422, "A review that is no approval needs a body.")
    own = call.service.forge.issue_of(pull).author == call.user.id
    if own and event in _SAID:
        raise Refused(422, _SAID[event])


def _submitted(call: Call, pull: Pull, review: Review, event: Verdict) -> Review:
    """Show a draft to everybody; only inside `Store.change`."""
    now = call.service.forge.now()
    review = call.store.reviews.put(
        replace(review, state=_STATES[event], submitted_at=now)
    )
    _tell(call, "submitted", pull, review)
    return review


def _tell(
    call: Call,
    action: str,
    pull: Pull,
    review: Review,
    **more: Any,  # noqa: ANN401  JSON
) -> None:
    """Announce a review that was submitted, edited or dismissed."""
    events, renderer = call.service.events, call.service.renderer
    face = face_of(call, review, pull.number)
    body = {
        "pull_request": renderer.pull(call.repo, pull),
        "review": face | {"state": review.state.lower()},
    }
    kind = ("pull_request_review", action)
    events.send(call.repo, call.user, kind, body | more)


def _draft(call: Call, pull: Pull, deed: str) -> Review:
    """Return the caller's draft that the path names.

    Raises:
        Refused: 404: there is none; 422: it was submitted.
    """
    review = _review(call, pull)
    if review.state != DRAFT:
        raise Refused(422, f"Can not {deed} a non-pending pull request review")
    return review


async def submit_review(call: Call) -> Answer:
    """`POST reviews/{id}/events`: a draft becomes a review."""
    pull, asked = pull_of(call), call.body(Submission)
    review = _draft(call, pull, "submit")
    body = review.body if asked.body is None else asked.body
    _short(body)
    _allowed(call, pull, asked.event, body)
    with call.store.change():
        review = _submitted(call, pull, replace(review, body=body), asked.event)
    return _shown(call, pull, review)


async def delete_review(call: Call) -> Answer:
    """`DELETE reviews/{id}`: a draft."""
    pull = pull_of(call)
    review = _draft(call, pull, "delete")
    with call.store.change():
        call.store.reviews.remove(review)
    return _shown(call, pull, review)


async def change_review(call: Call) -> Answer:
    """`PUT reviews/{id}`: one's own text."""
    pull, asked = pull_of(call), call.body(ReviewText)
    review = _review(call, pull)
    if review.user != call.user.id:
        raise not_found()
    _short(asked.body)
    was = {"body": {"from": review.body}}
    with call.store.change():
        review = call.store.reviews.put(replace(review, body=asked.body))
        if review.state != DRAFT:
            _tell(call, "edited", pull, review, changes=was)
    return _shown(call, pull, review)


async def dismiss_review(call: Call) -> Answer:
    """`PUT reviews/{id}/dismissals`: it counts no more."""
    pull, asked = pull_of(call), call.body(Dismissal)
    review = _review(call, pull)
    if review.state not in {"APPROVED", "CHANGES_REQUESTED"}:
        word = review.state.lower()
        raise Refused(422, f"Can not dismiss a {word} pull request review")
    if not asked.message.strip():
        raise Refused(422, "A dismissal needs a message.")
    with call.store.change():
        review = call.store.reviews.put(replace(review, state="DISMISSED"))
        note(call, call.service.forge.issue_of(pull), "review_dismissed")
        _tell(call, "dismissed", pull, review)
    return _shown(call, pull, review)


_ONE = REVIEWS + r"/{review:\d+}"
ROUTES = (
    Route("GET", REVIEWS, list_reviews),
    Route("POST", REVIEWS, create_review),
    Route("GET", _ONE, get_review),
    Route("PUT", _ONE, change_review),
    Route("DELETE", _ONE, delete_review),
    Route("POST", _ONE + "/events", submit_review),
    Route("PUT", _ONE + "/dismissals", dismiss_review, "write"),
)
