"""REST: pull requests inside one repository, and their reviews.

https://docs.github.com/en/rest/pulls/pulls
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.pull_resource import Pull, Review
from brat.forge.rest.label_changes import note
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.rest.rest_issues import written_before
from brat.forge.rest.text_limits import checked
from brat.forge.wire.http_refusals import Refused, fault

_STATES = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}


class NewPull(Struct):
    """The body of `POST pulls`."""

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False


class PullChange(Struct):
    """The body of `PATCH pulls/{number}`; what is left out stays."""

    title: str | UnsetType = UNSET
    body: str | UnsetType | None = UNSET
    state: Literal["open", "closed"] | UnsetType = UNSET


class NewReview(Struct):
    """The body of `POST pulls/{number}/reviews`."""

    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] = "COMMENT"
    body: str = ""
    commit_id: str | None = None


def pull_of(call: Call) -> Pull:
    """Return the pull request that the path names.

    Raises:
        Refused: 404.
    """
    number = call.number()
    same = [p for p in call.store.pulls.of(call.repo.id) if p.number == number]
    return found(same[0] if same else None)


def _branch(call: Call, head: str) -> str:
    """Read `branch` or `owner:branch`; the forge has no forks."""
    owner, colon, branch = head.rpartition(":")
    if colon and owner.lower() != call.repo.owner.lower():
        raise fault("PullRequest", "head", "invalid")
    return branch


def _custom(message: str) -> Refused:
    return fault("PullRequest", "base", "custom", message)


def _sides(call: Call, asked: NewPull) -> tuple[str, str, str]:
    """Return the head's branch and both tips, if a pull request can be opened."""
    head = _branch(call, asked.head)
    tip, base = call.bare.tip(head), call.bare.tip(asked.base)
    if tip is None:
        raise fault("PullRequest", "head", "invalid")
    if base is None:
        raise fault("PullRequest", "base", "invalid")
    if call.bare.fork_point(base, tip) is None:
        raise _custom(f"The {head} branch has no history in common with {asked.base}")
    if call.bare.reaches(base, tip):
        raise _custom(f"No commits between {asked.base} and {head}")
    for one in call.store.pulls.of(call.repo.id):
        same = (one.head, one.base) == (head, asked.base)
        if same and call.service.forge.issue_of(one).state == "open":
            label = f"{call.repo.owner}:{head}"
            raise _custom(f"A pull request already exists for {label}.")
    return head, tip, base


async def create_pull(call: Call) -> Answer:
    """`POST pulls`."""
    asked = call.body(NewPull)
    checked("PullRequest", asked.title, asked.body)
    head, tip, base = _sides(call, asked)
    now = call.service.forge.now()
    with call.store.change():
        repo = call.service.forge.numbered(call.repo)
        number = repo.last_number
        issue = call.store.issues.put(
            Issue(
                id=call.store.next_id(),
                repo=repo.id,
                number=number,
                title=asked.title,
                body=asked.body,
                author=call.user.id,
                created_at=now,
                updated_at=now,
                pull=True,
            )
        )
        pull = call.store.pulls.put(
            Pull(
                id=issue.id,
                repo=repo.id,
                number=number,
                head=head,
                base=asked.base,
                head_sha=tip,
                base_sha=base,
                draft=asked.draft,
            )
        )
        call.service.events.pull(repo, call.user, "opened", pull)
    face = call.service.renderer.full_pull(repo, pull)
    return Answer(face, 201, {"Location": face["url"]})


async def list_pulls(call: Call) -> Answer:
    """`GET pulls`: newest first."""
    renderer = call.service.renderer
    state, head, base = (
        call.asked("state", "open"),
        call.asked("head"),
        call.asked("base"),
    )

    def fits(one: Pull) -> bool:
        return (
            state in {"all", call.service.forge.issue_of(one).state}
            and head in {"", f"{call.repo.owner}:{one.head}"}
            and base in {"", one.base}
        )

    chosen = [one for one in call.store.pulls.of(call.repo.id) if fits(one)]
    if call.asked("direction", "desc") == "desc":
        chosen.reverse()
    return call.page(chosen, lambda one: renderer.pull(call.repo, one))


async def get_pull(call: Call) -> Answer:
    """`GET pulls/{number}`."""
    return Answer(call.service.renderer.full_pull(call.repo, pull_of(call)))


async def change_pull(call: Call) -> Answer:
    """`PATCH pulls/{number}`: title, body, closed or open again."""
    pull, asked = pull_of(call), call.body(PullChange)
    issue = call.service.forge.issue_of(pull)
    if issue.author != call.user.id:
        call.need("write")
    title = issue.title if isinstance(asked.title, UnsetType) else asked.title
    body = issue.body if isinstance(asked.body, UnsetType) else asked.body
    checked("PullRequest", title, body)
    was = written_before(issue, title, body)
    with call.store.change():
        if was:
            now = call.service.forge.now()
            call.store.issues.put(
                replace(issue, title=title, body=body, updated_at=now)
            )
            call.service.events.pull(call.repo, call.user, "edited", pull, changes=was)
        if asked.state == "closed" and issue.state == "open":
            call.service.pushes.close(call.repo, call.user, pull)
        elif asked.state == "open" and issue.state == "closed":
            pull = _reopen(call, pull)
    return Answer(call.service.renderer.full_pull(call.repo, pull))


def _reopen(call: Call, pull: Pull) -> Pull:
    tip, base = call.bare.tip(pull.head), call.bare.tip(pull.base)
    if pull.merged_at is not None or tip is None or base is None:
        said = "A merged pull request, or one whose branch is gone, stays closed."
        raise fault("PullRequest", "state", "invalid", said)
    issue = call.service.forge.issue_of(pull)
    pull = call.store.pulls.put(replace(pull, head_sha=tip, base_sha=base))
    now = call.service.forge.now()
    call.store.issues.put(
        replace(issue, state="open", closed_at=None, closed_by=None, updated_at=now)
    )
    note(call, issue, "reopened")
    call.service.events.pull(call.repo, call.user, "reopened", pull)
    return pull


async def list_reviews(call: Call) -> Answer:
    """`GET pulls/{number}/reviews`: oldest first."""
    pull, renderer = pull_of(call), call.service.renderer
    return call.page(
        call.store.reviews.of(pull.id),
        lambda one: renderer.review(call.repo, one, pull.number),
    )


async def create_review(call: Call) -> Answer:
    """`POST pulls/{number}/reviews`: of the head, unless a commit is named."""
    pull, asked = pull_of(call), call.body(NewReview)
    checked("PullRequestReview", None, asked.body)
    if asked.event != "APPROVE" and not asked.body.strip():
        raise Refused(422, "A review that is no approval needs a body.")
    own = call.service.forge.issue_of(pull).author == call.user.id
    if own and asked.event != "COMMENT":
        said = "Can not approve or request changes on your own pull request"
        raise Refused(422, said)
    with call.store.change():
        review = call.store.reviews.put(
            Review(
                id=call.store.next_id(),
                pull=pull.id,
                user=call.user.id,
                body=asked.body,
                state=_STATES[asked.event],
                commit=asked.commit_id or pull.head_sha,
                submitted_at=call.service.forge.now(),
            )
        )
        call.service.events.review(call.repo, call.user, (pull, review))
    return Answer(call.service.renderer.review(call.repo, review, pull.number))


_PULLS = "/repos/{owner}/{repo}/pulls"
_ONE = _PULLS + r"/{number:\d+}"
ROUTES = (
    Route("GET", _PULLS, list_pulls),
    Route("POST", _PULLS, create_pull, "write"),
    Route("GET", _ONE, get_pull),
    Route("PATCH", _ONE, change_pull),
    Route("GET", _ONE + "/reviews", list_reviews),
    Route("POST", _ONE + "/reviews", create_review),
)
