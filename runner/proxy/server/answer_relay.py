"""Passes a vendor's answer on piece by piece, and reads its usage as it passes.

A connection that the vendor breaks is broken for the agent, too. An answer that the
agent leaves is read on for a while, since its end says what it cost.
"""

import asyncio
from typing import Final

from aiohttp import ClientError, ClientResponse, web

from runner.proxy.gateway import header_rules
from runner.proxy.proxy_protocol import Metered
from runner.proxy.server.usage_reader import UsageReader

LEFT_S: Final = 20.0
"""How long an answer is read on that its agent has left."""


class AnswerRelay:
    """One answer on its way."""

    def __init__(self, request: web.BaseRequest, answer: ClientResponse) -> None:
        self._request = request
        self._answer = answer
        self._reader = UsageReader(streams=answer.content_type == "text/event-stream")
        self._is_left = False
        self._is_whole = False

    async def pass_on(self) -> web.StreamResponse:
        """Pass all of it on."""
        answer = self._answer
        response = web.StreamResponse(status=answer.status, reason=answer.reason)
        response.headers.extend(header_rules.answered(answer.headers.items()))
        try:
            async with asyncio.timeout(None) as limit:
                await self._send(response, limit)
        except (ClientError, TimeoutError):
            if self._request.transport is not None:
                self._request.transport.abort()
        return response

    def usage(self, asked_bytes: int) -> Metered:
        """Return its tokens, once it has ended or was broken off."""
        return self._reader.read(asked_bytes, is_cut=not self._is_whole)

    async def _send(self, response: web.StreamResponse, limit: asyncio.Timeout) -> None:
        try:
            await response.prepare(self._request)
        except ConnectionError:
            self._leave(limit)
        async for chunk in self._answer.content.iter_any():
            self._reader.feed(chunk)
            try:
                if not self._is_left:
                    await response.write(chunk)
            except ConnectionError:
                self._leave(limit)
        self._is_whole = True
        if not self._is_left:
            await response.write_eof()

    def _leave(self, limit: asyncio.Timeout) -> None:
        self._is_left = True
        limit.reschedule(asyncio.get_running_loop().time() + LEFT_S)
