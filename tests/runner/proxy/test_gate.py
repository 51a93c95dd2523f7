"""What goes through the key proxy, and what does not: real HTTP on both sides."""

import asyncio
import json
from collections.abc import AsyncIterator
from io import BytesIO
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import ClientSession

from convoy.model.records import Limits, Price
from runner.engines.engine_events import Error
from runner.proxy.proxy_protocol import Dialect, Refused
from tests.runner.proxy.attacks import BODIES, PATHS
from tests.runner.proxy.vendor import KEY, TOKEN, Vendor, client, heard, proxy, serving
from tests.world.cases import looped
from tests.world.patience import patient
from tests.world.tls import connect_proxy, tls_before

CALL = BODIES["anthropic"]
UNWANTED = {
    "Cookie": "a=b",
    "X-HTTP-Method-Override": "DELETE",
    "X-Goog-User-Project": "dearest",
    "OpenAI-Organization": "another",
    "OpenAI-Project": "another",
    "Forwarded": "for=evil",
}
PRICE = Price(input=1000.0, output=1000.0)
USAGE = b'{"model":"m","usage":{"input_tokens":70,"output_tokens":30}}'


async def test_by_another_name_nothing_is_asked() -> None:
    async with serving(Vendor()) as vendor, ClientSession() as session:
        with proxy(vendor.url, "anthropic") as (_, url):
            for name in ("evil.example", "127.0.0.1.evil.example", "[::1", ""):
                path = url + PATHS["anthropic"]
                shown = {"Host": name, "x-api-key": TOKEN}
                async with session.post(path, headers=shown, json=CALL) as got:
                    assert got.status == 421, name

    assert vendor.asked == []


@looped(
    ("anthropic", False, ("x-api-key", TOKEN), ("x-api-key", KEY)),
    ("anthropic", True, ("Authorization", f"Bearer {TOKEN}"), None),
    ("chat", False, ("Authorization", f"Bearer {TOKEN}"), None),
    ("responses", False, ("Authorization", f"Bearer {TOKEN}"), None),
    ("gemini", False, ("x-goog-api-key", TOKEN), ("x-goog-api-key", KEY)),
)
async def test_the_key_goes_to_the_vendor_where_its_dialect_wants_it(
    dialect: Dialect,
    bearer: bool,  # noqa: FBT001  a parameter of the table
    given: tuple[str, str],
    sent: tuple[str, str] | None,
) -> None:
    async with serving(Vendor()) as vendor, ClientSession() as session:
        with proxy(vendor.url, dialect, bearer=bearer) as (_, url):
            headers = dict([given, ("User-Agent", "mine"), *UNWANTED.items()])
            path, body = f"{PATHS[dialect]}?key={TOKEN}", BODIES[dialect]
            async with session.post(url + path, headers=headers, json=body) as got:
                assert (got.status, await got.read()) == (200, b"{}")
                assert got.headers["X-Request-Id"] == "1"
                assert "X-Theirs" not in got.headers

    (asked,) = vendor.asked
    name, value = sent or ("Authorization", f"Bearer {KEY}")
    assert asked.headers[name] == value
    assert asked.headers["User-Agent"] == "mine"
    assert asked.query_string == ""
    assert [json.loads(each) for each in vendor.bodies] == [BODIES[dialect]]
    assert not UNWANTED.keys() & asked.headers.keys()
    assert TOKEN not in f"{asked.headers}{asked.rel_url}"


async def test_of_an_account_the_vendor_hears_from_the_proxy_alone() -> None:
    name = "chatgpt-account-id"
    async with serving(Vendor()) as vendor, client() as session:
        for account in ("acc-1", ""):
            given = {"account": account}
            with proxy(vendor.url, "responses", changes=given) as (_, url):
                path, body = url + PATHS["responses"], BODIES["responses"]
                post = session.post(path, json=body, headers={name: "another"})
                async with post as got:
                    assert got.status == 200

    assert [each.headers.get(name) for each in vendor.asked] == ["acc-1", None]


@looped(*(False, True))
async def test_a_server_that_a_repository_names_is_outside(
    outside: bool,  # noqa: FBT001  a parameter of the table
) -> None:
    async with serving(Vendor()) as vendor, client() as session:
        named = vendor.url.replace("127.0.0.1", "localhost")
        with proxy(named, changes={"outside": outside}) as (_, url):
            async with session.post(url + PATHS["anthropic"], json=CALL) as got:
                assert got.status == (502 if outside else 200)
                said = await got.text()

    assert ("not on the public internet" in said) == outside
    assert bool(vendor.asked) != outside


async def test_what_makes_no_model_answer_is_refused_and_told_once() -> None:
    paths = (
        *("/v1/files", "/v1/messages/batches", "/v1/organizations/users"),
        *("/v1/messages/../files", "/v1/chat/completions", "//v1/messages"),
    )
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url) as (gateway, url):
            told = heard(gateway)
            for path in (*paths, *paths):
                async with session.post(url + path) as got:
                    assert got.status == 404, path

    assert {type(each) for each in told} == {Refused}
    assert len(told) == len({*told})
    assert vendor.asked == []


ELSEWHERE = (
    *("/v1/models/../files", "/v1/models/..", "/v1/models/a/../../files"),
    *("/v1/models/%2e%2e/files", "/v1/models/%2E./files", "/v1/models/..%2ffiles"),
    *("/v1/models/.", "/v1/models//files", "/v1//models", "/v1/models/"),
    *("/v1/models/..%5cfiles", "/v1/models\\..\\files", "/v1/models/%252e%252e/x"),
    *("/v1/models/..?after=a", "/v1/models/../models", "http://x/v1/models/../y"),
    *("/v1/messages/", "/v1/messages?beta=false", "/v1/messages;a", "/v1/messages#a"),
    *("/v1/messages?service_tier=priority", "/v1/messages/count_tokens/x"),
    *("/v1/%6dessages", "/v1/messages%20", "/V1/messages", "*"),
    *("http://evil.example/v1/messages", "//evil.example/v1/messages"),
)


@looped(*PATHS)
async def test_no_other_token_and_no_path_that_leads_elsewhere_leaves(
    dialect: Dialect,
) -> None:
    async with serving(Vendor()) as vendor, ClientSession() as session:
        with proxy(vendor.url, dialect) as (_, url):
            headers = {"x-api-key": KEY}
            async with session.post(url + PATHS[dialect], headers=headers) as got:
                assert got.status == 401
                told = (await got.json())["error"]["message"]  # as the vendor would
            assert told == "This key does not belong to this session."
            host, _, port = url.removeprefix("http://").rpartition(":")
            body = json.dumps(BODIES[dialect])
            about = f"Host: {host}\r\nx-api-key: {TOKEN}\r\nConnection: close"
            for path, verb in product(ELSEWHERE, ("GET", "POST")):
                # No client sends such a path as it is: each resolves it first.
                reader, writer = await asyncio.open_connection(host, int(port))
                head = f"{verb} {path} HTTP/1.1\r\n{about}\r\n"
                text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
                writer.write(text.encode())
                status = (await reader.read()).split()[1]
                writer.close()

                assert status in (b"404", b"400", b"421"), path

    # A session of an earlier test may still send its output to a port used again.
    assert not [each.path for each in vendor.asked if "/feed/" not in each.path]


async def test_a_vendors_no_is_passed_on_and_costs_no_tokens() -> None:
    vendor = Vendor(status=429, pieces=(USAGE,))
    async with serving(vendor), client() as session:
        with proxy(vendor.url, limits=Limits(tokens=1)) as (gateway, url):
            for _ in range(2):
                async with session.post(f"{url}/v1/messages", json=CALL) as got:
                    assert (got.status, await got.read()) == (429, USAGE)

    assert gateway.used() == ()


@looped(
    (Limits(model_calls=2), "2 model calls"),
    (Limits(tokens=200), "200 tokens"),
    (Limits(usd=0.2), "$0.20"),
)
async def test_when_a_cap_is_met_no_call_is_let_through(
    limits: Limits, spent: str
) -> None:
    why = f"the session's budget of {spent} is used up"
    async with serving(Vendor(pieces=(USAGE,))) as vendor, client() as session:
        with proxy(vendor.url, limits=limits, price=PRICE) as (gateway, url):
            told = heard(gateway)
            for status in (200, 200, 402, 402):
                async with session.post(f"{url}/v1/messages", json=CALL) as got:
                    assert got.status == status
                    assert (
                        status == 200 or f'"message":"brat: {why}."' in await got.text()
                    )

    assert told == [Error(kind="budget", message=why)] == [gateway.trouble]
    assert gateway.over
    assert len(vendor.asked) == 2
    assert [each.input_tokens for each in gateway.used()] == [140]
    assert gateway.sum().calls == 2


@looped((Limits(tokens=1), 1), (Limits(tokens=350), 4), (Limits(usd=0.35), 4))
async def test_calls_at_once_do_not_overshoot_a_cap_by_more_than_one(
    limits: Limits, let_in: int
) -> None:
    vendor = Vendor(pieces=(USAGE,))
    async with serving(vendor), client() as session:
        with proxy(vendor.url, limits=limits, price=PRICE) as (_, url):

            async def call() -> int:
                most = CALL | {"max_tokens": 60}
                async with session.post(f"{url}/v1/messages", json=most) as got:
                    await got.read()
                    return got.status

            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(call()) for _ in range(30)]

    assert len(vendor.asked) == let_in
    statuses = sorted(each.result() for each in calls)
    assert statuses == [200] * let_in + [402] * (30 - let_in)


async def test_bodies_that_do_not_end_fill_no_memory() -> None:
    part, rest = bytes(60_000_000), bytes(20_000_000)
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url) as (_, url):

            async def endless(sent: asyncio.Semaphore) -> None:
                async def body() -> AsyncIterator[bytes]:
                    yield part
                    sent.release()
                    await asyncio.Event().wait()

                await session.post(f"{url}/v1/messages", data=body())

            sent = asyncio.Semaphore(0)
            held = [asyncio.create_task(endless(sent)) for _ in range(3)]
            for _ in held:
                await sent.acquire()
            async with session.post(f"{url}/v1/messages", data=BytesIO(rest)) as got:
                assert got.status == 503
                told = (await got.json())["error"]
            assert told["type"] == "overloaded_error"
            assert "All requests at once may have at most" in told["message"]
            for each in held:
                each.cancel()
            async with asyncio.timeout(patient(20)):
                status = 503
                while status == 503:  # it learns of the ends by and by
                    async with session.post(
                        f"{url}/v1/messages", data=BytesIO(rest)
                    ) as got:
                        status = got.status

    assert (status, vendor.asked) == (400, [])


async def test_a_body_that_would_be_many_times_its_size_in_memory_is_not_read() -> None:
    body = b'{"messages":[' + b"[]," * 2_000_000 + b"[]]}"
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url) as (_, url):
            async with session.post(f"{url}/v1/messages", data=BytesIO(body)) as got:
                assert got.status == 400
                assert "of too many parts" in await got.text()


async def test_the_vendor_is_reached_by_the_machines_own_way(tmp_path: Path) -> None:
    host = "model.example.test"
    async with (
        serving(Vendor()) as vendor,
        tls_before(urlsplit(vendor.url).port or 0, tmp_path, host) as (port, authority),
        connect_proxy(port, f"{host}:443") as way,
        client() as session,
    ):
        above, trusted = f"http://{way.person}@127.0.0.1:{way.port}", str(authority)
        with proxy(f"https://{host}", HTTPS_PROXY=above, SSL_CERT_FILE=trusted) as (
            _,
            url,
        ):
            async with session.post(url + PATHS["anthropic"], json=CALL) as got:
                answered = (got.status, await got.read())

    assert answered == (200, b"{}")
    assert len(way.heads) == 1
    assert vendor.asked[0].headers["x-api-key"] == KEY
