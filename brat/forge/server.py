"""The forge on loopback: REST under /api/v3, git beside it.

It listens on 127.0.0.1 only, whatever it is told.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from brat.forge import (
    rest_actions,
    rest_apps,
    rest_artifacts,
    rest_checks,
    rest_comments,
    rest_git,
    rest_hooks,
    rest_issues,
    rest_labels,
    rest_merge,
    rest_pulls,
    rest_repos,
    rest_secrets,
)
from brat.forge.calls import Answer, Call, Route
from brat.forge.gate import MOST_BODY, Gate
from brat.forge.git_http import GitHttp
from brat.forge.oauth import OAuth
from brat.forge.recording import Observer, watching
from brat.forge.refusals import not_found
from brat.forge.runs import LIKE_GITHUB, How
from brat.forge.service import Service
from brat.forge.state import Forge
from brat.forge.urls import API

HOST: Final = "127.0.0.1"
SHUTDOWN_S: Final = 2.0
"""How long requests under way have when the server stops."""

ROUTES: Final = (
    *rest_comments.ROUTES,  # before issues: `issues/comments`
    *rest_issues.ROUTES,
    *rest_labels.ROUTES,
    *rest_merge.ROUTES,
    *rest_pulls.ROUTES,
    *rest_git.ROUTES,
    *rest_checks.ROUTES,  # before repos: `commits/{ref}/status`
    *rest_actions.ROUTES,
    *rest_artifacts.ROUTES,
    *rest_hooks.ROUTES,
    *rest_secrets.ROUTES,
    *rest_apps.ROUTES,
    *rest_repos.ROUTES,
)


@asynccontextmanager
async def serving(
    forge: Forge,
    port: int = 0,
    *,
    how: How = LIKE_GITHUB,
    observe: Observer | None = None,
) -> AsyncIterator[str]:
    """Serve a forge and yield its address, for as long as the block lasts.

    Args:
        forge: stays open afterwards, and can be served again.
        port: 0 takes a free one.
        how: what starts workflow runs, and how they are cancelled.
        observe: sees each exchange with the REST API.

    Raises:
        OSError: the port is taken.
    """
    with socket.create_server((HOST, port)) as door:
        base = f"http://{HOST}:{door.getsockname()[1]}"
        async with asyncio.TaskGroup() as tasks:
            service = Service(forge, tasks, how=how)
            runner = web.AppRunner(
                _app(service, observe), access_log=None, shutdown_timeout=SHUTDOWN_S
            )
            await runner.setup()
            try:
                service.start(base)
                await web.SockSite(runner, door).start()
                yield base
            finally:
                await runner.cleanup()
                service.stop()


def _app(service: Service, observe: Observer | None) -> web.Application:
    watchers = [watching(observe)] if observe is not None else []
    app = web.Application(client_max_size=MOST_BODY, middlewares=watchers)
    for route in ROUTES:
        app.router.add_route(
            route.method, API + route.path, Gate(service, route).answer
        )
    app.router.add_post("/api/graphql", _no_graphql)
    unknown = Gate(service, Route("*", "", _unknown))
    app.router.add_route("*", API + "/{tail:.*}", unknown.answer)
    app.router.add_routes(rest_artifacts.Storage(service).routes())
    app.router.add_routes(OAuth(service).routes())
    app.router.add_routes(GitHttp(service).routes())
    return app


async def _unknown(_: Call) -> Answer:
    raise not_found()


async def _no_graphql(_: web.Request) -> web.Response:
    said = "This forge has no GraphQL: use the REST API under /api/v3."
    return web.json_response({"message": said}, status=501)
