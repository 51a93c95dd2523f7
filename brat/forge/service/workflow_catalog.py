"""The workflow files that this forge runs, and what a run of one is given.

brat-task.yml always exists, and brat-task-live.yml if a repository holds it: they stand
for our runner. No other file is run.
"""

from collections.abc import Mapping
from typing import Any, Final

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.run_resource import TASK_WORKFLOW, Run
from brat.forge.resources.wire import Refused
from brat.forge.storage.forge_state import Forge

LIVE_WORKFLOW: Final = ".github/workflows/brat-task-live.yml"
JOB_LOGIN: Final = "github-actions[bot]"
"""The account whose token a run gets."""
TASK_INPUTS: Final = ("session", "log", "nonce")
_NAMED: Final = ("session", "nonce", "log")
"""The inputs in the title of a task run, in their order."""


def title_of(path: str, inputs: Mapping[str, str]) -> str:
    """Return what `run-name` makes of the inputs."""
    if inputs.get("session"):
        words = ("brat", *(inputs.get(name, "") for name in _NAMED))
        return " ".join(filter(None, words))
    return path.rpartition("/")[2].rpartition(".")[0]


class WorkflowFiles:
    """What differs from file to file; an extension may run more of them."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    def can_run(self, repo: Repository, path: str) -> bool:
        """Say whether a workflow file is there and can be run."""
        return path == TASK_WORKFLOW or (
            path == LIVE_WORKFLOW and self.holds(repo, path)
        )

    def holds(self, repo: Repository, path: str) -> bool:
        """Say whether a repository's default branch has a file."""
        bare = self.forge.bare(repo)
        tip = bare.tip(repo.default_branch)
        return tip is not None and bare.file(tip, path) is not None

    def inputs_of(self, _path: str, asked: Mapping[str, Any]) -> dict[str, str]:
        """Return the inputs of a dispatch as text; 422 if they are others."""
        return named_inputs(asked, TASK_INPUTS, TASK_INPUTS)

    def token(self, repo: Repository, holder: User, _run: Run) -> str:
        """Make the token of a run: it may only read."""
        if not self.forge.may(repo, holder, "read"):
            self.forge.grant(repo.full_name, holder.login, "read")
        return self.forge.keys.add(holder, scope="read", repo=repo.id)

    def handover(self, _run: Run) -> dict[str, str]:
        """Return what another starter is told of how to hand artifacts over."""
        return {}

    def opened(self, repo: Repository, actor: User, run: Run) -> None:
        """Show that a run was accepted; only inside `Store.change`."""

    def closed(self, repo: Repository, actor: User, run: Run) -> None:
        """Show how a run ended; only inside `Store.change`."""


def named_inputs(
    asked: Mapping[str, Any], known: tuple[str, ...], needed: tuple[str, ...]
) -> dict[str, str]:
    """Return inputs as text; 422 if one is unknown, or one that is needed is not."""
    unknown = sorted(asked.keys() - set(known))
    if unknown:
        raise Refused(422, f"Unexpected inputs provided: {unknown}")
    missing = [name for name in needed if not asked.get(name)]
    if missing:
        raise Refused(422, f"Required input '{missing[0]}' not provided")
    return {name: str(value) for name, value in asked.items()}
