"""Carries out what somebody decides at the dashboard, whatever they pressed."""

import asyncio

from aiohttp import web
from msgspec import Struct

from bot.dashboard.access_policy import AccessPolicy, RepositoryView
from bot.dashboard.dashboard_source import CarryOut
from bot.text.replies import Reply
from bot.verbs import endpoints
from bot.verbs.request_context import Asker


class Pressed(Struct, frozen=True, kw_only=True):
    """What somebody decides of a convoy or a task."""

    word: str
    """The endpoint's word in the table of verbs."""
    convoy: str
    task: int = 0
    """0: it is about the convoy."""
    text: str = ""


async def presser(
    access: AccessPolicy, request: web.Request, view: RepositoryView
) -> tuple[str, CarryOut]:
    """Return who presses, and what carries out what they decide.

    Raises:
        HTTPForbidden: this dashboard only shows, or they lack the right.
    """
    if view.source.carry_out is None:
        raise web.HTTPForbidden(text="This dashboard only shows.\n")
    return await access.writer(request, view), view.source.carry_out


async def press(
    view: RepositoryView, pressing: tuple[str, CarryOut], pressed: Pressed
) -> Reply:
    """Carry out a decision, look at what it changed, and return the reply.

    Args:
        view: the repository.
        pressing: as `presser` returned it for this very request.
        pressed: the decision.

    Raises:
        NoSuchWord: no endpoint has this word.
        NotPossible: the text is missing.
        BratError: the forge did not answer.
    """
    by, carry_out = pressing
    asked = await asyncio.to_thread(
        endpoints.request_of, pressed.word, pressed.task, pressed.text
    )
    asker = Asker(by=by, convoy=pressed.convoy, allowed=True, at_endpoint=True)
    reply = await carry_out(asker, asked)
    await view.watcher.look()
    return reply
