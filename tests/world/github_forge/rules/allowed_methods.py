"""Which methods a pull request may be merged by, and GitHub's sentence for the others.

The repository's settings, a ruleset's `allowed_merge_methods` and linear history all
have the same sentence, which stands alone:
https://github.com/dimileeh/agent-workspace-fabric/pull/353,
https://github.com/bazelbuild/continuous-integration/pull/2178
"""

from collections.abc import Iterable, Mapping
from typing import Final

from brat.forge.resources.account_resource import MergeMethod, Repository
from tests.world.github_forge.rules import rule_types as rules
from tests.world.github_forge.rules.rule_bindings import Binding

_REFUSED: Final[Mapping[MergeMethod, str]] = {
    "merge": "Merge commits are not allowed on this repository.",
    "squash": "Squash merges are not allowed on this repository.",
    "rebase": "Rebase merges are not allowed on this repository.",
}
UNSIGNED: Final = (
    "Base branch requires signed commits. "
    "Rebase merges cannot be automatically signed by GitHub."
)
"""https://github.com/chdsbd/kodiak/pull/275"""


def method_refusal(
    repo: Repository, held: Iterable[Binding], method: MergeMethod
) -> str:
    """Return why nobody who is bound by `held` may merge so; empty: they may."""
    if method not in repo.settings.merge_methods:
        return _REFUSED[method]
    for one in held:
        if one.bypass != "never":
            continue
        for rule in one.rules:
            said = _refusal(rule, method)
            if said:
                return said
    return ""


def _refusal(rule: rules.Rule, method: MergeMethod) -> str:
    match rule:
        case rules.PullRequest() if method not in rule.parameters.allowed_merge_methods:
            return _REFUSED[method]
        case rules.RequiredLinearHistory() if method == "merge":
            return _REFUSED[method]
        case rules.RequiredSignatures() if method == "rebase":
            return UNSIGNED
    return ""
