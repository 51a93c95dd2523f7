"""Clients that take and do not give: each succeeded against a door without limits."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.door.listening import (
    REFUSALS_MOST,
    ConnectionLimits,
    RefusalLog,
    client_at,
    listening,
)
from bot.door.received_body import BytesInFlight
from bot.door.webhooks import WEBHOOK_PATH
from tests.bot.door_client import DoorClient, built, labelled
from tests.world.cases import looped
from tests.world.patience import patient

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@asynccontextmanager
async def served(limits: ConnectionLimits) -> AsyncIterator[int]:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="here\n")

    async def unread(request: web.Request) -> web.Response:
        assert request.transport is not None
        own = request.transport.get_extra_info("socket")
        option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux only
        set_ms = own.getsockopt(socket.IPPROTO_TCP, option) if option else 7000
        return web.Response(text=f"unread for {set_ms} ms\n")

    app = web.Application()
    app.router.add_get("/", answer)
    app.router.add_get("/unread", unread)
    async with listening(app, "127.0.0.1", 0, limits=limits) as port:
        yield port


async def said(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the other side closes."""
    async with asyncio.timeout(patient(20)):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


@pytest.mark.parametrize(
    "first", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\nA:"]
)
async def test_a_request_that_does_not_come_is_not_waited_for(first: bytes) -> None:
    async with served(ConnectionLimits(head_s=0.1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)

        assert await said(reader) == b""

        writer.close()


async def test_a_connection_that_is_used_no_more_is_closed() -> None:
    async with served(ConnectionLimits(idle_s=0.1)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET + b"GET / HTTP/1.1\r\nSlow:")

        assert (await said(reader)).count(b"200 OK") == 1

        writer.close()


async def test_the_connection_unused_for_the_longest_makes_room() -> None:
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(served(ConnectionLimits(connections=20)))
        idle = []
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(writer.close)
            idle.append(reader)
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(writer.close)
            writer.write(GET)
            assert b"200 OK" in await reader.readline()

        assert [await said(each) for each in idle[:3]] == [b""] * 3
        assert not idle[-1].at_eof()


async def test_a_response_that_nobody_reads_is_given_up_by_the_kernel() -> None:
    async with served(ConnectionLimits(unread_s=7)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            GET.replace(b"/ ", b"/unread ").replace(
                b"localhost", b"localhost\r\nConnection: close"
            )
        )

        assert b"unread for 7000 ms" in await said(reader)

        writer.close()


async def test_unfinished_bodies_fill_no_memory_and_keep_nobody_out(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(built(tmp_path))
        unfinished = [await _unfinished(stack, door, 1_000_000) for _ in range(100)]

        async with asyncio.timeout(patient(20)):
            first = await unfinished[0].readline()
        answer = await door.deliver(labelled())

        assert first.split()[1] == b"503"
        assert door.door.received.held <= 64_000_000
        assert answer.status_code == 202


async def _unfinished(
    stack: AsyncExitStack, door: DoorClient, size: int
) -> asyncio.StreamReader:
    url = door.client.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    stack.callback(writer.close)
    writer.write(f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n".encode())
    writer.write(f"Content-Length: {size}\r\n\r\n".encode() + b"x" * (size - 1))
    await writer.drain()
    return reader


def test_one_client_makes_room_for_itself_and_for_no_other() -> None:
    given_up: list[str] = []
    bodies = BytesInFlight(total=100, per_client=60)
    with (
        bodies.receiving("greedy", lambda: given_up.append("first")) as first,
        bodies.receiving("modest", lambda: given_up.append("modest")) as modest,
        bodies.receiving("greedy", lambda: given_up.append("second")) as second,
    ):
        bodies.add(first, 40)
        bodies.add(modest, 20)
        bodies.add(second, 30)

        assert given_up == ["first"]
        assert (bodies.held, first.given_up) == (50, True)

    assert bodies.held == 0


def test_where_all_are_told_apart_badly_the_oldest_body_makes_room() -> None:
    given_up: list[str] = []
    bodies = BytesInFlight(total=100)
    with (
        bodies.receiving("", lambda: given_up.append("empty")),
        bodies.receiving("", lambda: given_up.append("oldest")) as oldest,
        bodies.receiving("", lambda: given_up.append("newest")) as newest,
    ):
        bodies.add(oldest, 60)
        bodies.add(newest, 60)

    assert given_up == ["oldest"]


@looped(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("", ""),
        ("not an address", ""),
    ],
)
def test_a_client_is_an_address_or_a_subscribers_network(
    address: str, client: str
) -> None:
    assert client_at(address) == client


def post(more: str, body: str) -> bytes:
    head = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize(
    "knock",
    [
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        post("Content-Encoding: br\r\n", "bogus"),
        post("Content-Encoding: gzip\r\n", "bogus"),
        post("", "{}"),
    ],
)
async def test_a_refusal_is_one_line_for_each_client(
    knock: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with built(tmp_path) as door:
        url = door.client.base_url
        for _ in range(20):
            reader, writer = await asyncio.open_connection(url.host, url.port)
            writer.write(knock)
            assert b" 4" in await reader.readline()
            writer.close()

    (line,) = caplog.records
    assert line.getMessage().startswith("refused: client='127.0.0.1' 4")
    assert line.exc_info is None


def test_refusals_of_any_number_of_clients_are_so_many_lines_an_hour(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    log = RefusalLog(lambda: now)
    for number in range(3 * REFUSALS_MOST):
        log.say(f"192.0.2.{number}", "401 Unauthorized")
    assert len(caplog.records) == REFUSALS_MOST
    assert "not logged for an hour" in caplog.messages[-1]

    now = 3_600.0
    log.say("192.0.2.1", "401 Unauthorized")

    assert len(caplog.records) == REFUSALS_MOST + 1
