"""Starts CI on candidates by dispatch, where a push starts no CI.

A push with a workflow run's token starts no workflow; a dispatch with it does.
https://docs.github.com/actions/concepts/security/github_token
"""

from collections.abc import Iterator

from bot.context.bot_context import BotContext
from bot.forge.refusals import refusal_of_rest
from bot.forge.rest import Refused
from convoy.model import ids
from convoy.model.state import State
from convoy.model.work import Candidate
from convoy.text import full_stop


class CiStarts:
    """Starts one workflow on each candidate that has no checks yet."""

    def __init__(self, workflow: str) -> None:
        """Start `workflow`, a file name; an empty name starts nothing."""
        self._workflow = workflow
        self._asked: set[str] = set()

    async def ask(self, context: BotContext) -> None:
        """Start the missing runs. Safe to call again, in another process too.

        A run on the same commit is looked for first: another job may have started it.

        Raises:
            Unavailable: the forge did not answer.
            Refused: the forge does not start that workflow; it may lack the trigger.
        """
        if not self._workflow:
            return
        for branch, candidate in _awaited(context.mirror.state):
            seen = context.observed.checks.get(candidate.commit)
            is_new = seen is not None and seen.verdict == "none"
            is_there = context.mirror.refs.get(ids.HEADS + branch) == candidate.commit
            if not (is_new and is_there) or candidate.commit in self._asked:
                continue
            self._asked.add(candidate.commit)
            if not await context.github.ci.has_runs(candidate.commit):
                await context.github.ci.start(self._workflow, branch)


async def started(starts: CiStarts, context: BotContext) -> str | None:
    """Start CI where it is missing; return the reason if that fails, else None."""
    try:
        await starts.ask(context)
    except Refused as refused:
        refusal = refusal_of_rest(refused)
        return f"CI cannot be started: {full_stop(refusal.why)} {refusal.helps}"
    return None


def _awaited(state: State) -> Iterator[tuple[str, Candidate]]:
    """Give each open candidate that CI must judge, with its branch."""
    for convoy in state.live():
        if not convoy.settings.require_ci:
            continue
        lane = ids.base_branch(convoy.name)
        for task in convoy.tasks:
            if task.candidate is not None and not task.settled:
                commit = task.candidate.commit
                yield ids.queue_branch(lane, commit), task.candidate
        if convoy.sync.candidate is not None:
            sync = convoy.sync.candidate
            yield ids.queue_branch(lane, sync.commit), sync
        if convoy.candidate is not None:
            commit = convoy.candidate.commit
            yield ids.queue_branch(convoy.target, commit), convoy.candidate
