"""Tells people what a program merged where git had left a conflict."""

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.text import merge_texts
from convoy.events.forge_actions import Answer
from convoy.model import ids
from convoy.model.state import Task
from convoy.model.work import Candidate


def tell_of_help(
    context: BotContext, draft: Draft, task: Task | None, candidate: Candidate
) -> None:
    """Comment on a task's pull request, once for each candidate that lands."""
    helped = context.composer.helped(candidate.base, candidate.commit)
    if task is not None and task.pull is not None and helped:
        sign = ids.sign_key("helped", candidate.commit)
        text = merge_texts.merged_with_help(candidate.commit, helped)
        draft.submit(Answer(issue=task.pull, sign=sign, text=text))
