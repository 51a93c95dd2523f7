"""What checks and statuses say of a commit, by name and by the App that reported them.

https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
"""

from typing import Final

from brat.forge.resources.account_resource import (
    ACTIONS_APP,
    ACTIONS_APP_ID,
    Repository,
)
from brat.forge.resources.run_resource import CheckRun
from brat.forge.storage.forge_state import Forge
from tests.world.github_forge.rules.ref_change import Checks, CheckState

_PASSES: Final = frozenset({"success", "neutral", "skipped"})
_STATES: Final[dict[str, CheckState]] = {"success": "green", "pending": "pending"}


def checks_of(forge: Forge, repo: Repository, sha: str) -> Checks:
    """Return the checks and statuses of a commit; the newest of each name and App."""
    found: dict[str, dict[int, CheckState]] = {}
    on = (repo.id, sha)
    for status in forge.store.statuses.of(on):
        creator = forge.store.users.get(status.creator)
        is_bot = creator is not None and creator.kind == "Bot"
        slug = creator.login.removesuffix("[bot]") if creator and is_bot else ""
        state = _STATES.get(status.state, "failing")
        found.setdefault(status.context, {})[_app_id(forge, slug)] = state
    for check in forge.store.check_runs.of(on):
        found.setdefault(check.name, {})[_app_id(forge, check.app)] = _state(check)
    return found


def _state(check: CheckRun) -> CheckState:
    if check.status != "completed":
        return "pending"
    return "green" if check.conclusion in _PASSES else "failing"


def _app_id(forge: Forge, slug: str) -> int:
    """Return the id of an App by its slug; 0: there is none."""
    if slug == ACTIONS_APP:
        return ACTIONS_APP_ID
    bot = forge.user(f"{slug}[bot]")
    return forge.app_id(bot) if bot is not None else 0
