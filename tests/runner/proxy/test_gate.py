"""What goes through the key proxy, and what does not: real HTTP on both sides."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

from convoy.model.records import Limits, Price
from runner.engines.engine_events import Error
from runner.proxy.proxy_protocol import Dialect, Refused
from tests.runner.proxy.attacks import BODIES, PATHS
from tests.runner.proxy.vendor import KEY, TOKEN, Vendor, proxied, serving
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
    async with proxied() as way:
        for name in ("evil.example", "127.0.0.1.evil.example", "[::1", ""):
            shown = {"Host": name, "x-api-key": TOKEN}
            assert (await way.post(CALL, headers=shown)).status == 421, name

    assert way.vendor.asked == []


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
    async with proxied(dialect, bearer=bearer) as way:
        headers = dict([given, ("User-Agent", "mine"), *UNWANTED.items()])
        path = f"{PATHS[dialect]}?key={TOKEN}"
        got = await way.post(BODIES[dialect], path, headers)
        assert (got.status, got.text) == (200, "{}")
        assert got.headers["X-Request-Id"] == "1"
        assert "X-Theirs" not in got.headers

    (asked,) = way.vendor.asked
    name, value = sent or ("Authorization", f"Bearer {KEY}")
    assert asked.headers[name] == value
    assert asked.headers["User-Agent"] == "mine"
    assert asked.query_string == ""
    assert [json.loads(each) for each in way.vendor.bodies] == [BODIES[dialect]]
    assert not UNWANTED.keys() & asked.headers.keys()
    assert TOKEN not in f"{asked.headers}{asked.rel_url}"


async def test_of_an_account_the_vendor_hears_from_the_proxy_alone() -> None:
    name, vendor = "chatgpt-account-id", Vendor()
    for account in ("acc-1", ""):
        async with proxied("responses", vendor, account=account) as way:
            shown = {name: "another", "x-api-key": TOKEN}
            assert (await way.post(BODIES["responses"], headers=shown)).status == 200

    assert [each.headers.get(name) for each in vendor.asked] == ["acc-1", None]


@looped(*(False, True))
async def test_a_server_that_a_repository_names_is_outside(
    outside: bool,  # noqa: FBT001  a parameter of the table
) -> None:
    async with serving(Vendor()) as vendor:
        named = vendor.url.replace("127.0.0.1", "localhost")
        async with proxied(vendor=vendor, upstream=named, outside=outside) as way:
            got = await way.post(CALL)

    assert got.status == (502 if outside else 200)
    assert ("not on the public internet" in got.text) == outside
    assert bool(vendor.asked) != outside


ELSEWHERE = (
    *("/v1/files", "/v1/messages/batches", "/v1/organizations/users"),
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
    async with proxied(dialect) as way:
        got = await way.post(headers={"x-api-key": KEY})
        assert got.status == 401
        assert got.why == "This key does not belong to this session."  # as theirs
        host, _, port = way.url.removeprefix("http://").rpartition(":")
        body = json.dumps(BODIES[dialect])
        about = f"Host: {host}\r\nx-api-key: {TOKEN}\r\nConnection: close"
        paths = *ELSEWHERE, *({*PATHS.values()} - {PATHS[dialect]}), "/v1/files"
        for path, verb in product(paths, ("GET", "POST")):
            # No client sends such a path as it is: each resolves it first.
            reader, writer = await asyncio.open_connection(host, int(port))
            head = f"{verb} {path} HTTP/1.1\r\n{about}\r\n"
            text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
            writer.write(text.encode())
            status = (await reader.read()).split()[1]
            writer.close()

            assert status in (b"404", b"400", b"421"), path

    assert way.vendor.asked == []
    assert {type(each) for each in way.told} == {Refused}
    assert len(way.told) == len({*way.told})


async def test_a_vendors_no_is_passed_on_and_costs_no_tokens() -> None:
    vendor = Vendor(status=429, pieces=(USAGE,))
    async with proxied(vendor=vendor, limits=Limits(tokens=1)) as way:
        for _ in range(2):
            got = await way.post(CALL)
            assert (got.status, got.text.encode()) == (429, USAGE)

    assert way.gateway.used() == ()


@looped(
    (Limits(model_calls=2), "2 model calls"),
    (Limits(tokens=200), "200 tokens"),
    (Limits(usd=0.2), "$0.20"),
)
async def test_when_a_cap_is_met_no_call_is_let_through(
    limits: Limits, spent: str
) -> None:
    why = f"the session's budget of {spent} is used up"
    vendor = Vendor(pieces=(USAGE,))
    async with proxied(vendor=vendor, limits=limits, price=PRICE) as way:
        for status in (200, 200, 402, 402):
            got = await way.post(CALL)
            assert got.status == status
            assert status == 200 or got.why == f"brat: {why}."

    assert way.told == [Error(kind="budget", message=why)] == [way.gateway.trouble]
    assert way.gateway.over
    assert len(vendor.asked) == 2
    assert [each.input_tokens for each in way.gateway.used()] == [140]
    assert way.gateway.sum().calls == 2


@looped((Limits(tokens=1), 1), (Limits(tokens=350), 4), (Limits(usd=0.35), 4))
async def test_calls_at_once_do_not_overshoot_a_cap_by_more_than_one(
    limits: Limits, let_in: int
) -> None:
    vendor, most = Vendor(pieces=(USAGE,)), CALL | {"max_tokens": 60}
    async with proxied(vendor=vendor, limits=limits, price=PRICE) as way:
        found = await asyncio.gather(*(way.post(most) for _ in range(30)))

    assert len(vendor.asked) == let_in
    statuses = sorted(each.status for each in found)
    assert statuses == [200] * let_in + [402] * (30 - let_in)


async def test_bodies_that_do_not_end_fill_no_memory() -> None:
    part, rest = bytes(60_000_000), bytes(20_000_000)
    async with proxied() as way:
        sent = asyncio.Semaphore(0)

        async def endless() -> AsyncIterator[bytes]:
            yield part
            sent.release()
            await asyncio.Event().wait()

        held = [asyncio.create_task(way.post(endless())) for _ in range(3)]
        for _ in held:
            await sent.acquire()
        got = await way.post(rest)
        assert got.status == 503
        assert json.loads(got.text)["error"]["type"] == "overloaded_error"
        assert "All requests at once may have at most" in got.why
        for each in held:
            each.cancel()
        async with asyncio.timeout(patient(20)):
            while got.status == 503:  # it learns of the ends by and by
                got = await way.post(rest)

    assert (got.status, way.vendor.asked) == (400, [])


async def test_the_vendor_is_reached_by_the_machines_own_way(tmp_path: Path) -> None:
    host = "model.example.test"
    async with (
        serving(Vendor()) as vendor,
        tls_before(urlsplit(vendor.url).port or 0, tmp_path, host) as (port, authority),
        connect_proxy(port, f"{host}:443") as above,
    ):
        person = f"http://{above.person}@127.0.0.1:{above.port}"
        env = {"HTTPS_PROXY": person, "SSL_CERT_FILE": str(authority)}
        async with proxied(
            vendor=vendor, upstream=f"https://{host}", offered=env
        ) as way:
            answered = await way.post(CALL)

    assert (answered.status, answered.text) == (200, "{}")
    assert len(above.heads) == 1
    assert vendor.asked[0].headers["x-api-key"] == KEY
