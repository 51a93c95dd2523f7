"""What a delivery of a review or of an edited comment asks for, if anything."""

import json
from functools import partial
from typing import Any

from msgspec.structs import replace

from bot.door.delivery_meaning import meaning, read_delivery
from bot.door.inbox import CheckAction, Kept, Review, StartRequest, Ticked
from tests.world.cases import looped

BOT = "brat[bot]"
BOX = "- [{}] Cancel the convoy <!-- brat:box=cancel -->"
PERSON = {"login": "bea", "type": "User"}
OWN = {"login": BOT, "type": "Bot"}
OURS = {"check_run": {"app": {"slug": "brat"}}}
CI = {"check_run": {"app": {"slug": "github-actions"}}}


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


ticked = partial(edited, BOX.format(" "), BOX.format("x"))
TICKED = Ticked(issue=7, comment=5, boxes=("cancel",), by="bea")


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


def of_check(name: str | None) -> dict[str, Any]:
    return {"action": "rerequested", "check_run": {"external_id": name}}


def of_suite(branch: str) -> dict[str, Any]:
    return {"action": "rerequested", "check_suite": {"head_branch": branch}}


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
    ("check_run", of_check("brat:check:fix-7/3/2"), RERUN),
    ("check_run", of_check("brat:check:fix-7/0/1"), OF_ALL),
    ("check_suite", of_suite("convoy/fix-7/task-3"), RERUN),
    ("check_suite", of_suite("convoy/fix-7/base"), OF_ALL),
    ("check_run", PRESSED, replace(RERUN, verb="drop", commit="a" * 40)),
    ("issue_comment", ticked(), TICKED),
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
    (
        "pull_request_review",
        review(user={"login": "copilot-pull-request-reviewer[bot]", "type": "Bot"})
        | {"sender": {"login": "Copilot", "type": "Bot"}},
        replace(VERDICT, by="copilot-pull-request-reviewer[bot]", bot=True),
    ),
    ("issues", OPENED, ASKED),
    ("check_run", of_check("other:fix-7/3/2"), None),
    ("check_run", of_check("fix-7/3/2"), None),
    ("check_run", of_check(None), None),
    ("check_suite", of_suite("main"), None),
    ("check_suite", {"action": "rerequested"}, None),
    ("check_run", PRESSED | {"action": "completed"}, None),
    ("pull_request_review", review(state="dismissed"), None),
    ("pull_request_review", {**review(), "action": "edited"}, None),
    (
        "pull_request_review",
        {**review(), "sender": {"login": BOT, "type": "User"}},
        None,
    ),
    ("pull_request_review", {**review(), "pull_request": None}, None),
    ("issues", {**OPENED, "sender": {"login": BOT, "type": "Bot"}}, None),
    ("issue_comment", edited(BOX.format("x"), BOX.format(" ")), None),
    ("issue_comment", edited(BOX.format("x"), BOX.format("X")), None),
    ("issue_comment", edited("old", "/brat cancel"), None),
    ("issue_comment", ticked(author="bea"), None),
    ("issue_comment", ticked(sender=OWN), None),
    ("issue_comment", ticked(sender={"login": "x", "type": "Bot"}), None),
    ("issue_comment", ticked(action="deleted"), None),
    ("issue_comment", ticked(comment=None), None),
)
def test_what_asks_for_something_is_kept_with_who_wants_it_and_nothing_else(
    event: str, delivery: dict[str, Any], asked: Kept | None
) -> None:
    assert kept(event, delivery) == asked


@looped(
    ("pull_request_review", {}, "comments"),
    ("issue_comment", {}, "comments"),
    ("issue_comment", edited("", "A table.", action="deleted"), "shown"),
    ("issues", {}, "issues"),
    ("pull_request", {}, "pulls"),
    ("issues", {"sender": OWN}, "comments"),
    ("check_run", {"sender": OWN, **OURS}, "comments"),
    ("check_run", {"sender": OWN, **CI}, "checks"),
    ("check_run", OURS, "checks"),
    *(("workflow_run", {}, "runs"), ("push", {}, "refs")),
    *((event, {}, "checks") for event in ("check_run", "check_suite", "status")),
    *((event, {}, None) for event in ("ping", "star")),
)
def test_only_what_others_do_makes_more_than_comments_be_looked_at(
    event: str, delivery: dict[str, Any], part: str | None
) -> None:
    body = json.dumps({"action": "labeled", "sender": PERSON, **delivery}).encode()

    assert meaning(event, read_delivery(event, body), "brat", BOT).part == part
