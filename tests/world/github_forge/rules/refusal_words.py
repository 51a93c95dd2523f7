"""What a refused push is told, in GitHub's words: what git shows behind `remote:`.

Each form is that of a real transcript; tests/bot/forge/transcripts holds them.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote

from tests.world.github_forge.rules.push_rules import Violation

RULES: Final = "push declined due to repository rule violations"
PROTECTED: Final = "protected branch hook declined"
ATOMIC: Final = "atomic push failure"
"""These are git's own words."""


def protected(ref: str, found: Iterable[Violation]) -> str:
    """Say that a branch's protection is against an update."""
    head = f"error: GH006: Protected branch update failed for {ref}.\n"
    return head + "".join("\n" + _listed(each) for each in found)


def against_rules(ref: str, page: str, found: Sequence[Violation]) -> str:
    """Say that a repository's rulesets are against an update; `page` is its page."""
    head = f"error: GH013: Repository rule violations found for {ref}.\n"
    where = f"{page}/rules?ref={quote(ref, safe='')}"
    head += f"Review all repository rules at {where}\n"
    return head + "".join("\n" + _listed(each) for each in found) + "\n"


def _listed(one: Violation) -> str:
    return f"- {one.text}\n"
