"""CI runs end when their candidate is given up, and no others do."""

from pathlib import Path

from brat.forge.resources.run_resource import Run
from convoy.model import ids
from convoy.rules.people import DropTask
from tests.bot.room import NAME, Room, room


def running(here: Room, branch: str, commit: str) -> int:
    """Let a workflow of the repository's own run on a commit; return its id."""
    store = here.forge.store
    (repo,) = store.repositories.all()
    with store.change():
        run = store.runs.put(
            Run(
                id=store.next_id(),
                repo=repo.id,
                number=1,
                path=".github/workflows/ci.yml",
                title="ci",
                branch=branch,
                head_sha=commit,
                actor=repo.id,
                inputs={},
                created_at=here.forge.now(),
                updated_at=here.forge.now(),
                event="push",
                status="in_progress",
            )
        )
    return run.id


async def test_a_run_on_a_candidate_that_was_given_up_is_cancelled(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, text="- [ ] one\n- [ ] two\n") as here:
        await here.worked(1, {"one.txt": b"1\n"})
        candidate = here.task(1).candidate
        assert candidate is not None
        queue = ids.queue_branch(ids.base_branch(NAME), candidate.commit)
        judging = running(here, queue, candidate.commit)
        elsewhere = running(here, "main", candidate.commit)
        here.loop.wake.up("checks")
        await here.loop.tick()
        needed = here.forge.store.runs.get(judging)

        await here.do(DropTask(convoy=NAME, task=1, why="no"))
        here.loop.wake.up("checks")
        await here.loop.tick()

        runs = here.forge.store.runs
        assert needed is not None
        assert not needed.cancelling
        cancelled = {run.id for run in runs.all() if run.cancelling}
        assert cancelled == {judging}
        assert elsewhere in {run.id for run in runs.all()}
