"""Warns before a convoy's first task of what a job's loop cannot do."""

import asyncio
from datetime import UTC, datetime
from typing import Final

from bot.context.bot_context import BotContext
from bot.forge.rate_limits import RequestBudget
from bot.forge.workflows import LOOP_JOB, lacking_rights
from bot.repository.draft import Draft
from bot.roles.ci_exposure_check import FOLDER
from bot.text import notices
from convoy.events.forge_actions import Answer
from convoy.events.plan_events import RequestConvoy
from convoy.model import ids

FEW: Final = 0.25
"""Below this part of the hour's requests people are told."""


async def warn(context: BotContext, draft: Draft, convoy: RequestConvoy) -> None:
    """Announce an answer that names missing permissions and scarce requests.

    Silent for an App and a service, whose rights no workflow file gives. Safe to call
    twice.
    """
    if not context.settings.by_job:
        return
    file = context.settings.workflow
    path = f"{FOLDER}/{file}"
    text = await asyncio.to_thread(_text, context, convoy.base, path)
    found = [f"{each} (job {LOOP_JOB} of {file})" for each in lacking_rights(text)]
    found += scarce(context.github.requests, context.github.reset_ms())
    if found:
        sign = ids.sign_key("rights", convoy.convoy)
        said = notices.hindered(found)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=said))


def scarce(known: RequestBudget | None, reset_ms: int) -> list[str]:
    """Return what is to be said of the requests that are left; pure."""
    if known is None or known.left >= known.limit * FEW:
        return []
    moment = datetime.fromtimestamp(reset_ms / 1000, UTC)
    said = (
        f"{known.left} of the {known.limit} requests that this repository's jobs have "
        f"in an hour are left, so it goes on slowly until {moment:%H:%M} UTC"
    )
    return [said]


def _text(context: BotContext, commit: str, path: str) -> str:
    if path not in context.commits.files(commit):
        return ""
    return context.commits.text(commit)(path)
