"""Buttons, and what programs decide: put to the rules, and what they say."""

from collections.abc import Callable

from aiohttp import web

from bot.dashboard import api, deeds
from bot.dashboard.lookup import convoy_of, task_of
from bot.dashboard.porch import Porch, sight_of
from convoy.commands import Command


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
        return await self._press(
            request, lambda verb, by: deeds.of_convoy(verb, convoy.name, by)
        )

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(sight_of(request).state, request)
        return await self._press(
            request, lambda verb, by: deeds.of_task(verb, convoy.name, task.number, by)
        )

    async def _press(
        self, request: web.Request, deed: Callable[[str, str], Command]
    ) -> web.Response:
        sight = sight_of(request)
        if sight.house.ask is None:
            raise web.HTTPForbidden(text="This dashboard only shows.\n")
        by = await self._porch.writer(request, sight)
        try:
            command = deed(request.match_info["verb"], by)
        except ValueError as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        refused = await sight.house.ask(command)
        await sight.news.look()
        if refused is not None:
            raise web.HTTPConflict(text=f"That cannot be done: {refused.why}.\n")
        if api.ROOT in request.path:
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )
