"""The workflow files that this forge runs: their triggers and permissions.

brat-task.yml always exists, and brat-task-live.yml if a repository holds it: they stand
for our runner. A repository's other files run only if another starter executes whole
workflow files: by dispatch, and brat.yml also on people's actions. As on
GitHub, a job's own token starts runs only by dispatch.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from brat.forge.resources.account_resource import (
    ACTIONS_APP,
    Permissions,
    Repository,
    User,
)
from brat.forge.resources.run_resource import TASK_WORKFLOW, CheckRun, Run
from brat.forge.service.webhooks import Events
from brat.forge.wire import Refused

LOOP_WORKFLOW: Final = ".github/workflows/brat.yml"
LIVE_WORKFLOW: Final = ".github/workflows/brat-task-live.yml"
OWN_WORKFLOWS: Final = frozenset({TASK_WORKFLOW, LIVE_WORKFLOW, LOOP_WORKFLOW})
JOB_LOGIN: Final = "github-actions[bot]"
"""The account whose token a run gets."""
TASK_INPUTS: Final = ("session", "log", "nonce")
_NAMED: Final = ("session", "nonce", "log")
"""The inputs in the title of a task run, in their order."""
MOST_INPUT_CHARS: Final = 65535
_KNOWN: Final = {
    TASK_WORKFLOW: TASK_INPUTS,
    LIVE_WORKFLOW: TASK_INPUTS,
    LOOP_WORKFLOW: (*TASK_INPUTS, "after"),
}
_LOOP_MAY: Final[Permissions] = (
    *(
        (name, "write")
        for name in ("actions", "checks", "contents", "issues", "pull_requests")
    ),
    ("statuses", "read"),
)
_TASK_MAY: Final[Permissions] = (("actions", "write"), ("contents", "read"))
"""The permissions of a task run's two jobs together: they share one token."""


def inputs_of(path: str, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of a dispatch as text.

    Raises:
        Refused: 422: they are not the inputs that the workflow takes.
    """
    known = _KNOWN.get(path, ())
    needed = TASK_INPUTS if path in {TASK_WORKFLOW, LIVE_WORKFLOW} else ()
    unknown = sorted(asked.keys() - set(known))
    if unknown:
        raise Refused(422, f"Unexpected inputs provided: {unknown}")
    missing = [name for name in needed if not asked.get(name)]
    if missing:
        raise Refused(422, f"Required input '{missing[0]}' not provided")
    inputs = {name: str(value) for name, value in asked.items()}
    if sum(map(len, inputs.values())) > MOST_INPUT_CHARS:
        raise Refused(422, f"inputs are too large (maximum {MOST_INPUT_CHARS})")
    return inputs


def title_of(path: str, inputs: Mapping[str, str]) -> str:
    """Return what `run-name` makes of the inputs."""
    if inputs.get("session"):
        words = ("brat", *(inputs.get(name, "") for name in _NAMED))
        return " ".join(filter(None, words))
    return path.rpartition("/")[2].rpartition(".")[0]


def permissions_of(run: Run) -> Permissions | None:
    """Return the permissions of a run's token; None: it may only read."""
    if run.path != LOOP_WORKFLOW:
        return None
    return _TASK_MAY if run.inputs.get("session") else _LOOP_MAY


def opened(events: Events, repo: Repository, actor: User, run: Run) -> None:
    """Show that a run was accepted; only inside `Store.change`."""
    if run.path in OWN_WORKFLOWS:
        return
    store = events.store
    check = store.check_runs.put(
        CheckRun(
            id=store.next_id(),
            repo=repo.id,
            head_sha=run.head_sha,
            name=run.path.rpartition("/")[2].rpartition(".")[0],
            app=ACTIONS_APP,
            external_id=str(run.id),
            started_at=run.created_at,
        )
    )
    events.check_run(repo, actor, "created", check)


def closed(events: Events, repo: Repository, actor: User, run: Run) -> None:
    """Show how a run ended; only inside `Store.change`."""
    store = events.store
    for check in store.check_runs.of((repo.id, run.head_sha)):
        if check.external_id == str(run.id) and check.app == ACTIONS_APP:
            ended = store.check_runs.put(
                replace(
                    check,
                    status="completed",
                    conclusion=run.conclusion,
                    completed_at=run.updated_at,
                )
            )
            events.check_run(repo, actor, "completed", ended)
