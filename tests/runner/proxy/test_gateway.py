"""What an agent may ask its model's vendor for, and what it may not: real HTTP."""

import asyncio
import gzip
import json
import select

import pytest
from aiohttp import ClientPayloadError

from convoy.model.records import Limits
from runner.proxy.proxy_protocol import Dialect, Refused
from runner.proxy.request_rules import Allowances, RequestRefused, check, route_of
from tests.runner.proxy.attacks import ATTACKS, BODIES, MODEL, PATHS, attacked
from tests.runner.proxy.vendor import TOKEN, Vendor, Way, proxied
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth, patient

pytestmark = pytest.mark.layer("landing")

GZIP = {"Content-Encoding": "gzip"}


async def counted(way: Way) -> None:
    async with asyncio.timeout(patient(20)):
        while not way.gateway.sum().calls:
            pipe = [way.gateway]
            await asyncio.to_thread(select.select, pipe, [], [], patient(20))
            way.gateway.take()


@pytest.mark.parametrize("dialect", ATTACKS)
async def test_a_request_that_leads_out_or_costs_more_never_leaves(
    dialect: Dialect,
) -> None:
    smallest = BODIES[dialect]
    async with proxied(dialect, models=(MODEL,)) as way:
        for attack in ATTACKS[dialect]:
            got = await way.post(attacked(dialect, attack))
            assert (attack, way.vendor.asked, got.status) == (attack, [], 400)
            fact = attack.partition("; ")[0]
            named = f"{fact}. To", f"{fact.partition('=')[0]} (Expected "
            said = got.why.removeprefix("brat does not forward a request with ")
            assert said.startswith(named), attack
        assert (await way.post(smallest)).status == 200

    assert {type(each) for each in way.told} == {Refused}
    assert [json.loads(each) for each in way.vendor.bodies] == [smallest], "as it is"


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


OPENED: dict[Dialect, tuple[str, ...]] = {
    "anthropic": (
        "tools[].type=web_search_20250305; tools[].name=a",
        "messages[].content[].source.type=url; messages[].content[].type=image",
        *("speed", "model=dearest-1", "messages[].made_up"),
    ),
    "chat": ("web_search_options",),
    "responses": ("store=true", "include[]=file_search_call.results"),
    "gemini": ("tools[].googleSearch",),
}


@looped(*OPENED)
async def test_the_configuration_opens_what_the_refusal_names(dialect: Dialect) -> None:
    entries = tuple(each.partition("; ")[0] for each in OPENED[dialect])
    bodies = [attacked(dialect, each) for each in OPENED[dialect]]
    async with proxied(dialect, models=(MODEL,)) as way:
        for entry, body in zip(entries, bodies, strict=True):
            got = await way.post(body)
            assert got.status == 400, entry
            assert f'allow = ["{entry}"]' in got.why
    async with proxied(dialect, models=(MODEL,), allow=entries) as way:
        for body in bodies:
            assert (await way.post(body)).status == 200
            assert (await way.post({**body, "made_up": 1})).status == 400

    assert [json.loads(each) for each in way.vendor.bodies] == bodies


@looped("bedrock", "vertex")
async def test_where_the_path_names_the_model_the_rest_is_held_to_the_same(
    dialect: Dialect,
) -> None:
    tried = {**BODIES[dialect], "anthropic_beta": ["effort-2025-11-24", "made-up"]}
    other = PATHS[dialect].replace(MODEL, "another")
    async with proxied(dialect, models=(MODEL,)) as way:
        assert (await way.post(tried)).status == 200
        assert (await way.post(tried, other)).status == 400
        late = {**tried, "anthropic_version": "made-up"}
        assert (await way.post(late)).status == 400

    (asked,) = way.vendor.bodies
    assert json.loads(asked)["anthropic_beta"] == ["effort-2025-11-24"]
    (where,) = (each.path for each in way.vendor.asked)
    assert PATHS[dialect].endswith(where)
    assert "any" not in where


async def test_one_project_pays_for_all_requests_of_a_session() -> None:
    first = BODIES["code-assist"]
    account = {"metadata": {"pluginType": "GEMINI"}}
    async with proxied("code-assist") as way:
        asked = await way.post(account, "/v1internal:loadCodeAssist")
        assert (asked.status, (await way.post(first)).status) == (200, 200)
        got = await way.post({**first, "project": "dearest"})
        assert (got.status, "project=dearest" in got.why) == (400, True)
        assert (await way.post({**first, "model": "dearest-1"})).status == 400
        assert (await way.post(first)).status == 200

    sent = [json.loads(each) for each in way.vendor.bodies]
    assert sent == [account, first, first]


STREAM = {**BODIES["anthropic"], "stream": True}
BEGUN = (
    b'data: {"type":"message_start","message":{"model":"m",'
    b'"usage":{"input_tokens":700,"output_tokens":1}}}\n\n'
)
WRITTEN = b'data: {"type":"content_block_delta","delta":"' + b"x" * 4000 + b'"}\n\n'
ENDED = b'data: {"type":"message_delta","usage":{"output_tokens":5000}}\n\n'


async def test_a_stream_that_its_vendor_cuts_costs_what_it_held() -> None:
    vendor = Vendor(kind="text/event-stream", pieces=(BEGUN, WRITTEN), breaks=True)
    async with proxied(vendor=vendor) as way:
        with pytest.raises(ClientPayloadError):
            await way.post(STREAM)

    assert way.gateway.sum().input_tokens == 700
    assert way.gateway.sum().output_tokens >= 1000


async def test_a_stream_that_its_agent_leaves_costs_what_its_end_says() -> None:
    vendor = Vendor(
        kind="text/event-stream",
        pieces=(BEGUN, WRITTEN, WRITTEN, ENDED),
        gate=asyncio.Semaphore(1),
    )
    async with proxied(vendor=vendor, limits=Limits(tokens=5000)) as way:
        path, shown = f"{way.url}/v1/messages", {"x-api-key": TOKEN}
        async with way.session.post(path, json=STREAM, headers=shown) as got:
            await got.content.readany()
        for _ in range(3):
            vendor.gate.release()
        await counted(way)
        late = await way.post(STREAM)

    spent = "brat: the session's budget of 5000 tokens is used up."
    assert (late.status, late.why) == (402, spent)
    assert way.gateway.sum().output_tokens == 5000


async def test_the_count_of_a_requests_tokens_costs_none() -> None:
    body = {"model": MODEL, "messages": BODIES["anthropic"]["messages"]}
    async with proxied(vendor=Vendor(pieces=(b'{"input_tokens":9}',))) as way:
        assert (await way.post(body, "/v1/messages/count_tokens")).status == 200

    assert way.gateway.used() == ()


UNREADABLE = {
    "cut": (b'{"model":"pinned-1"', {}),
    "a list": (b"[]", {}),
    "deep list": (b"[" * 100_000, {}),
    "deep object": (b'{"a":' * 100_000, {}),
    "no text": (b"\xff\xfe", {}),
    "many times its size in memory": (
        *(b'{"messages":[' + b"[]," * 2_000_000 + b"[]]}", {}),
    ),
    "compressed": (gzip.compress(json.dumps(BODIES["anthropic"]).encode()), GZIP),
}


async def test_what_cannot_be_read_is_refused() -> None:
    async with proxied() as way:
        for name, (data, headers) in UNREADABLE.items():
            got = await way.post(data, headers={"x-api-key": TOKEN, **headers})
            assert got.status == 400, name
            assert "brat does not forward a request that is " in got.why

    assert way.vendor.asked == []


async def test_what_is_sent_is_what_was_read_and_answers_are_not_stored() -> None:
    twice = f'{{"model":"dearest-1",{json.dumps(BODIES["anthropic"])[1:]}'
    async with proxied(models=(MODEL,)) as way:
        assert (await way.post(twice.encode())).status == 200
    assert b"dearest" not in way.vendor.bodies[0]

    async with proxied("responses") as way:  # as its vendor would by itself
        assert (await way.post({"model": MODEL, "input": "hello"})).status == 200
    assert json.loads(way.vendor.bodies[0])["store"] is False


async def test_without_a_model_the_first_that_is_asked_is_the_only_one() -> None:
    asked = ("small-1", MODEL, "dearest-1", MODEL, "small-2")
    async with proxied(allow=("model=small-*",)) as way:
        bodies = ({**BODIES["anthropic"], "model": name} for name in asked)
        found = [(await way.post(body)).status for body in bodies]

    assert found == [200, 200, 400, 200, 200]


async def test_only_known_trials_of_anthropics_are_passed_on() -> None:
    trials = "claude-code-20250219,mcp-client-2025-11-20, files-api-2025-04-14"
    headers = {"anthropic-beta": trials, "x-api-key": TOKEN}
    async with proxied() as way:
        assert (await way.post(BODIES["anthropic"], headers=headers)).status == 200

    assert way.vendor.asked[0].headers["anthropic-beta"] == "claude-code-20250219"
    assert [each.what for each in way.told if isinstance(each, Refused)] == [
        "header:anthropic-beta=mcp-client-2025-11-20, which was left out",
        "header:anthropic-beta=files-api-2025-04-14, which was left out",
    ]
