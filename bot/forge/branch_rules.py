"""Reads what a forge asks for before a branch moves.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
https://docs.github.com/graphql/reference/objects#refupdaterule
"""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace
from pydantic import Field

from bot.forge.graphql import GraphQl
from bot.forge.payload import Payload
from bot.forge.rest import Refused, Rest
from bot.forge.rule_meaning import Protection, Rule, protected, ruled
from convoy.model.records import Strategy
from convoy.model.work import TargetRules

MAY_PASS: Final = frozenset({"always", "exempt"})
_UNTOLD: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_CLASSIC: Final = """\
query ($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) {
      refUpdateRule {
        requiredApprovingReviewCount
        requiredStatusCheckContexts
        requiresCodeOwnerReviews
        requiresConversationResolution
        requiresLinearHistory
        requiresSignatures
        viewerCanPush
      }
    }
  }
}"""


class _Ruleset(Payload):
    current_user_can_bypass: str | None = None


class _Branch(Payload):
    protected: bool = False


class _Methods(Payload):
    allow_merge_commit: bool = True
    allow_squash_merge: bool = True
    allow_rebase_merge: bool = True


class _Ref(Payload):
    rule: Protection | None = Field(None, alias="refUpdateRule")


class _Repository(Payload):
    ref: _Ref | None = None


class _Data(Payload):
    repository: _Repository | None = None


class BranchRules:
    """The rules of one repository's branches."""

    def __init__(self, rest: Rest, graphql: GraphQl, repository: str) -> None:
        """Send nothing yet; `repository` is `owner/name`."""
        self._rest = rest
        self._graphql = graphql
        self._repository = repository
        self._repo = f"/repos/{repository}"

    async def of(self, branch: str, *, bypass: bool = True) -> TargetRules:
        """Return what a branch asks for, as far as the bot may read it.

        Args:
            branch: its name; it need not exist.
            bypass: whether to ask if the bot may pass the rules by.

        Raises:
            Unavailable: the forge did not answer.
        """
        listed = await self.listed(branch)
        found = ruled(listed or (), await self._methods())
        classic, is_known = await self._classic(branch)
        if classic is not None:
            found = protected(found, classic)
        unknown = [f"the rules of {branch}"] if listed is None else []
        if not is_known and not listed and await self._is_protected(branch):
            unknown.append(f"how {branch} is protected")
        passes = bool(listed) and bypass and await self.passes(listed or ())
        bound = classic is not None and not classic.pushes
        return replace(found, passes=passes and not bound, unknown=tuple(unknown))

    async def listed(self, branch: str) -> tuple[Rule, ...] | None:
        """Return the rules of all rulesets for a branch; None: the bot may not ask."""
        url = f"{self._repo}/rules/branches/{quote(branch, safe='')}?per_page=100"
        try:
            return tuple([rule async for rule in self._rest.each(Rule, url)])
        except Refused as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return ()  # a forge older than rulesets
            if refused.status in _UNTOLD:
                return None
            raise

    async def passes(self, rules: Iterable[Rule]) -> bool:
        """Whether the forge says that the bot may pass all these rules by."""
        sets = {rule.ruleset_id for rule in rules}
        return all([await self.bypass(number) in MAY_PASS for number in sets])

    async def bypass(self, ruleset: int | None) -> str:
        """Return whether the bot may bypass a ruleset; empty: the forge does not say.

        https://docs.github.com/rest/repos/rules#get-a-repository-ruleset
        """
        if ruleset is None:
            return ""
        try:
            url = f"{self._repo}/rulesets/{ruleset}"
            found = await self._rest.read(_Ruleset, url)
        except Refused:
            return ""  # perhaps an organisation's ruleset
        return found.current_user_can_bypass or ""

    async def _methods(self) -> tuple[Strategy, ...]:
        """Return how the repository lets its pull requests be merged."""
        found = await self._rest.read(_Methods, self._repo)
        allowed: dict[Strategy, bool] = {
            "merge": found.allow_merge_commit,
            "squash": found.allow_squash_merge,
            "rebase": found.allow_rebase_merge,
        }
        return tuple(method for method, is_allowed in allowed.items() if is_allowed)

    async def _classic(self, branch: str) -> tuple[Protection | None, bool]:
        """Return a branch's own protection, and whether the bot may know it."""
        owner, _, name = self._repository.partition("/")
        named = {"owner": owner, "name": name, "ref": f"refs/heads/{branch}"}
        try:
            found = await self._graphql.read(_Data, _CLASSIC, named)
        except Refused:
            return None, False
        ref = found.repository.ref if found.repository else None
        return (ref.rule if ref else None), True

    async def _is_protected(self, branch: str) -> bool:
        url = f"{self._repo}/branches/{quote(branch, safe='')}"
        try:
            return (await self._rest.read(_Branch, url)).protected
        except Refused as refused:
            if refused.status in _UNTOLD:
                return False  # nothing was pushed yet
            raise
