"""REST: pull requests inside a repository.

https://docs.github.com/en/rest/pulls/pulls
"""

from brat.forge.resources.forge_records import Pull
from brat.forge.resources.wire import Refused, fault
from brat.forge.rest.rest_call import (
    Answer,
    Body,
    Call,
    Route,
    empty,
    made,
    new_issue,
    pull_of,
    shows,
    titled,
)


class NewPull(Body):
    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False


def _custom(message: str) -> Refused:
    return fault("PullRequest", "base", "custom", message)


def _sides(call: Call, asked: NewPull) -> tuple[str, str, str]:
    """Return the head's branch and both tips, if a pull request can be opened.

    The head is `branch` or `owner:branch`; the forge has no forks.
    """
    owner, colon, head = asked.head.rpartition(":")
    if colon and owner.lower() != call.repo.owner.lower():
        raise fault("PullRequest", "head", "invalid")
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
    asked = call.body(NewPull)
    titled("PullRequest", asked.title)
    head, tip, base = _sides(call, asked)
    with call.store.change():
        repo, issue = new_issue(call, asked.title, asked.body, pull=True)
        pull = call.store.pulls.put(
            Pull(
                id=issue.id,
                repo=repo.id,
                number=issue.number,
                head=head,
                base=asked.base,
                head_sha=tip,
                base_sha=base,
                draft=asked.draft,
            )
        )
        call.tell("opened", pull)
    return made(call.renderer.full_pull(repo, pull))


async def list_pulls(call: Call) -> Answer:
    """`GET pulls`: newest first."""
    state, head = call.asked("state", "open"), call.asked("head")
    base, issue_of = call.asked("base"), call.service.forge.issue_of

    def fits(one: Pull) -> bool:
        return (
            state in {"all", issue_of(one).state}
            and head in {"", f"{call.repo.owner}:{one.head}"}
            and base in {"", one.base}
        )

    fitting = filter(fits, call.store.pulls.of(call.repo.id))
    chosen = call.in_order(fitting, issue_of, "desc")
    return call.page(chosen, lambda one: call.renderer.pull(call.repo, one))


_PULLS = "/repos/{owner}/{repo}/pulls"
_PULL = _PULLS + r"/{number:\d+}"
REVIEWS = _PULL + "/reviews"
ROUTES = (
    Route("GET", _PULLS, list_pulls),
    Route("POST", _PULLS, create_pull, "write"),
    Route("GET", _PULL, shows(lambda c: c.renderer.full_pull(c.repo, pull_of(c)))),
    Route("GET", REVIEWS, empty),
)
