"""Deliveries from other networks are turned away before their body is read."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_network

import httpx

from bot.door.listening import listening
from bot.door.webhooks import WEBHOOK_PATH, Door
from bot.settings.hosts import Origins
from tests.world.cases import looped
from tests.world.patience import patient

HOOKS = (ip_network("192.30.252.0/22"), ip_network("2a0a:a440::/29"))
GITHUB = "192.30.252.7"


def allow(peer: str | None, forwarded: Sequence[str] = (), proxies: int = 0) -> bool:
    return Origins(networks=HOOKS, proxies=proxies).allow(peer, forwarded)


@looped(
    (GITHUB, True),
    (f"::ffff:{GITHUB}", True),
    ("2a0a:a440::1", True),
    ("198.51.100.1", False),
    ("2001:db8::1", False),
    ("", False),
    (None, False),
    ("nonsense", False),
)
def test_the_connection_is_looked_at(peer: str | None, *, may: bool) -> None:
    assert allow(peer) is may


def test_without_networks_everybody_may_knock() -> None:
    assert Origins(proxies=1).allow(None, ())


def test_a_header_of_a_stranger_counts_for_nothing() -> None:
    assert not allow("198.51.100.1", [GITHUB])


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
    assert allow("10.0.0.9", forwarded, proxies) is may


@looped(
    (Origins(networks=HOOKS), 403),
    (Origins(networks=HOOKS, proxies=1), 403),
    (Origins(networks=(ip_network("127.0.0.0/8"),)), 401),
    (Origins(), 401),
)
async def test_the_door_answers_403(origins: Origins, status: int) -> None:
    door = Door(
        secrets=("made-up-secret",),
        place_of=lambda _: None,
        origins=origins,
    )
    async with listening(door.application(), "127.0.0.1", 0) as port:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=patient(20)
        ) as client:
            answer = await client.post(WEBHOOK_PATH, content=b"x" * 2_000_000)

            assert answer.status_code == status
            assert (await client.get("/healthz")).status_code == 200


async def test_nothing_of_the_body_is_waited_for() -> None:
    """A sender that says how much comes, and sends nothing, is answered at once."""
    door = Door(
        secrets=("made-up-secret",),
        place_of=lambda _: None,
        origins=Origins(networks=HOOKS),
    )
    async with listening(door.application(), "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n"
        writer.write(f"{head}Content-Length: 9\r\n\r\n".encode())
        async with asyncio.timeout(patient(20)):
            assert b" 403 " in await reader.readline()
        writer.close()
