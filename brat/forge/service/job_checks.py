"""The check run that a run of the repository's own workflow puts on its commit.

GitHub shows one check run for each job; here a run counts as one job. Runs of brat's
own files get none: they judge nothing.
"""

from msgspec.structs import replace

from brat.forge.resources.account_resource import ACTIONS_APP, User
from brat.forge.resources.check_resource import CheckRun
from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import Run
from brat.forge.service.webhook_payloads import Events
from brat.forge.service.workflow_catalog import OWN_WORKFLOWS


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
