"""Buttons, and what programs decide: put to the rules, and what they say."""

import json

from aiohttp import web

from bot import deeds
from bot.dashboard import api
from bot.dashboard.lookup import convoy_of, task_of
from bot.dashboard.porch import Porch, sight_of
from bot.deeds import Deed
from convoy.planner.tasklist import PlanError
from convoy.state import Convoy


class Buttons:
    """Answers who wants something changed."""

    def __init__(self, porch: Porch) -> None:
        """Take who says whose word counts."""
        self._porch = porch

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return where they go, below a path, for people and for programs."""
        root = base + api.ROOT
        return [
            web.post(f"{base}/convoys/{{convoy}}/{{verb}}", self._convoy),
            web.post(base + api.TASK + "/{verb}", self._task),
            web.post(root + "/convoys/{convoy}/{verb}", self._convoy),
            web.post(root + api.TASK + "/{verb}", self._task),
        ]

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(sight_of(request).state, request)
        return await self._press(request, convoy, 0)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(sight_of(request).state, request)
        return await self._press(request, convoy, task.number)

    async def _press(
        self, request: web.Request, convoy: Convoy, task: int
    ) -> web.Response:
        sight = sight_of(request)
        if sight.house.ask is None:
            raise web.HTTPForbidden(text="This dashboard only shows.\n")
        by = await self._porch.writer(request, sight)
        text, verb = await _text(request), request.match_info["verb"]
        try:
            command = deeds.command(Deed(verb=verb, task=task, text=text), convoy, by)
        except deeds.NoSuchDeed as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        except (deeds.NotPossible, PlanError) as error:
            raise web.HTTPConflict(text=f"That cannot be done: {error}.\n") from error
        refused = await sight.house.ask(command)
        await sight.news.look()
        if refused is not None:
            raise web.HTTPConflict(text=f"That cannot be done: {refused.why}.\n")
        if api.ROOT in request.path:
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )


async def _text(request: web.Request) -> str:
    """Return what somebody says beside the word: a field of the form, or of JSON.

    Raises:
        HTTPBadRequest: it is no text.
    """
    if request.content_type != "application/json":
        told: object = (await request.post()).get("text", "")
    else:
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError:  # neither JSON nor UTF-8
            body = None
        told = body.get("text", "") if isinstance(body, dict) else None
    if not isinstance(told, str):
        raise web.HTTPBadRequest(text='Say it as {"text": "..."}.\n')
    return told
