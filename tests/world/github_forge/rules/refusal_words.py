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
INCOMPLETE: Final = "missing necessary objects"
"""The last two are git's own words."""


def workflow(path: str) -> str:
    """Say that a token may not change workflow files."""
    return (
        "refusing to allow a GitHub App to create or update workflow "
        f"`{path}` without `workflows` permission"
    )


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
    said = f"- {one.text}\n"
    if one.commits:
        plural = "s" if len(one.commits) > 1 else ""
        said += f"  Found {len(one.commits)} violation{plural}:\n\n"
        said += "".join(f"  {sha}\n" for sha in one.commits)
    return said
