"""Webhooks: signed, made of what changed, and never in the way."""

import hashlib
import hmac
import socket
from collections.abc import AsyncIterator

import pytest

from tests.world.forge import REPO, Town, until
from tests.world.github_forge.webhooks import deliveries_in
from tests.world.receiver import Receiver, receiving

SECRET = "not so secret"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def heard(here: Town, receiver: Receiver) -> Receiver:
    here.forge.add_hook(REPO, receiver.url, SECRET)
    return receiver


async def test_a_delivery_is_signed_and_named(here: Town, heard: Receiver) -> None:
    number = await here.issue("Fix the ü")

    delivery = await heard.got("issues.opened")

    made = hmac.new(SECRET.encode(), delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["X-Hub-Signature-256"] == f"sha256={made}"
    assert delivery.headers["X-GitHub-Event"] == "issues"
    assert len(delivery.headers["X-GitHub-Delivery"]) == 36
    assert delivery.headers["Content-Type"] == "application/json"
    payload = delivery.json
    assert payload["issue"] == await here.get(f"issues/{number}")
    assert payload["sender"]["login"] == "alice"
    assert payload["repository"]["full_name"] == REPO


async def test_a_receiver_that_is_gone_is_noted_and_holds_up_nothing(
    here: Town,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, never answers
        silent_url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        here.forge.add_hook(REPO, silent_url, SECRET)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        gone = here.forge.add_hook(REPO, f"http://127.0.0.1:{port}/", SECRET)

        for _ in range(10):
            await here.issue()
        sent = deliveries_in(here.forge.store)
        await until(lambda: any(not one.pending for one in sent.of(gone.id)))
        assert {one.status_code for one in sent.of(gone.id)} == {0}
