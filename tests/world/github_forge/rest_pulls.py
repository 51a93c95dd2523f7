"""REST: pull requests are reviewed, changed and merged.

A comment on a line names its line in the new file; answers to it are reviews, too.

https://docs.github.com/rest/pulls/reviews
https://docs.github.com/rest/pulls/comments
https://docs.github.com/graphql/reference/enums#pullrequestreviewdecision
https://docs.github.com/rest/pulls/pulls#update-a-pull-request
https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
"""

from typing import Any, Final, Literal

import pygit2

from brat.forge.resources.forge_records import Pull, Repository, User
from brat.forge.resources.wire import Refused, fields
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, pull_of
from brat.forge.rest.rest_pulls import REVIEWS
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Move
from tests.world.github_forge import review_comments
from tests.world.github_forge.rest_issues import Text, rewritten
from tests.world.github_forge.review_comments import OnLine
from tests.world.github_forge.rules.rule_bindings import HEADS, binding, parameters
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement, verdicts
from tests.world.github_forge.shapes import (
    MergeMethod,
    Review,
    node_id,
    said_in,
    signature,
)

Verdict = Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
_STATES: Final = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}


def face_of(call: Call, one: Review) -> dict[str, Any]:
    return {
        **fields(one, "id body state submitted_at"),
        "node_id": node_id("PullRequestReview", one.id),
        "user": call.renderer.user(call.renderer.who(one.user)),
        "commit_id": one.commit,
    }


class NewReview(Body):
    event: Verdict
    body: str = ""
    comments: tuple[OnLine, ...] = ()


class Dismissal(Body):
    message: str
    event: Literal["DISMISS"] = "DISMISS"


async def list_reviews(call: Call) -> Answer:
    pull = pull_of(call)
    known = said_in(call.store).reviews.of(pull.id)
    return call.page(known, lambda one: face_of(call, one))


async def create_review(call: Call) -> Answer:
    pull, asked = pull_of(call), call.body(NewReview)
    with call.store.change():
        review = _submitted(call, pull, _STATES[asked.event], asked.body)
        for one in asked.comments:
            said = review_comments.add(call, pull, review, one)
            review_comments.tell(call, pull, said)
    return Answer(face_of(call, review))


def _submitted(call: Call, pull: Pull, state: str, body: str) -> Review:
    """Make a review; only inside `Store.change`."""
    review = Review(
        repo=call.repo.id,
        pull=pull.id,
        user=call.user.id,
        body=body,
        state=state,
        commit=pull.head_sha,
        submitted_at=call.service.forge.now(),
    )
    review = said_in(call.store).reviews.add(review)
    _tell(call, "submitted", pull, review)
    return review


def _tell(call: Call, action: str, pull: Pull, review: Review) -> None:
    """Announce a review that was submitted or dismissed."""
    events, renderer = call.service.events, call.renderer
    face = face_of(call, review)
    body = {
        "pull_request": renderer.pull(call.repo, pull),
        "review": face | {"state": review.state.lower()},
    }
    events.send(call.repo, call.user, ("pull_request_review", action), body)


async def dismiss_review(call: Call) -> Answer:
    pull = pull_of(call)
    call.body(Dismissal)
    reviews = said_in(call.store).reviews
    with call.store.change():
        review = found(reviews.get(call.number("review")))
        review = reviews.change(review, state="DISMISSED")
        call.service.forge.note(pull.id, call.user, "review_dismissed")
        _tell(call, "dismissed", pull, review)
    return Answer(face_of(call, review))


async def reply(call: Call) -> Answer:
    pull, asked = pull_of(call), call.body(review_comments.Said)
    with call.store.change():
        review = _submitted(call, pull, _STATES["COMMENT"], "")
        said = review_comments.reply_to(call, pull, review, asked.body)
        review_comments.tell(call, pull, said)
    return Answer(review_comments.face_of(call, said), status=201)


def review_decision(forge: Forge, repo: Repository, pull: Pull) -> str | None:
    """Return GitHub's word; None: no review is asked for."""
    author = forge.store.users.get(forge.issue_of(pull).author)
    assert author is not None
    held = binding(forge, repo, HEADS + pull.base, author)
    asked = parameters(held, "pull_request")
    needed = max((each["required_approving_review_count"] for each in asked), default=0)
    if not needed:
        return None
    states = verdicts(forge, repo, pull)
    if "CHANGES_REQUESTED" in states:
        return "CHANGES_REQUESTED"
    return "APPROVED" if states.count("APPROVED") >= needed else "REVIEW_REQUIRED"


class PullChange(Text):
    """The body of `PATCH pulls/{number}`; what is left out stays."""

    state: Literal["open", "closed"] | None = None
    base: str | None = None


async def change_pull(call: Call) -> Answer:
    asked, forge = call.body(PullChange), call.service.forge
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        issue = forge.issue_of(pull)
        if issue.author != call.user.id:
            call.need("write")
        with call.store.change():
            was = rewritten(call, "PullRequest", issue, asked)
            if asked.base not in {None, pull.base}:
                sides = {"ref": pull.base, "sha": pull.base_sha}
                was["base"] = {key: {"from": side} for key, side in sides.items()}
                call.store.issues.change(issue, updated_at=forge.now())
                tip = found(call.bare.tip(str(asked.base)))
                pull = call.store.pulls.change(pull, base=asked.base, base_sha=tip)
                forge.note(issue.id, call.user, "base_ref_changed")
            if was:
                call.tell("edited", pull, changes=was)
            if asked.state == "closed" and issue.state == "open":
                call.service.close_pull(call.repo, call.user, pull)
            elif asked.state == "open" and issue.state == "closed":
                pull = _reopen(call, pull)
    return Answer(call.renderer.full_pull(call.repo, pull))


def _reopen(call: Call, pull: Pull) -> Pull:
    tip, base = (found(call.bare.tip(each)) for each in (pull.head, pull.base))
    assert pull.merged_at is None
    issue = call.service.forge.issue_of(pull)
    pull = call.store.pulls.change(pull, head_sha=tip, base_sha=base)
    now = call.service.forge.now()
    call.store.issues.change(
        issue, state="open", closed_at=None, closed_by=None, updated_at=now
    )
    call.service.forge.note(issue.id, call.user, "reopened")
    call.tell("reopened", pull)
    return pull


class MergeAsked(Body):
    """How somebody wants a pull request to be merged."""

    sha: str | None = None
    merge_method: MergeMethod = "merge"
    commit_title: str = ""
    """Empty: the pull request's."""
    commit_message: str = ""


def build(
    forge: Forge, repo: Repository, pull: Pull, asked: MergeAsked, actor: User
) -> str:
    """Make the commits that merge a pull request, and return the last one.

    No ref is moved.

    Raises `Refused`: 405: it conflicts.
    """
    bare = forge.bare(repo)
    by = signature(actor)
    index = bare.git.merge_commits(pull.base_sha, pull.head_sha)
    if index.conflicts is not None:
        raise Refused(405, "Pull Request is not mergeable")
    tree = index.write_tree(bare.git)
    title = asked.commit_title or f"{forge.issue_of(pull).title} (#{pull.number})"
    text = f"{title}\n\n{asked.commit_message}".strip() + "\n"
    author, parents = by, [pull.base_sha, pull.head_sha]
    if asked.merge_method == "squash":
        author = bare.git[pull.head_sha].peel(pygit2.Commit).author
        parents = [pull.base_sha]
    return str(bare.git.create_commit(None, author, by, text, tree, parents))


async def merge(call: Call) -> Answer:
    """Merge a pull request; with `sha` only if that is still its head."""
    asked = call.body(MergeAsked)
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        _allowed(call, pull, asked)
        made = build(call.service.forge, call.repo, pull, asked, call.user)
        move = Move(f"refs/heads/{pull.base}", pull.base_sha, made)
        call.bare.move(move.ref, made)
        with call.store.change():
            call.service.merged(call.repo, call.user, pull, made)
            call.service.settle(call.repo, call.user, [move])
    return Answer({"sha": made, "merged": True})


def _allowed(call: Call, pull: Pull, asked: MergeAsked) -> None:
    issue = call.service.forge.issue_of(pull)
    if issue.state == "closed" or pull.draft:
        raise Refused(405, "Pull Request is not mergeable")
    if asked.sha is not None and asked.sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    enforcement = RuleEnforcement(call.service)
    enforcement.check_merge(call.repo, call.user, pull, asked.merge_method)


_PULL: Final = r"/repos/{owner}/{repo}/pulls/{number:\d+}"
ROUTES = (
    Route("PATCH", _PULL, change_pull),
    Route("PUT", _PULL + "/merge", merge, "write"),
    Route("GET", REVIEWS, list_reviews),
    Route("POST", REVIEWS, create_review),
    Route("PUT", REVIEWS + r"/{review:\d+}/dismissals", dismiss_review, "write"),
    Route("POST", _PULL + r"/comments/{comment:\d+}/replies", reply),
)
