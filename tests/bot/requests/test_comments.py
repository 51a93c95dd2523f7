"""What people tell the bot in comments, on the local forge: heard and answered."""

import pytest

from bot.door.inbox import Remark, Review
from bot.requests.answers import MOST_LINE_CHARS
from bot.text.convoy_comment import answer_lines
from convoy.events.forge_actions import ANSWERS_SHOWN_MOST, Answer
from tests.bot.room import LIST, Room
from tests.world.github_forge.extension import github
from tests.world.github_forge.graphql_nodes import MailedTexts
from tests.world.github_forge.shapes import said_in
from tests.world.rules import NAME, Rules, spec

pytestmark = pytest.mark.room(roles=("mayor",))


async def test_a_convoy_is_shown_paused_resumed_and_cancelled(here: Room) -> None:
    text, _ = await here.said("/brat status")
    assert "This comment shows the current state." in text
    assert "### Convoy `do-it-1`: active" in here.spoken()[0]

    await here.said("/brat pause\n\nWait.")
    assert here.convoy_state() == "paused"
    await here.said("/brat resume")
    assert here.convoy_state() == "active"

    text, reactions = await here.said("/brat drop 2\n\n/brat why 2")
    assert "Task 2 is dropped." in text
    assert "Task 2 is dropped (0 attempts)." in text
    assert reactions == ["eyes", "rocket"]

    await here.said("/brat cancel")
    assert here.convoy_state() == "failed"


async def test_a_stranger_is_told_that_it_takes_write_access(here: Room) -> None:
    """A resource is locked for who has that; what is no command is told so."""
    await here.said("/brat lock path:src/")
    lease = here.state.leases["path:src/"]
    assert lease.holder == "you"

    await here.said("/brat renew path:src/ ttl=24h")
    longer = here.state.leases["path:src/"]
    assert longer.expires > lease.expires
    assert longer.nonce == lease.nonce

    await here.said("/brat unlock path:src/")
    assert not here.state.leases

    text, reactions = await here.said("/brat statsu")
    assert "did you mean" in text
    assert "confused" in reactions
    assert await here.said("I like `/brat status` a lot.") == ("", [])

    newest, reactions = await here.said("/brat cancel", by="mallory")
    assert here.convoy_state() == "active"
    assert reactions == ["eyes", "-1"]
    assert "requires write access" in newest


WEB = "https://forge.test/you/app"


def answered(count: int, text: str = "Task 1 is dropped.") -> list[str]:
    """Return the lines about answers to as many comments."""
    rules = Rules().planned(spec(1))
    for number in range(1, count + 1):
        rules.do(Answer(issue=7, comment=number, text=text, by="ann", convoy=NAME))
    return answer_lines(rules.convoy, WEB)


def test_answers_link_what_was_asked_and_do_not_grow_for_ever() -> None:
    link = f"([asked]({WEB}/issues/7#issuecomment-1))"
    assert f"- ann {link}: Task 1 is dropped." in answered(1)
    lines = "\n".join(answered(1, "Task 1 waits.\n- for 2\n\nSo."))
    assert "Task 1 waits.\n  - for 2\n\n  So." in lines, "it stays in its item"
    few, many = answered(ANSWERS_SHOWN_MOST), answered(10 * ANSWERS_SHOWN_MOST)

    shown = [line for line in many if line.startswith("- ")]
    assert "issuecomment-100)" in shown[0], "the newest comes first"
    assert len(shown) == ANSWERS_SHOWN_MOST
    assert len(many) == len(few)
    assert len("\n".join(answered(ANSWERS_SHOWN_MOST, "x" * MOST_LINE_CHARS))) < 5_000


@pytest.mark.room
async def test_an_answer_is_a_reaction_and_a_line_without_mentions(here: Room) -> None:
    await here.worked(1, {"one.py": b"one\n"})
    before = len(here.spoken())
    _, reactions = await here.said("/brat drop 2", times=2)
    (shown,) = here.shown()

    assert reactions == ["eyes", "rocket"]
    assert len(here.spoken()) == before + 1, "the command alone"
    assert "Task 2 is dropped." in shown
    assert here.spoken()[0].count("Task 2 is dropped.") == 1

    said, _ = await here.said("/brat retry 2")
    assert said.startswith("<!-- brat:key=")
    assert "@you That cannot be done" in said, "who is refused has to hear it"

    said, _ = await here.said("/brat why 1", on=here.pull(1))
    assert "Task 1 is needs-review" in said
    assert "@" not in said, "what is asked on a pull request is answered there"
    assert len(here.shown()) == 1

    await here.said("/brat cancel")
    assert "The convoy is cancelled" in here.spoken()[0]
    said, _ = await here.said("/brat why 1")
    assert "Task 1 is" in said, "its comment is edited no more"
    assert len(here.shown()) == 2


async def labelled(here: Room, title: str) -> int:
    issue = await here.person.open_issue(title, LIST)
    await here.person.relabel(issue, {"brat"}, set())
    await here.swept()
    return issue


@pytest.mark.room
async def test_everything_stops_and_goes_on_by_a_persons_word(here: Room) -> None:
    said = await here.answer("/brat pause all")
    assert "Everything is paused, including 1 convoy." in said
    assert here.convoy_state() == "paused"
    assert here.convoy.why == "you paused everything in this repository"
    assert "you already paused everything" in await here.answer("/brat pause all")

    other = await labelled(here, "Do more")
    assert "say `/brat resume all`, then ask again" in here.spoken()[-1]
    assert here.labels(other) == set()

    assert "including 1 convoy" in await here.answer("/brat resume all")
    assert here.convoy_state() == "active"
    assert "nothing is paused" in await here.answer("/brat resume all")
    again = await labelled(here, "Do more of it")
    assert here.labels(again) == {"brat:active"}


@pytest.mark.room('[mayor]\napprove = "plan"\n')
async def test_a_plan_is_not_approved_while_everything_is_paused(here: Room) -> None:
    await here.answer("/brat pause all")

    assert "paused everything" in await here.answer("/brat approve")
    assert here.convoy_state() == "planning"
    await here.answer("/brat resume all")
    said = await here.answer("/brat approve 1234567")
    assert "use this command on the pull request for that commit" in said
    assert "The plan is approved" in await here.answer("/brat approve")
    assert (here.convoy_state(), here.labels()) == ("active", {"brat:active"})
    assert here.tip(f"convoy/{here.convoy.name}/base") == here.tip("main")
    assert "is active, not planning" in await here.answer("/brat approve")


# --- what comes by mail commands nothing: its sender can be forged --------------------


async def mailed(here: Room, text: str) -> list[str]:
    """Let a comment come by mail; return what the bot says of it."""
    comment = await here.written(here.issue, text, "you")
    MailedTexts(here.forge.folder).mark(comment)
    before = len(here.spoken())
    remark = Remark(
        issue=here.issue, comment=comment, text=text, by="you", on_pull=False
    )
    here.context.inbox.put(f"mail-{comment}", remark)
    await here.loop.tick()
    return here.spoken()[before:]


@pytest.mark.room(extend=github)
async def test_a_command_by_mail_is_not_carried_out_and_told_so(here: Room) -> None:
    quoted = "Thank you!\n\nOn Mon, Nov 3, 2025, Bea wrote:\n/brat cancel"
    for text in ("/brat cancel\n/brat drop 1", quoted):
        (said,) = await mailed(here, text)

        assert here.convoy_state() == "active"
        assert here.task(1).state == "queued"
        assert said.count("commands sent by email are not accepted") == 1
    assert await mailed(here, "Thank you!\n\n> /brat cancel") == []

    await here.worked(1, {"one.py": b"one\n"})
    await here.reviewed("COMMENT", text="/brat drop 2")
    (review,) = said_in(here.forge.store).reviews.all()
    MailedTexts(here.forge.folder).mark(review.id)
    kept = Review(
        pull=here.pull(1),
        review=review.id,
        verdict="commented",
        commit=review.commit,
        text=review.body,
        by="you",
    )
    here.context.inbox.put("mailed-review", kept)
    await here.loop.tick()

    assert here.task(2).state == "queued"
    assert "commands sent by email are not accepted" in here.spoken()[-1]
