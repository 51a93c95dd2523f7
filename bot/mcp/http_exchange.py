"""One request and one answer of MCP's streamable HTTP, through the SDK's transport.

Each request stands alone, with the rights that it shows: there is no session that
somebody else could take over, and nothing to end.
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Message = MutableMapping[str, Any]
"""An event of ASGI: https://asgi.readthedocs.io/en/latest/specs/www.html"""
Headers = list[tuple[bytes, bytes]]


@dataclass
class Exchange:
    """A request's body, which the transport reads once, and the answer it gives."""

    body: bytes
    status: int = 500
    headers: Headers = field(default_factory=list)
    answer: bytes = b""

    async def receive(self) -> Message:
        """Give the transport the whole body."""
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take a part of the transport's answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], [*message["headers"]]
        else:
            self.answer += message.get("body", b"")


async def exchange(
    server: Server[Any], path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes
) -> Exchange:
    """Let a server answer one POST request.

    Args:
        server: made for the person whose request it is.
        path: the request's path.
        headers: the request's, as they came.
        body: the request's.
    """
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in headers],
    }
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    made = Exchange(body)
    async with manager.run():
        await manager.handle_request(scope, made.receive, made.send)
    return made
