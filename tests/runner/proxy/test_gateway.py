"""What an agent may ask its model's vendor for, and what it may not: real HTTP."""

import asyncio
import gzip
import json
import select

import pytest
from aiohttp import ClientPayloadError, ClientSession

from convoy.model.records import Limits
from runner.proxy.proxy_protocol import Dialect, Refused
from runner.proxy.request_rules import Allowances, RequestRefused, check, route_of
from runner.session.proxy_client import ProxyClient
from tests.runner.proxy.attacks import ATTACKS, BODIES, MODEL, PATHS, attacked
from tests.runner.proxy.vendor import Vendor, client, heard, proxy, serving
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth, patient

pytestmark = pytest.mark.layer("landing")

GZIP = {"Content-Encoding": "gzip"}


async def posted(session: ClientSession, url: str, body: object) -> tuple[int, str]:
    """Return the status, and what the error says if it is one."""
    async with session.post(url, json=body) as got:
        said = await got.json()
        return got.status, said.get("error", {}).get("message", "")


async def counted(gateway: ProxyClient) -> None:
    async with asyncio.timeout(patient(20)):
        while not gateway.sum().calls:
            await asyncio.to_thread(select.select, [gateway], [], [], patient(20))
            gateway.take()


@pytest.mark.parametrize("dialect", ATTACKS)
async def test_a_request_that_leads_out_or_costs_more_never_leaves(
    dialect: Dialect,
) -> None:
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, dialect, models=(MODEL,)) as (gateway, url):
            told = heard(gateway)
            for attack in ATTACKS[dialect]:
                body = attacked(dialect, attack)
                status, why = await posted(session, url + PATHS[dialect], body)
                assert (attack, vendor.asked, status) == (attack, [], 400)
                fact = attack.partition("; ")[0]
                named = f"{fact}. To", f"{fact.partition('=')[0]} (Expected "
                said = why.removeprefix("brat does not forward a request with ")
                assert said.startswith(named), attack
            smallest = BODIES[dialect]
            assert (await posted(session, url + PATHS[dialect], smallest))[0] == 200

    assert {type(each) for each in told} == {Refused}
    assert [json.loads(each) for each in vendor.bodies] == [smallest], "as it is"


@looped(
    ("anthropic", "made_up` - at `$"),
    ("anthropic", "-"),
    ("chat", " - at `$ "),
)
def test_a_request_made_to_be_slow_is_refused_in_one_pass(
    dialect: Dialect, piece: str
) -> None:
    route = route_of(dialect, "POST", PATHS[dialect])
    assert route is not None

    def asked(pieces: int) -> None:
        name = piece * pieces + "\n"
        body = {**BODIES[dialect], name: 1}
        with pytest.raises(RequestRefused):
            check(dialect, route, body, (MODEL,), Allowances())
        with pytest.raises(RequestRefused):
            check(dialect, route, {"model": name}, ("*-*-*", MODEL), Allowances())

    assert growth(asked, 1_000) < LINEAR


OPENED: dict[Dialect, dict[str, str]] = {
    "anthropic": {
        "tools[].type=web_search_20250305; tools[].name=a": "",
        "messages[].content[].source.type=url; messages[].content[].type=image": "",
        "speed": "",
        "model=dearest-1": "model=dearest-*",
        "messages[].made_up": "",
    },
    "chat": {"web_search_options": ""},
    "responses": {"store=true": "", "include[]=file_search_call.results": ""},
    "gemini": {"tools[].googleSearch": ""},
}
"""Attacks, with the entries that open them where these are not what they name."""


@looped(*OPENED)
async def test_the_configuration_opens_what_the_refusal_names(dialect: Dialect) -> None:
    opened = {k: v or k.partition("; ")[0] for k, v in OPENED[dialect].items()}
    path, entries = PATHS[dialect], tuple(opened.values())
    bodies = {each: attacked(dialect, each) for each in opened}
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, dialect, models=(MODEL,)) as (_, url):
            for attack, body in bodies.items():
                status, why = await posted(session, url + path, body)
                assert status == 400, attack
                assert "*" in opened[attack] or f'allow = ["{opened[attack]}"]' in why
        with proxy(vendor.url, dialect, models=(MODEL,), allow=entries) as (_, url):
            for body in bodies.values():
                assert await posted(session, url + path, body) == (200, "")
                status, _ = await posted(session, url + path, {**body, "made_up": 1})
                assert status == 400

    assert [json.loads(each) for each in vendor.bodies] == [*bodies.values()]


@looped("bedrock", "vertex")
async def test_where_the_path_names_the_model_the_rest_is_held_to_the_same(
    dialect: Dialect,
) -> None:
    tried = {**BODIES[dialect], "anthropic_beta": ["effort-2025-11-24", "made-up"]}
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, dialect, models=(MODEL,)) as (_, url):
            path = url + PATHS[dialect]
            assert await posted(session, path, tried) == (200, "")
            other = path.replace(MODEL, "another")
            assert (await posted(session, other, tried))[0] == 400
            late = {**tried, "anthropic_version": "made-up"}
            assert (await posted(session, path, late))[0] == 400

    (asked,) = vendor.bodies
    assert json.loads(asked)["anthropic_beta"] == ["effort-2025-11-24"]
    (where,) = (each.path for each in vendor.asked)
    assert PATHS[dialect].endswith(where)
    assert "any" not in where


async def test_one_project_pays_for_all_requests_of_a_session() -> None:
    first = BODIES["code-assist"]
    account = {"metadata": {"pluginType": "GEMINI"}}
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, "code-assist") as (_, url):
            asks = url + "/v1internal:loadCodeAssist"
            assert await posted(session, asks, account) == (200, "")
            path = url + PATHS["code-assist"]
            assert await posted(session, path, first) == (200, "")
            status, why = await posted(session, path, {**first, "project": "dearest"})
            assert (status, "project=dearest" in why) == (400, True)
            other = {**first, "model": "dearest-1"}
            assert (await posted(session, path, other))[0] == 400
            assert await posted(session, path, first) == (200, "")

    assert [json.loads(each) for each in vendor.bodies] == [account, first, first]


STREAM = {**BODIES["anthropic"], "stream": True}
BEGUN = (
    b'data: {"type":"message_start","message":{"model":"m",'
    b'"usage":{"input_tokens":700,"output_tokens":1}}}\n\n'
)
WRITTEN = b'data: {"type":"content_block_delta","delta":"' + b"x" * 4000 + b'"}\n\n'
ENDED = b'data: {"type":"message_delta","usage":{"output_tokens":5000}}\n\n'


async def test_a_stream_that_its_vendor_cuts_costs_what_it_held() -> None:
    vendor = Vendor(kind="text/event-stream", pieces=(BEGUN, WRITTEN), breaks=True)
    async with serving(vendor), client() as session:
        with proxy(vendor.url) as (gateway, url):
            async with session.post(f"{url}/v1/messages", json=STREAM) as got:
                with pytest.raises(ClientPayloadError):
                    await got.read()

    assert gateway.sum().input_tokens == 700
    assert gateway.sum().output_tokens >= 1000


async def test_a_stream_that_its_agent_leaves_costs_what_its_end_says() -> None:
    vendor = Vendor(
        kind="text/event-stream",
        pieces=(BEGUN, WRITTEN, WRITTEN, ENDED),
        gate=asyncio.Semaphore(1),
    )
    async with serving(vendor), client() as session:
        with proxy(vendor.url, limits=Limits(tokens=5000)) as (gateway, url):
            async with session.post(f"{url}/v1/messages", json=STREAM) as got:
                await got.content.readany()
            for _ in range(3):
                vendor.gate.release()
            await counted(gateway)
            status, why = await posted(session, f"{url}/v1/messages", STREAM)

    assert (status, why) == (
        402,
        "brat: the session's budget of 5000 tokens is used up.",
    )
    assert gateway.sum().output_tokens == 5000


async def test_the_count_of_a_requests_tokens_costs_none() -> None:
    body = {"model": MODEL, "messages": BODIES["anthropic"]["messages"]}
    async with serving(Vendor(pieces=(b'{"input_tokens":9}',))) as vendor:
        with proxy(vendor.url) as (gateway, url):
            async with client() as session:
                path = "/v1/messages/count_tokens"
                assert (await posted(session, url + path, body))[0] == 200

    assert gateway.used() == ()


UNREADABLE = {
    "cut": (b'{"model":"pinned-1"', {}),
    "a list": (b"[]", {}),
    "deep list": (b"[" * 100_000, {}),
    "deep object": (b'{"a":' * 100_000, {}),
    "no text": (b"\xff\xfe", {}),
    "compressed": (gzip.compress(json.dumps(BODIES["anthropic"]).encode()), GZIP),
}


async def test_what_cannot_be_read_is_refused() -> None:
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url) as (_, url):
            path = f"{url}/v1/messages"
            for name, (data, headers) in UNREADABLE.items():
                async with session.post(path, data=data, headers=headers) as got:
                    assert got.status == 400, name
                    assert (
                        "brat does not forward a request that is " in await got.text()
                    )

    assert vendor.asked == []


async def test_a_field_that_is_there_twice_is_sent_as_it_was_read() -> None:
    body = json.dumps(BODIES["anthropic"])
    twice = f'{{"model":"dearest-1",{body[1:]}'
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, models=(MODEL,)) as (_, url):
            async with session.post(f"{url}/v1/messages", data=twice) as got:
                assert got.status == 200

    assert b"dearest" not in vendor.bodies[0]


async def test_without_a_model_the_first_that_is_asked_is_the_only_one() -> None:
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, allow=("model=small-*",)) as (_, url):
            asked = ("small-1", MODEL, "dearest-1", MODEL, "small-2")
            found = [
                (await posted(session, f"{url}/v1/messages", body))[0]
                for body in ({**BODIES["anthropic"], "model": name} for name in asked)
            ]

    assert found == [200, 200, 400, 200, 200]


async def test_answers_are_not_stored_where_a_vendor_would_by_itself() -> None:
    body = {"model": MODEL, "input": "hello"}
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url, "responses") as (_, url):
            assert await posted(session, url + PATHS["responses"], body) == (200, "")

    assert json.loads(vendor.bodies[0])["store"] is False


async def test_only_known_trials_of_anthropics_are_passed_on() -> None:
    trials = "claude-code-20250219,mcp-client-2025-11-20, files-api-2025-04-14"
    headers = {"anthropic-beta": trials, "anthropic-version": "2023-06-01"}
    async with serving(Vendor()) as vendor, client() as session:
        with proxy(vendor.url) as (gateway, url):
            told = heard(gateway)
            path, body = f"{url}/v1/messages", BODIES["anthropic"]
            async with session.post(path, json=body, headers=headers) as got:
                assert got.status == 200

    assert vendor.asked[0].headers["anthropic-beta"] == "claude-code-20250219"
    assert [each.what for each in told if isinstance(each, Refused)] == [
        "header:anthropic-beta=mcp-client-2025-11-20, which was left out",
        "header:anthropic-beta=files-api-2025-04-14, which was left out",
    ]
