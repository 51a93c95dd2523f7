"""Rules for a forge, and hooks of git's."""

from collections.abc import Sequence
from pathlib import Path

from brat.forge.storage.forge_state import Forge
from tests.world.forge import REPO, Json, Town
from tests.world.github_forge.rules.rule_bindings import (
    Protection,
    Ruleset,
    rules_in,
)


def checks(*contexts: str, app: int | None = None, strict: bool = False) -> Json:
    """Return the rule that asks for green checks, of one App if it is named."""
    by = {} if app is None else {"integration_id": app}
    return {
        "type": "required_status_checks",
        "parameters": {
            "required_status_checks": [{"context": each} | by for each in contexts],
            "strict_required_status_checks_policy": strict,
        },
    }


def pull_request(approvals: int = 0) -> Json:
    asked = {
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_approving_review_count": approvals,
        "required_review_thread_resolution": False,
    }
    return {"type": "pull_request", "parameters": asked}


def merge_queue() -> Json:
    """Return the rule that asks for a merge queue, which waits for nobody."""
    asked = {
        "check_response_timeout_minutes": 60,
        "grouping_strategy": "ALLGREEN",
        "max_entries_to_build": 5,
        "max_entries_to_merge": 5,
        "merge_method": "MERGE",
        "min_entries_to_merge": 1,
        "min_entries_to_merge_wait_minutes": 5,
    }
    return {"type": "merge_queue", "parameters": asked}


async def rule(here: Town, *rules: Json) -> int:
    """Put a ruleset on alice's repository; return its number."""
    return put_ruleset(here.forge, *rules).id


def put_ruleset(
    forge: Forge, *rules: Json, repo: str = REPO, bypass_actors: Sequence[Json] = ()
) -> Ruleset:
    """Put rules on a repository's default branch."""
    number, actors = forge.known(repo).id, tuple(bypass_actors)
    made = Ruleset(repo=number, rules=rules, bypass_actors=actors)
    return rules_in(forge.store).rulesets.add(made)


def put_protection(forge: Forge, *contexts: str, repo: str) -> None:
    """Protect main: it asks for these checks and a pull request."""
    made = Protection(
        repo=forge.known(repo).id,
        branch="main",
        contexts=contexts,
        rules=(pull_request(), checks(*contexts)),
    )
    rules_in(forge.store).protections.add(made)


def put_hook(bare: Path, name: str, script: str) -> Path:
    """Put a hook of git's into a repository, a shell script without its first line."""
    path = bare / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
