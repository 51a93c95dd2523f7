"""Carries out requests by buttons and programs, and shows the reply."""

import json

from aiohttp import web

from bot.dashboard import api
from bot.dashboard.access_policy import AccessPolicy, view_of
from bot.dashboard.path_lookup import convoy_of, task_of
from bot.dashboard.pressing import Pressed, press, presser
from bot.text.replies import refused
from bot.verbs.endpoints import NoSuchWord
from bot.verbs.verb import NotPossible
from convoy.model.state import Convoy


class Buttons:
    """Answers requests that change something."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide who may press buttons."""
        self._access = access

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the routes of the buttons, below a path, for people and programs."""
        root = base + api.ROOT
        return [
            web.post(f"{base}/convoys/{{convoy}}/{{verb}}", self._convoy),
            web.post(base + api.TASK + "/{verb}", self._task),
            web.post(root + "/convoys/{convoy}/{verb}", self._convoy),
            web.post(root + api.TASK + "/{verb}", self._task),
        ]

    async def _convoy(self, request: web.Request) -> web.Response:
        convoy = convoy_of(view_of(request).state, request)
        return await self._press(request, convoy, 0)

    async def _task(self, request: web.Request) -> web.Response:
        convoy, task = task_of(view_of(request).state, request)
        return await self._press(request, convoy, task.number)

    async def _press(
        self, request: web.Request, convoy: Convoy, task: int
    ) -> web.Response:
        view = view_of(request)
        pressing = await presser(self._access, request, view)
        pressed = Pressed(
            word=request.match_info["verb"],
            convoy=convoy.name,
            task=task,
            text=await _text(request),
        )
        try:
            reply = await press(view, pressing, pressed)
        except NoSuchWord as error:
            raise web.HTTPNotFound(text=f"{error}.\n") from error
        except NotPossible as error:
            raise web.HTTPConflict(text=f"{refused(str(error)).text}\n") from error
        if reply.why:
            raise web.HTTPConflict(text=f"{reply.text}\n")
        if api.ROOT in request.path:
            return web.json_response({"done": True})
        return web.Response(
            status=303, headers={"Location": request.path.rpartition("/")[0]}
        )


async def _text(request: web.Request) -> str:
    """Return the text of a request: a field of the form, or of JSON.

    Raises:
        HTTPBadRequest: the field is no text.
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
