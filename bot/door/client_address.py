"""Tells clients apart, so that none takes what is there for all."""

from ipaddress import ip_address, ip_network
from typing import Final

from aiohttp import web

from bot.settings.origins import Origins

IPV6_PREFIX: Final = 64
"""One subscriber has at least so much: https://www.rfc-editor.org/rfc/rfc6177."""
CLIENT: Final = web.RequestKey("client", str)
"""Who sent a request; empty: it cannot be told from others."""


def client_at(address: str) -> str:
    """Return the client at an address; empty: many clients may come from there.

    An IPv6 network counts as one client. Connections from this machine are those of a
    proxy, which stands for all of its clients.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    found = getattr(found, "ipv4_mapped", None) or found
    if found.is_loopback:
        return ""
    if found.version == 4:  # noqa: PLR2004  IP's
        return str(found)
    return str(ip_network((found, IPV6_PREFIX), strict=False))


def client_of(request: web.BaseRequest, origins: Origins) -> str:
    """Return the client that sent a request; empty: it cannot be told from others."""
    forwarded = request.headers.getall("X-Forwarded-For", ())
    return client_at(origins.sender(request.remote, forwarded))
