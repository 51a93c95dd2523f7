"""MCP over HTTP, at `/mcp`: for whoever may press the buttons.

The SDK is loaded with the first request: it takes a second, and few dashboards need it.
"""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from aiohttp import web

from bot.dashboard.access_policy import AccessPolicy, RepositoryView, view_of
from bot.dashboard.dashboard_source import CarryOut
from bot.dashboard.pressing import Pressed, press, presser
from bot.mcp import MISSING
from bot.mcp.backend import Decision, Snapshot
from bot.mcp.tool import Refused, convoy_in, task_in
from convoy.model.state import Convoy, Task
from convoy.views.history import LogLine

_NO_START: Final = (
    "convoys begin on the forge here: open an issue there and label it, or say "
    "`/brat start` on it"
)


class McpEndpoint:
    """Answers MCP clients."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` decide who may decide."""
        self._access = access

    def routes(self, base: str) -> list[web.RouteDef]:
        """Return the route, below a path."""
        return [web.post(f"{base}/mcp", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        view = view_of(request)
        pressing = await presser(self._access, request, view)
        if find_spec("mcp") is None:
            raise web.HTTPNotImplemented(text=f"{MISSING}\n")
        await asyncio.to_thread(import_module, "bot.mcp.http_exchange")
        from bot.mcp.http_exchange import exchange
        from bot.mcp.server import server_of

        server = server_of(DashboardBackend(view, pressing))
        body = await request.read()
        made = await exchange(server, request.path, request.raw_headers, body)
        headers = [(name.decode(), value.decode()) for name, value in made.headers]
        return web.Response(status=made.status, headers=headers, body=made.answer)


class DashboardBackend:
    """What one request may read and decide; for one request."""

    def __init__(self, view: RepositoryView, pressing: tuple[str, CarryOut]) -> None:
        """Read from `view`, and decide as whoever sent the request."""
        self._view = view
        self._pressing = pressing

    async def snapshot(self) -> Snapshot:
        """Return what the dashboard shows."""
        await self._view.watcher.look()
        return Snapshot(
            state=self._view.state,
            now=self._view.now,
            faults=self._view.watcher.reading.faults,
            here=self._view.watcher.here,
        )

    async def log(self, number: int) -> Sequence[LogLine]:
        """Return the log's last lines."""
        return await asyncio.to_thread(self._view.source.log, number)

    async def output(self, convoy: Convoy, task: Task) -> str:
        """Return the end of a session's output, as the task's page shows it."""
        return await self._view.source.printed(convoy, task)

    async def decide(self, decision: Decision) -> str:
        """Carry out a decision as its button does."""
        convoy, task = decision.convoy, decision.task
        if task:
            task_in(self._view.state, convoy, task)
        convoy_in(self._view.state, convoy)
        pressed = Pressed(
            word=decision.word, convoy=convoy, task=task, text=decision.text
        )
        reply = await press(self._view, self._pressing, pressed)
        if reply.why:
            raise Refused(reply.text)
        return reply.text

    async def start(self, text: str, *, plan_only: bool) -> dict[str, Any]:
        """Open an issue; the running loop plans its convoy."""
        start = self._view.source.start
        if start is None:
            raise Refused(_NO_START)
        issue = await start(text, plan_only)
        return {"issue": issue, "said": f"issue {issue} is being planned; see status"}
