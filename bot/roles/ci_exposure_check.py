"""Warns before a convoy's first task when CI would hand agents' code too much."""

import asyncio
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from bot.context.bot_context import BotContext
from bot.forge.workflows import environments_in, exposures
from bot.repository.draft import Draft
from bot.text import notices
from convoy.events.forge_actions import Answer
from convoy.events.plan_events import RequestConvoy
from convoy.model import ids

FOLDER: Final = ".github/workflows"
OURS: Final = frozenset(
    {"brat.yml", "brat-task.yml", "brat-task-live.yml", "brat-wake.yml"}
)
MOST: Final = 50
"""The most workflow files that are read."""


async def warn(context: BotContext, draft: Draft, convoy: RequestConvoy) -> None:
    """Announce an answer that names what agents' code could reach.

    Silent when there is nothing, and in local mode, whose CI has no secrets and no
    token. Safe to call twice.

    Raises:
        Unavailable: the forge did not answer.
    """
    if context.settings.sole:
        return
    files = await asyncio.to_thread(own_workflows, context, convoy.base)
    named = environments_in(files)
    reachable = await context.open_environments(named) if named else frozenset()
    found = exposures(files, "", reachable)
    if found:
        sign = ids.sign_key("exposed", convoy.convoy)
        text = notices.exposed(found)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))


def own_workflows(context: BotContext, commit: str) -> Mapping[str, str]:
    """Return the workflow files in a commit but brat's own, by name."""
    read = context.commits.text(commit)
    names = [
        path
        for path in map(PurePosixPath, context.commits.files(commit))
        if str(path.parent) == FOLDER
        and path.suffix in {".yml", ".yaml"}
        and path.name not in OURS
    ]
    return {path.name: read(str(path)) for path in names[:MOST]}
