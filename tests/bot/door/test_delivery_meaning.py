"""What a delivery of a review or of an edited comment asks for, if anything."""

import json
from typing import Any

from msgspec.structs import replace

from bot.door.delivery_meaning import meaning, read_delivery
from bot.door.inbox import CheckAction, Kept, Review, StartRequest, Ticked
from tests.world.cases import looped

BOT = "brat[bot]"
BOX = "- [{}] Cancel the convoy <!-- brat:box=cancel -->"
PERSON = {"login": "bea", "type": "User"}


def kept(event: str, delivery: dict[str, Any]) -> Kept | None:
    body = json.dumps({"sender": PERSON, **delivery}).encode()
    return meaning(event, read_delivery(event, body), "brat", BOT).kept


def edited(
    before: str, after: str, author: str = BOT, **given: object
) -> dict[str, Any]:
    return {
        "action": "edited",
        "issue": {"number": 7, "title": "Fix it"},
        "comment": {"id": 5, "body": after, "user": {"login": author, "type": "Bot"}},
        "changes": {"body": {"from": before}},
        **given,
    }


def review(**given: object) -> dict[str, Any]:
    return {
        "action": "submitted",
        "pull_request": {"number": 12},
        "review": {
            "id": 3,
            "state": "changes_requested",
            "body": "Better.",
            "commit_id": "a" * 40,
            **given,
        },
    }


def rerequested(**given: object) -> dict[str, Any]:
    return {"action": "rerequested", **given}


PRESSED = {
    "action": "requested_action",
    "check_run": {"external_id": "brat:check:fix-7/3/2", "head_sha": "a" * 40},
    "requested_action": {"identifier": "drop"},
}
RERUN = CheckAction(convoy="fix-7", task=3, by="bea")
OF_ALL = CheckAction(convoy="fix-7", task=0, by="bea")
VERDICT = Review(
    pull=12,
    review=3,
    verdict="changes_requested",
    commit="a" * 40,
    text="Better.",
    by="bea",
)
COMMAND = review(state="commented", body="/Brat why")
OPENED = {"action": "opened", "issue": {"number": 7, "title": "", "body": "@brat do"}}
ASKED = StartRequest(issue=7, title="", text="@brat do", by="bea", trigger="mention")


@looped(
    (
        "check_run",
        rerequested(check_run={"external_id": "brat:check:fix-7/3/2"}),
        RERUN,
    ),
    (
        "check_run",
        rerequested(check_run={"external_id": "brat:check:fix-7/0/1"}),
        OF_ALL,
    ),
    (
        "check_suite",
        rerequested(check_suite={"head_branch": "convoy/fix-7/task-3"}),
        RERUN,
    ),
    (
        "check_suite",
        rerequested(check_suite={"head_branch": "convoy/fix-7/base"}),
        OF_ALL,
    ),
    ("check_run", PRESSED, replace(RERUN, verb="drop", commit="a" * 40)),
    (
        *("issue_comment", edited(BOX.format(" "), BOX.format("x"))),
        Ticked(issue=7, comment=5, boxes=("cancel",), by="bea"),
    ),
    ("pull_request_review", review(), VERDICT),
    (
        *("pull_request_review", review(state="APPROVED", body=None)),
        replace(VERDICT, verdict="approved", text=""),
    ),
    (
        *("pull_request_review", COMMAND),
        replace(VERDICT, verdict="commented", text="/Brat why"),
    ),
    (
        *("pull_request_review", review() | {"sender": {"login": "x", "type": "Bot"}}),
        replace(VERDICT, by="x", bot=True),
    ),
    ("issues", OPENED, ASKED),
)
def test_what_asks_for_something_is_kept_with_who_wants_it(
    event: str, delivery: dict[str, Any], asked: Kept
) -> None:
    assert kept(event, delivery) == asked


@looped(
    ("check_run", rerequested(check_run={"external_id": "other:fix-7/3/2"})),
    ("check_run", rerequested(check_run={"external_id": "fix-7/3/2"})),
    ("check_run", rerequested(check_run={"external_id": None})),
    ("check_suite", rerequested(check_suite={"head_branch": "main"})),
    ("check_suite", rerequested()),
    ("check_run", PRESSED | {"action": "completed"}),
    ("pull_request_review", review(state="dismissed")),
    ("pull_request_review", {**review(), "action": "edited"}),
    ("pull_request_review", {**review(), "sender": {"login": BOT, "type": "User"}}),
    ("pull_request_review", {**review(), "pull_request": None}),
    ("issues", {**OPENED, "sender": {"login": BOT, "type": "Bot"}}),
)
def test_other_checks_and_reviews_and_what_the_bot_does_ask_for_nothing(
    event: str, delivery: dict[str, Any]
) -> None:
    assert kept(event, delivery) is None


@looped(
    edited(BOX.format("x"), BOX.format(" ")),
    edited(BOX.format("x"), BOX.format("X")),
    edited("old", "/brat cancel"),
    edited(BOX.format(" "), BOX.format("x"), author="bea"),
    edited(BOX.format(" "), BOX.format("x"), sender={"login": BOT, "type": "Bot"}),
    edited(BOX.format(" "), BOX.format("x"), sender={"login": "x", "type": "Bot"}),
    edited(BOX.format(" "), BOX.format("x"), action="deleted"),
    edited(BOX.format(" "), BOX.format("x"), comment=None),
)
def test_no_other_edit_asks_for_anything(delivery: dict[str, Any]) -> None:
    assert kept("issue_comment", delivery) is None


@looped(
    ("pull_request_review", PERSON, "comments"),
    ("issue_comment", PERSON, "comments"),
    ("issues", PERSON, "issues"),
    ("pull_request", PERSON, "pulls"),
    ("issues", {"login": BOT, "type": "Bot"}, "comments"),
    *(("workflow_run", PERSON, "runs"), ("push", PERSON, "refs")),
    *((event, PERSON, "checks") for event in ("check_run", "check_suite", "status")),
    *((event, PERSON, None) for event in ("ping", "star")),
)
def test_only_what_others_do_to_issues_makes_labels_be_looked_at(
    event: str, by: dict[str, str], part: str | None
) -> None:
    body = json.dumps({"action": "labeled", "sender": by}).encode()

    assert meaning(event, read_delivery(event, body), "brat", BOT).part == part


def test_a_deleted_comment_of_the_bots_makes_what_it_shows_be_looked_at() -> None:
    told = {"sender": PERSON, **edited("", "A table.", action="deleted")}
    delivery = read_delivery("issue_comment", json.dumps(told).encode())

    assert meaning("issue_comment", delivery, "brat", BOT).part == "shown"
