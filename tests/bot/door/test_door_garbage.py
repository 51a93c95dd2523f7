"""No body, however made, makes the door fail."""

import json
from pathlib import Path

import pytest

from tests.bot.door_client import built, labelled, signature


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"[]", b"7", b"\xff\xfe", b"payload=%7B%7D"),
        b"[" * 100_000,
        b'{"issue":{"number":' + b"9" * 5_000 + b"}}",
        json.dumps(labelled(issue={"number": 7, "title": "\ud800"})).encode(),
        json.dumps(labelled(issue={"number": "seven"})).encode(),
    ],
)
async def test_what_is_no_delivery_is_400(body: bytes, tmp_path: Path) -> None:
    async with built(tmp_path) as house:
        answer = await house.send(body)

    assert answer.status_code == 400
    assert house.inbox.requests() == {}


@pytest.mark.parametrize("guid", ["", "..", "../x", "a b", "x" * 65, "é"])
async def test_a_delivery_without_githubs_id_is_400(guid: str, tmp_path: Path) -> None:
    async with built(tmp_path) as house:
        answer = await house.deliver(labelled(), X_GitHub_Delivery=guid)

    assert answer.status_code == 400
    assert house.inbox.requests() == {}


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    body = b" " * 25_000_001

    async with built(tmp_path) as house:
        answer = await house.send(body)

    assert answer.status_code == 413
    assert signature(body).startswith("sha256=")
