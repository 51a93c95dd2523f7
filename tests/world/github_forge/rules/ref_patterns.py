"""Which refs a ruleset binds.

Patterns are those of Ruby's File.fnmatch with FNM_PATHNAME: `*` and `?` stay within a
name, `**/` stands for any folders.
https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/creating-rulesets-for-a-repository
"""

import re
from functools import lru_cache
from typing import Final

from tests.world.github_forge.rules.ruleset_resource import Ruleset

_NAMESPACES: Final = {"branch": "refs/heads/", "tag": "refs/tags/"}
_MEANING: Final = {"**/": "(?:[^/]+/)*", "*": "[^/]*", "?": "[^/]"}


def binds(one: Ruleset, ref: str, default_branch: str) -> bool:
    """Say whether a ruleset applies to a ref; one for pushes applies to every one."""
    if one.enforcement != "active":
        return False
    if one.target == "push":
        return True
    if not ref.startswith(_NAMESPACES[one.target]):
        return False
    names = one.conditions.ref_name
    return any(_fits(each, ref, default_branch) for each in names.include) and not any(
        _fits(each, ref, default_branch) for each in names.exclude
    )


def _fits(pattern: str, ref: str, default_branch: str) -> bool:
    if pattern == "~ALL":
        return True
    if pattern == "~DEFAULT_BRANCH":
        return ref == f"refs/heads/{default_branch}"
    return _compiled(pattern).fullmatch(ref) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*|\?)", pattern)
    return re.compile("".join(_MEANING.get(each, re.escape(each)) for each in parts))
