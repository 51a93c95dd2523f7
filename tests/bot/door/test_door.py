"""The webhook door, knocked at over HTTP."""

import gzip
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.door.webhooks import BODY_BYTES, Door, signed
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


async def test_it_hears_where_the_app_is_installed(sender: DoorClient) -> None:
    for event in ("installation", "installation_repositories"):
        answer = await sender.deliver({"action": "created"}, X_GitHub_Event=event)
        assert answer.status_code == 202

    assert sender.roster == ["changed"] * 2


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
