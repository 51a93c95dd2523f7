"""What a delivery of a review or of an edited comment asks for, if anything."""

import json
from typing import Any

from bot.door.delivery_meaning import meaning, read_delivery
from bot.door.inbox import CheckAction, Kept, Review, Ticked
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


@looped(
    ("check_run", {"external_id": "brat:check:fix-7/3/2"}, 3),
    ("check_run", {"external_id": "brat:check:fix-7/0/1"}, 0),
    ("check_suite", {"head_branch": "convoy/fix-7/task-3"}, 3),
    ("check_suite", {"head_branch": "convoy/fix-7/base"}, 0),
)
def test_a_re_run_of_the_bots_check_is_kept_with_who_wants_it(
    event: str, given: dict[str, str], task: int
) -> None:
    found = kept(event, rerequested(**{event: given}))

    assert found == CheckAction(convoy="fix-7", task=task, by="bea")


def test_a_button_of_the_bots_check_is_kept_with_its_commit() -> None:
    run = {"external_id": "brat:check:fix-7/3/2", "head_sha": "a" * 40}
    pressed = {"identifier": "drop"}

    found = kept(
        "check_run",
        {"action": "requested_action", "check_run": run, "requested_action": pressed},
    )

    assert found == CheckAction(
        convoy="fix-7", task=3, by="bea", verb="drop", commit="a" * 40
    )


@looped(
    ("check_run", rerequested(check_run={"external_id": "other:fix-7/3/2"})),
    ("check_run", rerequested(check_run={"external_id": "fix-7/3/2"})),
    ("check_run", rerequested(check_run={"external_id": None})),
    ("check_suite", rerequested(check_suite={"head_branch": "main"})),
    ("check_suite", rerequested()),
    (
        "check_run",
        {
            "action": "completed",
            "check_run": {"external_id": "brat:check:fix-7/3/2"},
        },
    ),
)
def test_other_checks_ask_for_nothing(event: str, delivery: dict[str, Any]) -> None:
    assert kept(event, delivery) is None


def test_a_new_tick_in_the_bots_comment_is_kept_with_who_ticked() -> None:
    found = kept("issue_comment", edited(BOX.format(" "), BOX.format("x")))

    assert found == Ticked(issue=7, comment=5, boxes=("cancel",), by="bea")


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


def test_a_verdict_is_kept_with_the_commit_it_is_about() -> None:
    assert kept("pull_request_review", review()) == Review(
        pull=12,
        review=3,
        verdict="changes_requested",
        commit="a" * 40,
        text="Better.",
        by="bea",
    )
    found = kept("pull_request_review", review(state="APPROVED", body=None))
    assert isinstance(found, Review)
    assert (found.verdict, found.text) == ("approved", "")


def test_a_bots_review_is_kept_as_a_bots() -> None:
    told = {**review(), "sender": {"login": "x[bot]", "type": "Bot"}}
    found = kept("pull_request_review", told)
    assert isinstance(found, Review)
    assert found.bot


def test_a_review_without_a_verdict_is_kept_for_what_it_says() -> None:
    found = kept("pull_request_review", review(state="commented", body="/Brat why"))

    assert isinstance(found, Review)
    assert (found.verdict, found.text) == ("commented", "/Brat why")


@looped(
    review(state="dismissed"),
    {**review(), "action": "edited"},
    {**review(), "sender": {"login": BOT, "type": "User"}},
    {**review(), "pull_request": None},
)
def test_other_reviews_ask_for_nothing(delivery: dict[str, Any]) -> None:
    assert kept("pull_request_review", delivery) is None


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
