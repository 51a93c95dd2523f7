"""What deliveries asked for, in a folder that outlives the bot."""

import asyncio
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.door.delivery_meaning import meaning, read_delivery
from bot.door.inbox import (
    ALL_PARTS,
    UNREADABLE,
    WRITES_AT_ONCE,
    CheckAction,
    Inbox,
    InboxWriter,
    Kept,
    Remark,
    Review,
    StartRequest,
    Ticked,
    Wake,
)
from tests.bot.door_client import ASKED, GUID
from tests.bot.room import LIST, room
from tests.world.cases import looped


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bot" / "inbox"


@pytest.fixture
def inbox(folder: Path) -> Inbox:
    return Inbox(folder)


BROKEN = {
    "of a newer version": b'{"x":{"type":"later"}}',
    "cut off": b'{"x":{"type":"labelled","issue":7',
    "empty": b"",
    "no object": b"[1]",
    "no text": b'{"x":{"type":"labelled","title":"\xff\xfe"}}',
}


def test_a_file_that_cannot_be_read_is_set_aside_by_name_and_the_rest_goes_on(
    inbox: Inbox, folder: Path
) -> None:
    for name, content in BROKEN.items():
        (folder / f"0-{name}.json").write_bytes(content)
    cut_off = folder / f".{GUID}.x"  # unfinished when the bot died
    cut_off.write_bytes(b'{"issue":7,"ti')
    inbox.put(GUID, ASKED)

    assert inbox.requests() == {GUID: ASKED}
    assert inbox.remarks() == {}
    assert len(inbox.notices) == len(BROKEN)
    for name, content in BROKEN.items():
        aside = folder / f"0-{name}.json{UNREADABLE}"
        assert aside.read_bytes() == content
        assert any(str(aside) in notice for notice in inbox.notices), name
    os.utime(cut_off, (0, 0))
    assert Inbox(folder).requests() == {GUID: ASKED}
    assert not cut_off.exists()


def test_the_same_delivery_again_is_one_request_until_it_is_done(inbox: Inbox) -> None:
    inbox.put(GUID, ASKED)
    inbox.put(GUID, ASKED)
    assert inbox.requests() == {GUID: ASKED}

    inbox.put(GUID, ASKED)  # while the first is done
    inbox.done(GUID)
    assert inbox.requests() == {GUID: ASKED}
    inbox.done(GUID)
    inbox.done(GUID)

    assert inbox.requests() == {}


def test_what_came_together_is_done_one_by_one(inbox: Inbox, folder: Path) -> None:
    inbox.put_all({"a": ASKED, "b": ASKED})
    assert len([*folder.iterdir()]) == 1
    assert [*inbox.requests()] == ["a", "b"]

    inbox.done("a")

    assert [*inbox.requests()] == ["b"]
    assert [*Inbox(folder).requests()] == ["a", "b"]  # as after a crash: twice is once
    inbox.done("b")
    assert [*folder.iterdir()] == []


# --- requests that come together go to the disk together, each with its own answer ----


async def test_what_comes_meanwhile_shares_a_file(tmp_path: Path) -> None:
    inbox, writer = Inbox(tmp_path), InboxWriter()
    names = [f"delivery-{number}" for number in range(50)]

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(writer.keep(inbox, name, ASKED))
    await writer.close()

    assert sorted(inbox.requests()) == sorted(names)
    # The first ones have a file each, and all the others one.
    files = await asyncio.to_thread(lambda: [*tmp_path.iterdir()])
    assert len(files) == WRITES_AT_ONCE + 1


async def test_one_that_cannot_be_kept_spoils_no_other(tmp_path: Path) -> None:
    here, gone, writer = Inbox(tmp_path / "a"), Inbox(tmp_path / "b"), InboxWriter()
    (tmp_path / "b").rmdir()

    async with asyncio.TaskGroup() as group:
        kept = [group.create_task(writer.keep(here, f"{n}", ASKED)) for n in range(9)]
        with pytest.raises(OSError, match="No such file"):
            await writer.keep(gone, "x", ASKED)
        with pytest.raises(ValueError, match="not a delivery id"):
            await writer.keep(here, "../x", ASKED)
    await writer.close()

    assert all(task.exception() is None for task in kept)
    assert len(here.requests()) == 9


async def test_who_has_gone_leaves_the_request(tmp_path: Path) -> None:
    inbox, writer = Inbox(tmp_path), InboxWriter()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(writer.keep(inbox, "a", ASKED))
        await asyncio.sleep(0)
        task.cancel()
    await writer.close()
    await asyncio.sleep(0)

    assert [*inbox.requests()] == ["a"]


# --- what wakes the loop --------------------------------------------------------------


async def test_everything_is_suspect_but_after_a_hint() -> None:
    wake = Wake()
    assert wake.take() == ALL_PARTS
    assert wake.take() == frozenset()

    wake.up("runs")
    await wake.wait(60)
    assert wake.take() == {"runs"}, "a hint ends the wait"

    await wake.wait(0.01)
    assert wake.take() == ALL_PARTS

    wake.suspect()
    await wake.wait(0.01)
    assert wake.take() == ALL_PARTS, "suspicion alone wakes nobody"


async def test_hints_that_keep_coming_do_not_put_off_the_sweep() -> None:
    now = [0.0]
    wake = Wake(ticking=lambda: now[0])
    wake.take()
    for at in (30.0, 59.0, 60.0, 90.0):
        now[0] = at
        wake.up("runs")

        await wake.wait(60)

        assert wake.take() == (ALL_PARTS if at == 60 else {"runs"})


# --- deliveries that are lost, doubled or shuffled end in the same world --------------


Post = list[tuple[str, Kept]]
"""What was delivered, with the id of its delivery."""
SAID = ("/brat drop 2", "Hello.", "/brat ping")


def shuffled(post: Post) -> Post:
    mixed = [*post]
    random.Random(8).shuffle(mixed)  # noqa: S311  the same each time
    return mixed


WAYS: dict[str, Callable[[Post], Post]] = {
    "lost": lambda _: [],
    "doubled": lambda post: [one for one in post for _ in range(2)],
    "shuffled": shuffled,
    "some lost, the rest doubled and shuffled": lambda post: shuffled(post[::2] * 2),
}


async def told(folder: Path, way: Callable[[Post], Post]) -> dict[str, Any]:
    """Hand all over to a bot in some way; return what people see, and what is true."""
    async with room(folder, roles=("mayor",), labelled=False) as here:
        second = await here.person.open_issue("Do it", LIST)
        for issue, texts in ((here.issue, ()), (second, SAID)):
            post: list[Kept] = [
                Remark(
                    issue=here.issue,
                    comment=await here.written(here.issue, text, "you"),
                    text=text,
                    by="you",
                    on_pull=False,
                )
                for text in texts
            ]
            await here.person.relabel(issue, {"brat"}, set())
            post.append(StartRequest(issue=issue, title="Do it", text=LIST, by="you"))
            sent = [(f"delivery-{n}", each) for n, each in enumerate(post)]
            for delivery, kept in way(sent):
                here.context.inbox.put(delivery, kept)
                await here.loop.tick()
            await here.swept(2)
        return {
            "labels": [here.labels(issue) for issue in (here.issue, second)],
            "said": sorted(map(sorted, map(_lines, here.spoken()))),
            "convoys": {
                name: (c.state, c.by, c.text, [task.state for task in c.tasks])
                for name, c in here.state.convoys.items()
            },
            "reactions": sorted(e.content for e in here.forge.store.reactions.all()),
        }


def _lines(body: str) -> Iterator[str]:
    """Give a comment's lines without this forge's own addresses."""
    for line in body.split("\n"):
        yield re.sub(r"http://\S+#issuecomment-\d+", "LINK", line)


@pytest.mark.timeout(180)
@pytest.mark.layer("landing")
async def test_the_world_ends_the_same(tmp_path: Path) -> None:
    right = await told(tmp_path / "right", lambda post: post)
    for name, way in WAYS.items():
        assert await told(tmp_path / name, way) == right, name

    assert right["labels"] == [{"brat:active"}] * 2
    first, second = right["convoys"].values()
    assert (first[3], second[3]) == (["queued", "dropped"], ["queued", "queued"])


# --- what a delivery of a review or of an edited comment asks for, if anything --------

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
MENTION = StartRequest(issue=7, title="", text="@brat do", by="bea", trigger="mention")


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
    ("issues", OPENED, MENTION),
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
