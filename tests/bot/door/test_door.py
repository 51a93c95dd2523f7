"""The webhook door, knocked at over HTTP."""

import asyncio
import gzip
import hashlib
import hmac
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from bot.door.listening import ConnectionLimits, client_at, listening
from bot.door.webhooks import BODY_BYTES, WEBHOOK_PATH, Door, signed
from bot.settings.hosts import Origins
from tests.bot.door_client import (
    ASKED,
    GUID,
    PREVIOUS,
    SECRET,
    DoorClient,
    built,
    labelled,
    signature,
)
from tests.world.cases import looped
from tests.world.patience import patient


@pytest.fixture
async def sender(tmp_path: Path) -> AsyncIterator[DoorClient]:
    async with built(tmp_path) as sender:
        yield sender


async def test_a_labelled_issue_is_frozen_in_the_inbox(sender: DoorClient) -> None:
    named = {"full_name": "Octo/Project"}  # whose case does not matter
    answer = await sender.deliver(labelled(repository=named))

    assert answer.status_code == 202
    assert sender.inbox.requests() == {GUID: ASKED}
    assert sender.wake.take() == {"issues"}

    for event in ("installation", "installation_repositories"):
        answer = await sender.deliver({"action": "created"}, X_GitHub_Event=event)
        assert answer.status_code == 202
    assert sender.roster == ["changed"] * 2


@looped(
    None,
    "",
    "sha256=",
    signature(b"another body"),
    signature(json.dumps(labelled()).encode(), "another secret"),
    signature(json.dumps(labelled()).encode()).removeprefix("sha256="),
    signature(json.dumps(labelled()).encode()).upper(),
    signature(json.dumps(labelled()).encode()) + "0",
    b"sha256=\xe9",
    "sha256=é".encode(),
)
async def test_without_the_right_signature_nobody_comes_in(
    given: str | bytes | None, sender: DoorClient
) -> None:
    """Though the older one is right."""
    body = json.dumps(labelled()).encode()
    mac = hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()

    answer = await sender.send(
        body, X_Hub_Signature_256=given, X_Hub_Signature=f"sha1={mac}"
    )

    assert answer.status_code == 401
    assert (sender.inbox.requests(), sender.wake.take()) == ({}, frozenset())


@looped("gzip", "deflate", "br", "identity, gzip", "")
async def test_an_encoded_body_is_refused_before_it_is_decoded(
    encoding: str, sender: DoorClient
) -> None:
    bomb = gzip.compress(bytes(2 * BODY_BYTES))

    for body in (bomb, b"not encoded at all"):
        answer = await sender.send(body, Content_Encoding=encoding)

        assert answer.status_code == 415
        assert "without a Content-Encoding" in answer.text


def test_a_signature_is_githubs() -> None:
    # https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    given = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

    assert signed(["It's a Secret to Everybody"], b"Hello, World!", given)
    assert not signed(["It's a Secret to Everybody"], b"Hello, World?", given)


async def test_the_secret_before_is_taken_while_it_is_being_changed(
    sender: DoorClient,
) -> None:
    body = json.dumps(labelled()).encode()

    answer = await sender.send(body, X_Hub_Signature_256=signature(body, PREVIOUS))

    assert answer.status_code == 202
    assert sender.inbox.requests() == {GUID: ASKED}


def test_a_door_without_a_secret_is_not_built_and_none_is_shown(
    sender: DoorClient,
) -> None:
    for secrets in ((), ("",), ("a-secret", "")):
        with pytest.raises(ValueError, match="there is no webhook secret"):
            Door(secrets=secrets, place=lambda _: None)
    assert SECRET not in repr(sender.door)
    assert PREVIOUS not in repr(sender.door)


async def test_only_json_of_a_fair_size_is_read(sender: DoorClient) -> None:
    form = "application/x-www-form-urlencoded"
    body = b"payload=" + json.dumps(labelled()).encode()

    answer = await sender.send(body, Content_Type=form)
    large = await sender.send(b" " * 25_000_001)

    assert (answer.status_code, large.status_code) == (415, 413)
    assert "application/json" in answer.json()["message"]


async def test_what_cannot_be_kept_is_to_be_sent_again(
    sender: DoorClient, tmp_path: Path
) -> None:
    (tmp_path / "inbox").rmdir()

    answer = await sender.deliver(labelled())

    assert answer.status_code == 503
    assert "send it again later" in answer.json()["message"]


@looped(
    {"repository": {"full_name": "octo/other"}},
    {"repository": {"full_name": "octo/project2"}},
    {"repository": None},
)
async def test_another_repository_wakes_nobody(
    given: dict[str, object], sender: DoorClient
) -> None:
    answer = await sender.deliver(labelled(**given))

    assert answer.status_code == 202
    assert (sender.inbox.requests(), sender.wake.take()) == ({}, frozenset())


async def test_it_says_whether_it_can_work(sender: DoorClient) -> None:
    assert (await sender.client.get("/readyz")).status_code == 200

    sender.trouble.append("the App's key is refused")
    answer = await sender.client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == {"message": "the App's key is refused"}
    assert (await sender.client.get("/healthz")).status_code == 200


# --- no body, however made, makes the door fail ---------------------------------------


@looped(
    *(b"", b"{", b"null", b"[]", b"7", b"\xff\xfe", b"payload=%7B%7D"),
    b"[" * 100_000,
    b'{"issue":{"number":' + b"9" * 5_000 + b"}}",
    json.dumps(labelled(issue={"number": 7, "title": "\ud800"})).encode(),
    json.dumps(labelled(issue={"number": "seven"})).encode(),
)
async def test_what_is_no_delivery_is_400(body: bytes, sender: DoorClient) -> None:
    answer = await sender.send(body)

    assert answer.status_code == 400
    assert sender.inbox.requests() == {}


@looped(
    ("X-GitHub-Event", None),
    *(("X-GitHub-Delivery", guid) for guid in ("", "..", "../x", "a/b", "/a", "a b")),
    *(("X-GitHub-Delivery", guid) for guid in ("a.json", "x" * 65, "é")),
)
async def test_a_delivery_without_an_event_or_githubs_id_is_400(
    header: str, given: str | None, sender: DoorClient
) -> None:
    body = json.dumps(labelled()).encode()
    answer = await sender.send(body, **{header.replace("-", "_"): given})

    assert answer.status_code == 400
    assert header in answer.json()["message"]
    assert sender.inbox.requests() == {}


# --- clients that take and do not give: each succeeded against a door without limits --

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

    async def take(request: web.Request) -> web.Response:
        return web.Response(text=f"{len(await request.read())} bytes\n")

    async def work(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await asyncio.Event().wait()
        return answer

    app = web.Application()
    app.router.add_get("/", answer)
    app.router.add_get("/work", work)
    app.router.add_post("/", take)
    app.router.add_get("/unread", unread)
    async with listening(app, "127.0.0.1", 0, limits=limits) as port:
        yield port


async def said(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(patient(20)):
        try:
            return await reader.read()
        except ConnectionError:
            return b""


POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"


@looped(
    (ConnectionLimits(head_s=0.1), b"", 0),
    (ConnectionLimits(head_s=0.1), b"GET / HT", 0),
    (ConnectionLimits(head_s=0.1), b"GET / HTTP/1.1\r\nHost: localhost\r\nA:", 0),
    (ConnectionLimits(body_s=0.1), POST, 0),
    (ConnectionLimits(idle_s=0.1), GET + b"GET / HTTP/1.1\r\nSlow:", 1),
)
async def test_what_does_not_come_is_not_waited_for(
    limits: ConnectionLimits, sent: bytes, answers: int
) -> None:
    async with served(limits) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)

        heard = await said(reader)
        writer.close()

    assert heard.count(b"200 OK") == answers
    assert bool(heard) == bool(answers)


async def test_where_every_connection_is_answered_no_more_come_in() -> None:
    async with served(ConnectionLimits(connections=2)) as port:
        working = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in working:
            writer.write(GET.replace(b"/ ", b"/work "))
        for reader, _ in working:
            assert b"200 OK" in await reader.readline()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        assert await said(reader) == b""
        assert not any(each.at_eof() for each, _ in working)

        for one in (writer, *(each for _, each in working)):
            one.close()


async def test_requests_that_come_together_begin_one_in_each_turn_of_the_loop() -> None:
    began, turns, ended = list[int](), 0, False
    loop = asyncio.get_running_loop()

    def count() -> None:
        nonlocal turns
        turns += 1
        if not ended:
            loop.call_soon(count)

    async def note(_: web.Request) -> web.Response:
        began.append(turns)
        return web.Response(text="here\n")

    app = web.Application()
    app.router.add_get("/", note)
    async with listening(app, "127.0.0.1", 0) as port:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        count()
        for _, writer in opened:
            writer.write(GET)
        for reader, writer in opened:
            assert b"200 OK" in await reader.readline()
            writer.close()
        ended = True

    assert len({*began}) == len(began) == 20


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
    head = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Content-Length: 1000000\r\n\r\n"
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(built(tmp_path))
        url, unfinished = door.client.base_url, list[asyncio.StreamReader]()
        for _ in range(100):
            reader, writer = await asyncio.open_connection(url.host, url.port)
            stack.callback(writer.close)
            writer.write(head.encode() + b"x" * 999_999)
            await writer.drain()
            unfinished.append(reader)

        async with asyncio.timeout(patient(20)):
            first = await unfinished[0].readline()
        answer = await door.deliver(labelled())

        assert first.split()[1] == b"503"
        assert sum(door.door.received.of.values()) <= 64_000_000
        assert answer.status_code == 202


@looped(
    ("192.0.2.7", "192.0.2.7"),
    ("::ffff:192.0.2.7", "192.0.2.7"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("fe80::1%eth0", "fe80::/64"),
    ("127.0.0.1", ""),
    ("::1", ""),
    ("", ""),
    ("not an address", ""),
)
def test_a_client_is_an_address_or_a_subscribers_network(
    address: str, client: str
) -> None:
    assert client_at(address) == client


def post(more: str, body: str) -> bytes:
    head = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


@looped(
    b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
    post("Content-Encoding: br\r\n", "bogus"),
    post("Content-Encoding: gzip\r\n", "bogus"),
    post("", "{}"),
)
async def test_a_refusal_is_no_line_in_the_log(
    knock: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with built(tmp_path) as door:
        url = door.client.base_url
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(knock)
        assert b" 4" in await reader.readline()
        writer.close()

    assert caplog.records == []


# --- deliveries from other networks are turned away before they are read --------------

HOOKS = (ip_network("192.30.252.0/22"), ip_network("2a0a:a440::/29"))
GITHUB = "192.30.252.7"


@looped(
    ([GITHUB], 1, True),
    ([f"198.51.100.1, {GITHUB}"], 1, True),
    ([f"{GITHUB}, 198.51.100.1"], 1, False),
    ([GITHUB, "198.51.100.1"], 1, False),
    ([f"{GITHUB}, 10.0.0.1"], 2, True),
    ([GITHUB], 2, False),
    ([], 1, False),
    (["", ","], 1, False),
    ([f"{GITHUB};drop"], 1, False),
)
def test_behind_proxies_only_theirs_is_believed(
    forwarded: list[str], proxies: int, *, may: bool
) -> None:
    origins = Origins(networks=HOOKS, proxies=proxies)
    assert origins.allow("10.0.0.9", forwarded) is may


@looped(
    (Origins(networks=HOOKS), 403),
    (Origins(networks=HOOKS, proxies=1), 403),
    (Origins(networks=(ip_network("127.0.0.0/8"),)), 401),
    (Origins(), 401),
)
async def test_the_door_answers_403(
    origins: Origins, status: int, client: httpx.AsyncClient
) -> None:
    secrets = ("made-up-secret",)
    door = Door(secrets=secrets, place=lambda _: None, origins=origins)
    async with listening(door.application(), "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        answer = await client.post(url + WEBHOOK_PATH, content=b"x" * 2_000_000)

        assert answer.status_code == status
        assert (await client.get(f"{url}/healthz")).status_code == 200
