"""Warns before a convoy's first task when a job's loop cannot start CI."""

import asyncio

from bot.context.bot_context import BotContext
from bot.forge.github import JOB_LOGIN
from bot.forge.workflows import dispatch_fault
from bot.repository.draft import Draft
from bot.roles.ci_exposure_check import own_workflows
from bot.text import notices
from convoy.events.forge_actions import Answer
from convoy.events.plan_events import RequestConvoy
from convoy.model import ids


async def warn(context: BotContext, draft: Draft, convoy: RequestConvoy) -> None:
    """Announce an answer that says what is missing.

    Silent where pushes start CI: for an App, and for a person's token. Safe to call
    twice.
    """
    named = context.settings.ci_workflow
    if named is None or not convoy.settings.require_ci:
        return
    if not named and context.login != JOB_LOGIN:
        return
    files = await asyncio.to_thread(own_workflows, context, convoy.base)
    fault = dispatch_fault(files, named)
    if fault:
        sign = ids.sign_key("unstarted", convoy.convoy)
        text = notices.unstarted(fault)
        draft.submit(Answer(issue=convoy.issue, sign=sign, text=text))
