"""Labels that people set are obeyed; labels that the bot sets stay true."""

import pytest

from convoy.model import ids
from convoy.rules.people import BlockTask
from convoy.views import state_document
from tests.bot.room import NAME, Room
from tests.world.github_forge.injected_faults import Faults

pytestmark = pytest.mark.layer("landing")


async def test_an_issue_that_is_off_limits_is_left_alone(here: Room) -> None:
    """A convoy whose issue becomes so stands still. What shows a state stays true."""
    await here.person.relabel(here.issue, set(), {"brat:active"})
    await here.person.relabel(here.issue, {"brat:complete", "bug"}, set())
    await here.swept()
    assert here.labels() == {"brat:active", "bug"}

    other = await here.person.open_issue("Not this", "- [ ] one")
    await here.person.relabel(other, {"brat", "brat:no"}, set())
    before = here.spoken()

    await here.swept()
    assert await here.said("/brat ping", on_issue=other) == ("", [])
    assert len(here.state.convoys) == 1
    assert here.labels(other) == {"brat", "brat:no"}
    assert len(here.spoken()) == len(before) + 1

    await here.person.relabel(here.issue, {"brat:no"}, set())
    here.loop.wake.up("issues")
    await here.loop.tick()
    shown = here.spoken()[0]
    assert await here.said("/brat cancel") == ("", [])
    assert (here.convoy.held, here.convoy_state()) == ("brat:no", "active")
    assert here.spoken()[0] == shown


# --- people delete the comment that shows a convoy: by mistake, or twice as a no ------


def tables(here: Room) -> list[str]:
    return [text for text in here.spoken() if "### Convoy `" in text]


async def delete_comment(here: Room) -> None:
    await here.asked("DELETE", f"issues/comments/{here.convoy.comment}", None)


async def test_a_deleted_comment_is_written_again_once(here: Room) -> None:
    first = here.convoy.comment

    await delete_comment(here)
    assert tables(here) == []
    here.loop.wake.up("shown")
    await here.loop.tick()

    (table,) = tables(here)
    assert "| 1 | one | queued |" in table
    assert here.convoy.comment not in (None, first)
    assert ids.keys_in(table) == (f"comment:{NAME}/2",)

    await here.answer("/brat drop task-2")
    (table,) = tables(here)
    assert "| 2 | two | dropped |" in table

    await delete_comment(here)
    await here.swept(2)

    assert tables(here) == []
    context = here.context
    document = state_document(context.mirror.state, context.clock())
    (found,) = document["interventions"]
    assert (found["kind"], found["convoy"]) == ("comment_deleted", NAME)
    assert found["why"] == (
        f"its comment on issue #{here.issue} was deleted twice, so brat will not "
        "post it again"
    )

    assert "### Convoy `" in await here.answer("/brat status")
    await here.do(BlockTask(convoy=NAME, task=1, why="no CI"))
    await here.swept()
    assert "no CI" in here.spoken()[-1]  # what waits for people still reaches them


async def test_an_issue_that_is_hidden_has_no_deleted_comment(hall: Room) -> None:
    issue = await hall.write("Spell words", "- [ ] one\n")
    await hall.label(issue)
    (convoy,) = hall.convoys()
    assert convoy.comment is not None
    faults = Faults(hall.forge.folder)
    faults.refuse("GET", f".*/issues/({issue}|comments/.*)", 404, "Not Found")

    await hall.swept(2)
    faults.lift()

    (found,) = hall.convoys()
    assert (found.comment, found.deleted_comments) == (convoy.comment, 0)
    assert sum("### Convoy" in text for text in hall.spoken()) == 1
