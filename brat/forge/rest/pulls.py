"""REST: pull requests inside one repository.

https://docs.github.com/en/rest/pulls/pulls
"""

import asyncio
from typing import Final

from brat.forge.resources.account_resource import MergeMethod
from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.pull_resource import Pull
from brat.forge.rest.lookup import pull_of
from brat.forge.rest.request_gate import JSON
from brat.forge.rest.rest_call import Answer, Body, Call, Route, checked
from brat.forge.service.renderer import MergeOptions
from brat.forge.storage.forge_state import Caller
from brat.forge.storage.git_storage import Move
from brat.forge.wire import Refused, fault, not_found
from grite import git

FORMS: Final = ("diff", "patch")


async def change_text(call: Call, base: str | None, head: str) -> Answer:
    """Answer in the form that was asked for, one of FORMS.

    Args:
        call: who asks, and for which form.
        base: an ancestor of `head` that it is compared with; None: what `head` alone
            changed.
        head: the last commit.
    """
    if base is None:
        words = {
            "diff": ["show", "--first-parent", "--find-renames", "--format=", head],
            "patch": ["format-patch", "--stdout", "-1", head],
        }
    else:
        words = {
            "diff": ["diff", "--find-renames", base, head],
            "patch": ["format-patch", "--stdout", f"{base}..{head}"],
        }
    said = await asyncio.to_thread(git.run, words[call.form], cwd=call.bare.path)
    return Answer(said.stdout)


_SORTS: Final = {
    "created": "created_at",
    "updated": "updated_at",
    "popularity": "comments",
}


class NewPull(Body):
    """The body of `POST pulls`."""

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False
    head_repo: str | None = None
    maintainer_can_modify: bool = False
    """Only forks ask for it, and there are none."""


def _branch(call: Call, asked: NewPull) -> str:
    """Read `branch` or `owner:branch`; the forge has no forks."""
    owner, colon, branch = asked.head.rpartition(":")
    other = asked.head_repo not in {None, call.repo.name, call.repo.full_name}
    if other or (colon and owner.lower() != call.repo.owner.lower()):
        raise fault("PullRequest", "head", "invalid")
    return branch


def _custom(message: str) -> Refused:
    return fault("PullRequest", "base", "custom", message)


def _sides(call: Call, asked: NewPull) -> tuple[str, str, str]:
    """Return the head's branch and both tips, if a pull request can be opened."""
    head = _branch(call, asked)
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
    state = call.choice("state", ("open", "closed", "all"))
    head, base = call.asked("head"), call.asked("base")
    key = _SORTS[call.choice("sort", tuple(_SORTS))]

    def fits(one: Pull) -> bool:
        return (
            state in {"all", call.service.forge.issue_of(one).state}
            and head in {"", f"{call.repo.owner}:{one.head}"}
            and base in {"", one.base}
        )

    chosen = [one for one in call.store.pulls.of(call.repo.id) if fits(one)]
    first = "desc" if key == "created_at" else "asc"
    chosen.sort(
        key=lambda one: (getattr(call.service.forge.issue_of(one), key), one.number),
        reverse=call.falling(first),
    )
    return call.page(chosen, lambda one: renderer.pull(call.repo, one))


async def get_pull(call: Call) -> Answer:
    """`GET pulls/{number}`: also as a diff or as patches."""
    pull = pull_of(call)
    if call.form == JSON:
        return Answer(call.service.renderer.full_pull(call.repo, pull))
    fork = call.bare.fork_point(pull.base_sha, pull.head_sha)
    return await change_text(call, fork or pull.base_sha, pull.head_sha)


async def list_reviews(call: Call) -> Answer:
    """`GET pulls/{number}/reviews`: oldest first."""
    pull, renderer = pull_of(call), call.service.renderer
    reviews = call.store.reviews.of(pull.id)
    return call.page(reviews, lambda one: renderer.review(call.repo, one, pull.number))


_PULLS = "/repos/{owner}/{repo}/pulls"
_ONE = _PULLS + r"/{number:\d+}"
REVIEWS = _ONE + "/reviews"
ROUTES = (
    Route("GET", _PULLS, list_pulls),
    Route("POST", _PULLS, create_pull, "write"),
    Route("GET", _ONE, get_pull, forms=FORMS),
    Route("GET", REVIEWS, list_reviews),
)


class MergeAsked(Body):
    """The body of `PUT pulls/{number}/merge`."""

    sha: str | None = None
    merge_method: MergeMethod = "merge"
    commit_title: str | None = None
    commit_message: str | None = None


async def merge(call: Call) -> Answer:
    """Merge a pull request; with `sha` only if that is still its head."""
    asked = call.body(MergeAsked)
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        _allowed(call, pull, asked)
        options = MergeOptions(
            asked.merge_method, asked.commit_title, asked.commit_message
        )
        made = call.service.merges.build(call.repo, pull, options, call.user)
        move = Move(f"refs/heads/{pull.base}", pull.base_sha, made)
        call.bare.move(move.ref, made)
        with call.store.change():
            signed = asked.merge_method != "rebase"
            call.service.pushes.merged(call.repo, call.user, pull, made, signed=signed)
            call.service.pushes.settle(call.repo, call.user, [move])
    said = "Pull Request successfully merged"
    return Answer({"sha": made, "merged": True, "message": said})


def _allowed(call: Call, pull: Pull, asked: MergeAsked) -> None:
    issue = call.service.forge.issue_of(pull)
    if issue.state == "closed" or pull.draft:
        raise Refused(405, "Pull Request is not mergeable")
    if asked.sha is not None and asked.sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    caller = Caller(call.user, call.token)
    call.service.merges.check(call.repo, caller, pull, asked.merge_method)


async def is_merged(call: Call) -> Answer:
    """`GET pulls/{number}/merge`: 204 if it is, else 404."""
    if pull_of(call).merged_at is None:
        raise not_found()
    return Answer(status=204)


_MERGE = r"/repos/{owner}/{repo}/pulls/{number:\d+}/merge"
MERGE_ROUTES = (
    Route("GET", _MERGE, is_merged),
    Route("PUT", _MERGE, merge, "write"),
)
