"""The ways in which people protect a branch, and how a convoy lands on each."""

from dataclasses import dataclass
from typing import Final

from brat.forge.storage.forge_state import Forge
from tests.world.forge import Json
from tests.world.forge_rules import (
    checks,
    merge_queue,
    pull_request,
    put_protection,
    put_ruleset,
)

BY_PUSH: Final = "A push moves main to the commit that CI tested."
BY_A_PERSON: Final = "The rules of main let only people merge the pull request."
_OWNERS: Final = {"actor_type": "RepositoryRole", "actor_id": 5}
"""GitHub's number of the role `admin`."""


def _merged(method: str) -> str:
    said = f"The forge merges the pull request with the {method} method"
    return f"{said}, after the check ci."


def _plain(kind: str) -> Json:
    return {"type": kind}


PULL_REQUEST: Final = pull_request()


@dataclass(frozen=True, kw_only=True)
class ProtectionProfile:
    """How main is protected, and what that means for a convoy."""

    name: str
    rules: tuple[Json, ...] = (PULL_REQUEST, checks("ci"))
    """Of a ruleset that nobody may bypass."""
    own: bool = False
    """Whether the branch has its own protection, which asks for the check ci."""
    way: str = _merged("merge")
    """What the convoy's comment says, and `brat doctor --github`, which does not know
    what is configured."""
    landed_by: str = "helper[bot]"
    """Who the forge says has merged the convoy's pull request."""
    parents: int = 2
    """How many the commit has that lands."""
    waits_for: str = ""
    """What is said while a person has to do something; empty: nobody has to."""
    answer: tuple[str, str, Json] | None = None
    """What that person sends: method, path below the pull request, body."""
    passes_by: bool = False
    """Whether the bot may pass the rules by, and is configured to."""

    @property
    def moves(self) -> bool:
        """Whether what lands must stand on the newest main."""
        return self.name in {"strict", "linear history", "merge queue"}

    def put(self, forge: Forge, repository: str, app: int) -> None:
        """Protect a repository's main; `app` is the id of the bot's App."""
        actors = []
        if self.passes_by:
            actors = [{"actor_type": "Integration", "actor_id": app}]
        elif self.answer is not None and self.answer[0] == "PUT":
            mode = "pull_request"  # the owner merges what nobody else may
            actors = [_OWNERS | {"bypass_mode": mode}]
        if self.rules:
            put_ruleset(forge, *self.rules, repo=repository, bypass_actors=actors)
        if self.own:
            put_protection(forge, "ci", repo=repository)


PROFILES: Final = (
    ProtectionProfile(name="unprotected", rules=(), way=BY_PUSH, parents=1),
    ProtectionProfile(name="checks"),
    ProtectionProfile(name="own protection", rules=(), own=True),
    ProtectionProfile(name="strict", rules=(PULL_REQUEST, checks("ci", strict=True))),
    ProtectionProfile(
        name="linear history",
        rules=(PULL_REQUEST, checks("ci"), _plain("required_linear_history")),
        way=_merged("squash"),
        parents=1,
    ),
    ProtectionProfile(
        name="merge queue",
        rules=(PULL_REQUEST, checks("ci"), merge_queue()),
        way="The pull request lands through the forge's merge queue for main, after "
        "the check ci.",
        landed_by="github-merge-queue[bot]",
    ),
    ProtectionProfile(
        name="signed commits",
        rules=(PULL_REQUEST, checks("ci"), _plain("required_signatures")),
        way=_merged("squash"),
        parents=1,
    ),
    ProtectionProfile(
        name="reviews",
        rules=(pull_request(1), checks("ci")),
        way=(
            "The forge merges the pull request with the merge method, after 1 "
            "approving review and the check ci."
        ),
        waits_for="1 approving review",
        answer=("POST", "reviews", {"event": "APPROVE"}),
    ),
    ProtectionProfile(
        name="passed by",
        rules=(pull_request(1), checks("ci", strict=True)),
        way=BY_PUSH,
        parents=1,
        passes_by=True,
    ),
    ProtectionProfile(
        name="nobody may push",
        rules=(PULL_REQUEST, *map(_plain, ("update", "non_fast_forward", "deletion"))),
        way=BY_A_PERSON,
        landed_by="you",
        waits_for="a person to merge pull request",
        answer=("PUT", "merge", {}),
    ),
)
