"""The forge on loopback: REST under /api/v3, git beside it.

It always listens on 127.0.0.1 only.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from bot.door.listening import by_own_name
from brat.forge.resources.wire import API, BY_ID, BY_NAME, not_found
from brat.forge.rest import rest_call, rest_issues, rest_pulls, rest_repositories
from brat.forge.rest.git_http import GitHttp
from brat.forge.service.run_processes import LIKE_GITHUB, How
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge

HOST: Final = "127.0.0.1"
SHUTDOWN_S: Final = 2.0
"""How long requests under way have when the server stops."""

ROUTES: Final = (*rest_issues.ROUTES, *rest_pulls.ROUTES, *rest_repositories.ROUTES)


@asynccontextmanager
async def serving(
    forge: Forge,
    port: int = 0,
    *,
    base: str = "",
    how: How = LIKE_GITHUB,
    extend: Callable[[Service], rest_call.Extension] | None = None,
) -> AsyncIterator[str]:
    """Serve a forge and yield its address, for as long as the block lasts.

    Port 0 takes a free one; `base` is the address that it calls its own, if another:
    what stands before it there sees to the names that it is asked by.
    The forge stays open afterwards and can be served again. Raises `OSError`: the port
    is taken.
    """
    with socket.create_server((HOST, port)) as door:
        own = f"http://{HOST}:{door.getsockname()[1]}"
        async with asyncio.TaskGroup() as tasks:
            service = Service(forge, tasks, how=how)
            extension = extend(service) if extend else rest_call.NOTHING
            runner = web.AppRunner(
                _app(service, extension, () if base else (by_own_name,)),
                access_log=None,
                shutdown_timeout=SHUTDOWN_S,
            )
            await runner.setup()
            try:
                service.start(base or own)
                await web.SockSite(runner, door).start()
                yield own
            finally:
                await runner.cleanup()
                service.stop()


def _app(
    service: Service, extension: rest_call.Extension, doors: tuple[Middleware, ...]
) -> web.Application:
    outer = *doors, *extension.middlewares
    app = web.Application(client_max_size=rest_call.MOST_BODY, middlewares=outer)
    app.router.add_routes(extension.pages)
    routes = {(r.method, r.path): r for r in (*ROUTES, *extension.routes)}
    gate = rest_call.Gate(service, extension)
    for route in routes.values():
        answer = partial(gate.answer, route)
        app.router.add_route(route.method, API + route.path, answer)
        by_id = route.path.replace(BY_NAME, BY_ID, 1)
        if by_id != route.path:
            app.router.add_route(route.method, API + by_id, answer)
    app.router.add_put(
        rest_repositories.PLACE, partial(gate.answer, rest_repositories.ROUTE)
    )
    app.router.add_post("/api/graphql", no_graphql)
    unknown = partial(gate.answer, rest_call.Route("*", "", _unknown))
    app.router.add_route("*", API + "/{tail:.*}", unknown)
    app.router.add_routes(GitHttp(service, extension).routes())
    return app


async def _unknown(_: rest_call.Call) -> rest_call.Answer:
    raise not_found()


async def no_graphql(_: web.Request) -> web.Response:
    said = "This forge has no GraphQL: use the REST API under /api/v3."
    return web.json_response({"message": said}, status=404)
