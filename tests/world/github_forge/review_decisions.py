"""What the reviews of a pull request come to, where its base asks for reviews.

https://docs.github.com/graphql/reference/enums#pullrequestreviewdecision
"""

from brat.forge.resources.account_resource import Repository
from brat.forge.resources.issue_resource import Pull
from brat.forge.storage.forge_state import Forge
from tests.world.github_forge.rules import rule_types as rules
from tests.world.github_forge.rules.rule_bindings import binding, mover


def review_decision(forge: Forge, repo: Repository, pull: Pull) -> str | None:
    """Return GitHub's word; None: no review is asked for."""
    author = forge.store.users.get(forge.issue_of(pull).author)
    assert author is not None
    who = mover(forge, repo, author)
    asked = [
        rule.parameters
        for one in binding(forge, repo, f"refs/heads/{pull.base}", who)
        for rule in one.rules
        if isinstance(rule, rules.PullRequest)
    ]
    needed = max((each.required_approving_review_count for each in asked), default=0)
    if not needed:
        return None
    newest = {
        review.user: review
        for review in forge.store.reviews.of(pull.id)
        if review.state not in {"COMMENTED", "PENDING"}
        and _counts(forge, repo, review.user)
    }
    states = {user: review.state for user, review in newest.items()}
    if "CHANGES_REQUESTED" in states.values():
        return "CHANGES_REQUESTED"
    fresh_only = any(each.dismiss_stale_reviews_on_push for each in asked)
    approving = [
        review
        for user, review in newest.items()
        if review.state == "APPROVED"
        and user != author.id
        and (not fresh_only or review.commit == pull.head_sha)
    ]
    return "APPROVED" if len(approving) >= needed else "REVIEW_REQUIRED"


def _counts(forge: Forge, repo: Repository, number: int) -> bool:
    who = forge.store.users.get(number)
    return who is not None and forge.may(repo, who, "write")
