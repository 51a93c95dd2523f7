"""REST: `PATCH pulls/{number}`: title, body and base, closed or open again.

https://docs.github.com/rest/pulls/pulls#update-a-pull-request
"""

from typing import Any, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused, fault
from brat.forge.rest.rest_call import Answer, Body, Call, Route, pull_of, titled
from brat.forge.rest.rest_issues import note, written_before


class PullChange(Body):
    """The body of `PATCH pulls/{number}`; what is left out stays."""

    title: str | UnsetType = UNSET
    body: str | UnsetType | None = UNSET
    state: Literal["open", "closed"] | UnsetType = UNSET
    base: str | UnsetType = UNSET
    maintainer_can_modify: bool = False
    """Only forks ask for it, and there are none."""


async def change_pull(call: Call) -> Answer:
    """`PATCH pulls/{number}`."""
    asked = call.body(PullChange)
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        issue = call.service.forge.issue_of(pull)
        if issue.author != call.user.id:
            call.need("write")
        base = _new_base(call, pull, asked)
        with call.store.change():
            was = _rewrite(call, pull, asked)
            if base is not None:
                was["base"] = {
                    "ref": {"from": pull.base},
                    "sha": {"from": pull.base_sha},
                }
                pull = call.store.pulls.put(base)
                note(call, issue, "base_ref_changed")
            if was:
                events = call.service.events
                events.pull(call.repo, call.user, "edited", pull, changes=was)
            if asked.state == "closed" and issue.state == "open":
                call.service.pushes.close(call.repo, call.user, pull)
            elif asked.state == "open" and issue.state == "closed":
                pull = _reopen(call, pull)
    return Answer(call.service.renderer.full_pull(call.repo, pull))


def _rewrite(call: Call, pull: Pull, asked: PullChange) -> dict[str, Any]:
    """Change title and body, and return what they were where they changed."""
    issue = call.service.forge.issue_of(pull)
    title = issue.title if isinstance(asked.title, UnsetType) else asked.title
    body = issue.body if isinstance(asked.body, UnsetType) else asked.body
    titled("PullRequest", title)
    was = written_before(issue, title, body)
    if was or not isinstance(asked.base, UnsetType):
        now = call.service.forge.now()
        call.store.issues.put(replace(issue, title=title, body=body, updated_at=now))
    return was


def _new_base(call: Call, pull: Pull, asked: PullChange) -> Pull | None:
    """Return the pull request with the base that is asked for; None: it stays.

    Raises:
        Refused: 422: it cannot have that base.
    """
    if isinstance(asked.base, UnsetType) or asked.base == pull.base:
        return None
    base, tip = asked.base, call.bare.tip(asked.base)
    if call.service.forge.issue_of(pull).state == "closed":
        raise _cannot("Cannot change the base branch of a closed pull request.")
    if tip is None:
        raise _cannot(f"Proposed base branch '{base}' was not found")
    if call.bare.reaches(tip, pull.head_sha):
        sides = f"base branch '{base}' and head branch '{pull.head}'"
        raise _cannot(f"There are no new commits between {sides}")
    if call.bare.fork_point(tip, pull.head_sha) is None:
        said = f"The {pull.head} branch has no history in common with {base}"
        raise _cannot(said)
    for one in call.store.pulls.of(call.repo.id):
        same = (one.head, one.base) == (pull.head, base)
        if same and call.service.forge.issue_of(one).state == "open":
            sides = f"base branch '{base}' and head branch '{pull.head}'"
            raise _cannot(f"A pull request already exists for {sides}")
    return replace(pull, base=base, base_sha=tip)


def _cannot(message: str) -> Refused:
    return fault("PullRequest", "base", "invalid", message)


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


ROUTES = (Route("PATCH", r"/repos/{owner}/{repo}/pulls/{number:\d+}", change_pull),)
