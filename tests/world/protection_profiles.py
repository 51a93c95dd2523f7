"""The ways in which people protect a branch, and how a convoy lands on each."""

from dataclasses import dataclass
from typing import Final

from brat.forge import Forge
from tests.world.forge import Json
from tests.world.forge_rules import (
    checks,
    merge_queue,
    protection,
    pull_request,
    put_protection,
    put_ruleset,
)

BY_PUSH: Final = "It lands by a push that moves main to the commit CI judged."
BY_A_PERSON: Final = "The rules of main let only a person merge its pull request."
OWNERS_ROLE: Final = 5
"""GitHub's number of the role `admin`."""


@dataclass(frozen=True, kw_only=True)
class ProtectionProfile:
    """How main is protected, and what that means for a convoy."""

    name: str
    rules: tuple[Json, ...] = ()
    """Of a ruleset that nobody may bypass."""
    own: Json = None
    """The branch's own protection."""
    way: str
    """What the convoy's comment and `brat doctor --github` say."""
    landed_by: str = "helper[bot]"
    """Who the forge says has merged the convoy's pull request."""
    parents: int
    """How many the commit has that lands."""
    waits_for: str = ""
    """What is said while a person has to do something; empty: nobody has to."""
    answer: tuple[str, str, Json] | None = None
    """What that person sends: method, path below the pull request, body."""

    @property
    def moves(self) -> bool:
        """Whether what lands must stand on the newest main."""
        return self.name in {"strict", "linear history", "merge queue"}

    def put(self, forge: Forge, repository: str) -> None:
        """Protect a repository's main in a forge that is not served."""
        if self.rules:
            put_ruleset(forge, *self.rules, repo=repository, **self._bypass())
        if self.own is not None:
            put_protection(forge, repo=repository, **self.own)

    def _bypass(self) -> dict[str, Json]:
        """Return the owner's right to merge what nobody else may."""
        if self.answer is None or self.answer[0] != "PUT":
            return {}
        actor = {
            "actor_type": "RepositoryRole",
            "actor_id": OWNERS_ROLE,
            "bypass_mode": "pull_request",
        }
        return {"bypass_actors": [actor]}


def _merged(method: str) -> str:
    return f"It lands by the forge's {method} of its pull request, after the check ci."


PULL_REQUEST: Final = pull_request()
REFUSALS: Final = ({"type": "non_fast_forward"}, {"type": "deletion"})
PROFILES: Final = (
    ProtectionProfile(name="unprotected", way=BY_PUSH, parents=1),
    ProtectionProfile(
        name="checks",
        rules=(PULL_REQUEST, checks("ci")),
        way=_merged("merge"),
        parents=2,
    ),
    ProtectionProfile(
        name="own protection",
        own=protection(
            "ci", required_pull_request_reviews={"required_approving_review_count": 0}
        ),
        way=_merged("merge"),
        parents=2,
    ),
    ProtectionProfile(
        name="strict",
        rules=(PULL_REQUEST, checks("ci", strict=True)),
        way=_merged("merge"),
        parents=2,
    ),
    ProtectionProfile(
        name="linear history",
        rules=(PULL_REQUEST, checks("ci"), {"type": "required_linear_history"}),
        way=_merged("squash"),
        parents=1,
    ),
    ProtectionProfile(
        name="merge queue",
        rules=(PULL_REQUEST, checks("ci"), merge_queue()),
        way="It lands through the forge's merge queue of main, after the check ci.",
        landed_by="github-merge-queue[bot]",
        parents=2,
    ),
    ProtectionProfile(
        name="signed commits",
        rules=(PULL_REQUEST, checks("ci"), {"type": "required_signatures"}),
        way=_merged("squash"),
        parents=1,
    ),
    ProtectionProfile(
        name="reviews",
        rules=(pull_request(1), checks("ci")),
        way=(
            "It lands by the forge's merge of its pull request, "
            "after 1 approving review, the check ci."
        ),
        parents=2,
        waits_for="1 approving review, the check ci",
        answer=("POST", "reviews", {"event": "APPROVE"}),
    ),
    ProtectionProfile(
        name="nobody may push",
        rules=(PULL_REQUEST, {"type": "update"}, *REFUSALS),
        way=BY_A_PERSON,
        landed_by="you",
        parents=2,
        waits_for="a person to merge pull request",
        answer=("PUT", "merge", {}),
    ),
)
