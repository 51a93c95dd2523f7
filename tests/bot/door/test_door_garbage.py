"""No body, however made, makes the door fail."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.bot.door_client import built, labelled, signature

EVENTS = ("issues", "push", "workflow_run", "check_run", "", "x")
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["brat", "labeled", "octo/project", "\ud800", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*labelled(), "number", "login"]), inner)
    ),
    max_leaves=6,
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Anything, or JSON, or a real delivery with something else in one place."""
    if draw(st.booleans()):
        return draw(st.binary() | _values.map(lambda v: json.dumps(v).encode()))
    delivery = labelled()
    place = draw(st.sampled_from([*delivery, "issue.number", "issue.title"]))
    name, _, below = place.partition(".")
    if below:
        delivery[name][below] = draw(_values)
    else:
        delivery[name] = draw(_values)
    return json.dumps(delivery).encode()


@given(
    knocks=st.lists(
        st.tuples(bodies(), st.sampled_from(EVENTS), st.sampled_from(["a-1", "", "."])),
        min_size=1,
        max_size=20,
    )
)
@settings(deadline=None, max_examples=20)
def test_any_signed_body_is_answered_with_202_or_400(
    knocks: list[tuple[bytes, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def answers(folder: Path) -> list[int]:
        async with built(folder) as house:
            said = [
                await house.send(body, X_GitHub_Event=event, X_GitHub_Delivery=guid)
                for body, event, guid in knocks
            ]
            house.inbox.requests()
        return [answer.status_code for answer in said]

    statuses = asyncio.run(answers(tmp_path_factory.mktemp("house")))

    assert {*statuses} <= {202, 400}


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
