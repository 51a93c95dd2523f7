"""This machine's way out: directly, or through a proxy of its own network."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from grite import outbound
from grite.errors import BratError, repr_without

CONNECT_S: Final = 30.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Upstream(Struct, frozen=True):
    """A proxy that the machine's environment names."""

    host: str
    port: int
    is_tls: bool
    pass_word: str
    """The value of `Proxy-Authorization`; empty: the proxy wants none."""

    def __repr__(self) -> str:
        return repr_without(self, "pass_word")

    async def through(self, host: str, port: int, *, is_plain: bool) -> Streams:
        """Connect to the proxy, and through it to the host unless `is_plain`.

        Raises:
            OSError: the proxy or the host cannot be reached, or the proxy refuses.
        """
        streams = await dialled(self.host, self.port, is_tls=self.is_tls)
        if is_plain:
            return streams
        reader, writer = streams
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        word = f"Proxy-Authorization: {self.pass_word}\r\n" if self.pass_word else ""
        writer.write(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n{word}\r\n".encode())
        try:
            async with asyncio.timeout(CONNECT_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise OSError("the machine's own proxy answers no HTTP") from error
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            writer.close()
            raise OSError(f"the machine's own proxy says {head[:60]!r}")
        return streams


def upstream(host: str, port: int, *, is_plain: bool) -> Upstream | None:
    """Return the proxy that the machine's environment names for a host, if any.

    Raises:
        OSError: the proxy is of a kind that cannot be gone through.
    """
    name = f"[{host}]" if ":" in host else host
    scheme = "http" if is_plain else "https"
    try:
        named = outbound.here().proxy(f"{scheme}://{name}:{port}")
    except BratError as error:
        raise OSError(str(error)) from error
    if not named:
        return None
    url = urlsplit(named)
    is_tls = url.scheme == "https"
    above = url.port or (443 if is_tls else 80)
    return Upstream(url.hostname or "", above, is_tls, outbound.proxy_word(named))


async def dialled(host: str, port: int, *, is_tls: bool = False) -> Streams:
    """Connect to a host.

    Raises:
        OSError: the host cannot be reached in time.
    """
    try:
        trusted = outbound.here().authorities() if is_tls else None
    except BratError as error:
        raise OSError(str(error)) from error
    async with asyncio.timeout(CONNECT_S):
        return await asyncio.open_connection(host, port, ssl=trusted)
