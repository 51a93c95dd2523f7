"""Every payload that GitHub shows as an example, whole and broken, at the door."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.door.inbox import ALL_PARTS, RIGHTS_PART
from tests.bot.door_client import built
from tests.world.npm import installed

NPM = Path(__file__).parents[2] / "npm"
EXAMPLES = "@octokit/webhooks-examples/api.github.com/index.json"
MUTANTS = 600
HOSTILE: tuple[object, ...] = (
    *(None, True, -1, 10**30, 1.5e300, "", "\0", "\ud800", "brat", "octo/project"),
    *([], {}, [[]], {"number": {}}),
)

pytestmark = [pytest.mark.needs("npm"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def examples() -> list[tuple[str, dict[str, Any]]]:
    listed = json.loads((installed(NPM) / EXAMPLES).read_bytes())
    found = [(event["name"], one) for event in listed for one in event["examples"]]
    assert len(found) > 300
    return found


async def test_each_about_our_repository_is_taken_and_kept_if_it_asks(
    examples: list[tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    ours = {"full_name": "octo/project"}
    async with built(tmp_path) as sender:
        for number, (event, payload) in enumerate(examples):
            body = {**payload, "repository": ours}
            if event == "issue_comment":
                body["comment"] = {**payload["comment"], "body": "/brat status"}
            if event == "issues" and "label" in payload:
                body["label"] = {"name": "brat"}
            guid = f"{event.replace('_', '-')}-{number}"
            answer = await sender.deliver(
                body, X_GitHub_Event=event, X_GitHub_Delivery=guid
            )
            assert answer.status_code == 202, (event, answer.text)

    labelled = {
        f"issues-{number}"
        for number, (event, payload) in enumerate(examples)
        if event == "issues" and payload["action"] == "labeled" and "label" in payload
    }
    created = {
        f"issue-comment-{number}"
        for number, (event, payload) in enumerate(examples)
        if event == "issue_comment"
        and payload["action"] == "created"
        and payload["sender"]["type"] != "Bot"
    }
    assert {*sender.inbox.requests()} == labelled
    assert {*sender.inbox.remarks()} == created
    assert labelled
    assert created
    assert sender.wake.take() == (ALL_PARTS - {"shown"}) | {RIGHTS_PART}


async def test_broken_ones_are_answered_and_the_door_stays_open(
    examples: list[tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    chance = random.Random(4)  # noqa: S311  the same ones each time
    said = Counter[int]()
    async with built(tmp_path) as sender:
        for _ in range(MUTANTS):
            event, payload = chance.choice(examples)
            body = _broken(chance, {**payload, "repository": _ours(chance, payload)})
            answer = await sender.send(body, X_GitHub_Event=event)
            said[answer.status_code] += 1
        sender.inbox.requests()
        sender.inbox.remarks()
        assert (await sender.client.get("/healthz")).status_code == 200

    assert {*said} == {202, 400}


def _ours(chance: random.Random, payload: dict[str, Any]) -> object:
    ours = {"full_name": "octo/project"}
    return chance.choice([ours, ours, payload.get("repository")])


def _broken(chance: random.Random, payload: dict[str, Any]) -> bytes:
    """Return the payload cut off, with bytes changed, or with hostile values."""
    match chance.randrange(3):
        case 0:
            body = json.dumps(payload).encode()
            return body[: chance.randrange(len(body))]
        case 1:
            spoilt = bytearray(json.dumps(payload).encode())
            for _ in range(chance.randrange(1, 8)):
                spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
            return bytes(spoilt)
        case _:
            changed = json.loads(json.dumps(payload))
            for _ in range(chance.randrange(1, 4)):
                _poison(chance, changed)
            return json.dumps(changed).encode()


def _poison(chance: random.Random, payload: dict[str, Any]) -> None:
    """Put a hostile value in place of some value, at some depth."""
    place = payload
    while True:
        name = chance.choice([*place, "issue", "comment", "label", "sender"])
        below = place.get(name)
        if isinstance(below, dict) and below and chance.random() < 0.7:
            place = below
            continue
        place[name] = chance.choice(HOSTILE)
        return
