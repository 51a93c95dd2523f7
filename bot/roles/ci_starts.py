"""Starting CI on candidates by dispatch, where a push starts none.

What the token of a workflow run pushes starts no workflow; what it dispatches does.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Iterator

from bot.desk import Desk
from bot.forge.rest import Refused
from convoy import ids
from convoy.plan import HEADS
from convoy.state import Candidate, State


class CiStarts:
    """Starts one workflow on each candidate that nothing has looked at yet."""

    def __init__(self, workflow: str) -> None:
        """Start `workflow`, a file name; nothing when it is empty."""
        self._workflow = workflow
        self._asked: set[str] = set()

    async def ask(self, desk: Desk) -> None:
        """Start what is missing. Safe to call again, in another process too.

        A run on the same commit is looked for first: another job may have started it.

        Raises:
            Unavailable: the forge did not answer.
            Refused: it does not start that workflow, such as one without the trigger.
        """
        if not self._workflow:
            return
        for branch, candidate in _awaited(desk.mirror.state):
            seen = desk.observed.checks.get(candidate.commit)
            is_new = seen is not None and seen.verdict == "none"
            is_there = desk.mirror.refs.get(HEADS + branch) == candidate.commit
            if not (is_new and is_there) or candidate.commit in self._asked:
                continue
            self._asked.add(candidate.commit)
            if not await desk.github.ci.has_runs(candidate.commit):
                await desk.github.ci.start(self._workflow, branch)


async def started(starts: CiStarts, desk: Desk) -> str | None:
    """Start CI where it is missing; return why that cannot be done, if it cannot."""
    try:
        await starts.ask(desk)
    except Refused as refused:
        return f"CI cannot be started: {refused}; does it have workflow_dispatch?"
    return None


def _awaited(state: State) -> Iterator[tuple[str, Candidate]]:
    """Give every open candidate that CI must judge, with its branch."""
    for convoy in state.live():
        if not convoy.settings.require_ci:
            continue
        lane = ids.base_branch(convoy.name)
        for task in convoy.tasks:
            if task.candidate is not None and not task.settled:
                commit = task.candidate.commit
                yield ids.queue_branch(lane, commit), task.candidate
        if convoy.candidate is not None:
            commit = convoy.candidate.commit
            yield ids.queue_branch(convoy.target, commit), convoy.candidate
