"""What the rules of a branch say of a pull request that is to be queued for it."""

from typing import Final

from brat.forge.resources.account_resource import MergeMethod, Repository, User
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused
from brat.forge.service.running_forge import Service
from tests.world.github_forge.rules.push_judge import opinion_of
from tests.world.github_forge.rules.rule_bindings import mover, without_queue
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement

METHODS: Final[dict[str, MergeMethod]] = {
    "MERGE": "merge",
    "SQUASH": "squash",
    "REBASE": "rebase",
}
"""The methods by the words that a merge queue has for them."""


def check_queued(service: Service, repo: Repository, user: User, pull: Pull) -> None:
    """Check that a merge queue may take a pull request, or keep it.

    Its base need not be in it: the queue brings that in.

    Raises:
        Refused: 422.
    """
    who = mover(service.forge, repo, user)
    held, queue = without_queue(RuleEnforcement(service).held(repo, who, pull))
    if queue is None:
        raise Refused(422, f"The branch {pull.base} has no merge queue")
    how = (METHODS[queue.merge_method], who)
    change = RuleEnforcement(service).merge_of(repo, pull, how, held)
    opinion = opinion_of(held, change.brought_up_to_date())
    every = (*opinion.of_protection, *opinion.of_rulesets)
    if every:
        raise Refused(422, " ".join(each.text for each in every))
