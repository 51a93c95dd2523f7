"""News as server-sent events, for pages and programs.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import contextlib
from typing import Final

from aiohttp import web

from bot.dashboard import token_access
from bot.dashboard.access_policy import AccessPolicy, view_of
from bot.dashboard.event_streams import EventStreams
from bot.dashboard.state_watcher import StateWatcher

PING_S: Final = 15.0
"""How often a silent stream sends a ping, so that no proxy closes it."""


class Stream:
    """Answers requests for news, within the limits of one dashboard."""

    def __init__(self, access: AccessPolicy) -> None:
        """Let `access` tell people from strangers."""
        self._access = access
        self._streams = EventStreams()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Stream one `changed` for every change.

        Changes between a page and its stream, or while the stream was cut, count too.

        Raises:
            HTTPServiceUnavailable: too many streams are open.
        """
        view = view_of(request)
        visitor = await self._access.visitor(request, view)
        with self._streams.one_more(request, visitor):
            return await _streamed(request, view.watcher)


async def _streamed(request: web.Request, news: StateWatcher) -> web.StreamResponse:
    answer = web.StreamResponse(
        headers=token_access.HEADERS | {"Content-Type": "text/event-stream"}
    )
    since = request.query.get("since", news.mark)
    known = request.headers.get("Last-Event-ID", since)
    with contextlib.suppress(ConnectionError):
        await answer.prepare(request)
        while True:
            try:
                async with asyncio.timeout(PING_S):
                    known = await news.after(known)
            except TimeoutError:
                await answer.write(b": still here\n\n")
            else:
                said = f"event: changed\nid: {known}\ndata: {known}\n\n"
                await answer.write(said.encode())
    return answer
