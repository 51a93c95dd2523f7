"""What a delivery would lead to is said, and nothing is done."""

import json

import pytest

from bot.serving.examination import Recorded, World, predicted
from convoy.config import Config
from convoy.model.state import State
from grite.errors import BratError
from tests.bot.door_client import labelled

WORLD = World(state=State(), config=Config(), label="brat", login="brat[bot]")


def lines(payload: object, event: str = "") -> list[str]:
    recorded = Recorded.parse(json.dumps(payload).encode(), event)
    return [*predicted(recorded, WORLD)]


def test_a_labelled_issue_shows_its_plan() -> None:
    issue = {
        "number": 7,
        "title": "Fix it",
        "body": "- [ ] one\n- [ ] two (after 1)\n",
        "state": "open",
    }

    assert lines(labelled(issue=issue)) == [
        "door: 202, issues labeled about octo/project",
        "the loop would look at: issues",
        "asked of the forge: may ann write, is the label still there",
        "convoy fix-it-7 on branch convoy/fix-it-7/base:",
        "  1 (default): one",
        "  2 (default after 1): two",
        "written: label brat:planning for brat, one comment, the branch",
        "dispatched first: 1",
    ]


def commented(text: str) -> dict[str, object]:
    return {
        **labelled(),
        "action": "created",
        "comment": {"id": 9, "body": text, "user": {"login": "ann"}},
    }


def test_a_comment_shows_its_commands() -> None:
    said = lines(commented("/brat retry 2\n\n/brat statsu\n\nThanks."))

    assert said[0] == "door: 202, issue_comment created about octo/project"
    assert said[2] == "about: no convoy that is known"
    assert said[3] == "/brat retry by ann, which takes write access"
    assert said[4].startswith("misheard: ")
    assert len(said) == 5


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"event": "issues", "request": {"payload": labelled()}}, ""),
        ({"headers": {"X-GitHub-Event": "issues"}, "payload": labelled()}, ""),
        (labelled(), "issues"),
        (labelled(), ""),
    ],
)
def test_a_recording_may_have_any_of_githubs_shapes(
    payload: object, event: str
) -> None:
    assert any("convoy fix-it-7" in line for line in lines(payload, event))


def test_what_asks_for_nothing_is_said() -> None:
    pushed = {"ref": "refs/heads/main", "repository": {"full_name": "octo/project"}}

    assert lines(pushed, "push") == [
        "door: 202, push  about octo/project",
        "the loop would look at: refs",
        "it asks for nothing",
    ]


def test_what_is_no_delivery_gets_the_doors_answer() -> None:
    (said,) = lines(labelled(issue={"number": "seven"}), "issues")

    assert said.startswith("door: 400")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"{", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "say which event it is"),
    ],
)
def test_what_cannot_be_read_is_said(text: bytes, why: str) -> None:
    with pytest.raises(BratError, match=why):
        Recorded.parse(text)
