"""Runs the proxy's servers, from the first call on."""

import asyncio
import os
import signal
import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from runner.proxy.egress_hosts import services
from runner.proxy.proxy_protocol import ProxyOrder, Told
from runner.proxy.server.egress_server import Egress


def run(order: bytes, listening: Sequence[int]) -> None:
    """Serve until the witness is gone, beginning with calls that already wait.

    Args:
        order: a `runner.proxy.proxy_protocol.ProxyOrder`, as JSON.
        listening: sockets, which it takes over: for the model, for all other hosts, and
            for each service of this machine that may be reached.
    """
    sockets = [socket.socket(fileno=each) for each in listening]
    asyncio.run(_serve(msgspec.json.decode(order, type=ProxyOrder), *sockets))


async def _serve(
    order: ProxyOrder, model: socket.socket, *others: socket.socket
) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(0, ended.set)  # no other input comes, so this is its end
    async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        if order.model is not None:
            from aiohttp.web_server import Server  # not for a proxy without a model

            from runner.proxy.server.model_server import Gate, session

            client = await stack.enter_async_context(session())
            gate = Gate(order.model, order.caps, client, _tell)
            server = Server(gate.handle, auto_decompress=False, access_log=None)
            stack.push_async_callback(server.shutdown, 0.1)
            served = await loop.create_server(server, sock=model)
            stack.callback(served.close)
        if order.egress is not None:
            listed, own = order.egress, model.getsockname()[1]
            # Some programs ask a proxy for everything, their model included.
            known = (*listed, f"127.0.0.1:{own}") if order.model else listed
            egress = Egress(known, _tell, group)
            stack.callback(egress.close)
            for each in await _ways_out(egress, services(listed), *others):
                stack.callback(each.close)
        await ended.wait()


async def _ways_out(
    egress: Egress, ports: Sequence[int], world: socket.socket, *local: socket.socket
) -> list[asyncio.Server]:
    served = [await egress.serve(world)]
    for port, each in zip(ports, local, strict=False):  # none where it has no network
        served.append(await egress.relay(port, each))
    return served


def _tell(told: Told) -> None:
    """Send one message to the witness."""
    os.write(1, msgspec.json.encode(told) + b"\n")
