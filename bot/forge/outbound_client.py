"""HTTP clients that take this machine's own way to others (`grite.outbound`)."""

import ssl
from typing import Final
from urllib.parse import urlsplit

import httpx

from grite import outbound

NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For connections without TLS: it trusts nobody, and loads nothing."""
_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"
LIMITS: Final = httpx.Limits(max_connections=16)


def client(deadline_s: float) -> httpx.AsyncClient:
    """Return a client for many hosts, redirects not followed.

    Its requests raise `BratError` where the environment names a way that cannot be
    gone.
    """
    return httpx.AsyncClient(timeout=deadline_s, transport=_Ways(), trust_env=False)


def client_of(url: str, deadline_s: float) -> httpx.Client:
    """Return a client for the host of one address, for code without an event loop.

    Raises:
        BratError: the environment names a way that cannot be gone.
    """
    way = outbound.here()
    proxy, context = way.proxy(url), _context(way, url)
    return httpx.Client(
        timeout=deadline_s, proxy=_proxy(proxy, way), verify=context, trust_env=False
    )


class _Ways(httpx.AsyncBaseTransport):
    """A transport for each way that a request took."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bool], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        way = outbound.here()
        taken = (way.proxy(url), request.url.scheme == "https")
        if taken not in self._known:
            self._known[taken] = httpx.AsyncHTTPTransport(
                verify=_context(way, url), proxy=_proxy(taken[0], way), limits=LIMITS
            )
        try:
            return await self._known[taken].handle_async_request(request)
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise type(error)(_why(error, taken[0])) from error

    async def aclose(self) -> None:
        for each in self._known.values():
            await each.aclose()


def _why(error: httpx.TransportError, proxy: str) -> str:
    """Return why there is no connection, with what a person may not think of."""
    said = str(error)
    if _UNTRUSTED in said:
        said += ": install its authority on this machine, or name it in SSL_CERT_FILE"
    if proxy:
        above = urlsplit(proxy)
        said += f" (through the proxy {above.hostname}:{above.port or above.scheme})"
    return said


def _context(way: outbound.Outbound, url: str) -> ssl.SSLContext:
    return way.authorities() if url.lower().startswith("https:") else NO_TLS


def _proxy(address: str, way: outbound.Outbound) -> httpx.Proxy | None:
    if not address:
        return None
    is_tls = address.lower().startswith("https:")
    return httpx.Proxy(address, ssl_context=way.authorities() if is_tls else None)
