"""Where answers stand: a reaction and a line of the convoy's comment, or a comment."""

from pathlib import Path

from bot.requests.answers import MOST_LINE_CHARS
from bot.text.convoy_comment import answer_lines
from convoy.events.forge_actions import Answer
from convoy.model.work import ANSWERS_SHOWN_MOST
from tests.bot.room import room
from tests.world.rules import NAME, Rules, spec

WEB = "https://forge.test/you/app"


def answered(count: int, text: str = "Task 1 is dropped.") -> list[str]:
    """Return the lines about answers to as many comments."""
    rules = Rules().planned(spec(1))
    for number in range(1, count + 1):
        rules.do(Answer(issue=7, comment=number, text=text, by="ann", convoy=NAME))
    return answer_lines(rules.convoy, WEB)


def test_an_answer_links_what_was_asked() -> None:
    link = f"([asked]({WEB}/issues/7#issuecomment-1))"
    assert f"- ann {link}: Task 1 is dropped." in answered(1)


def test_the_newest_comes_first_and_the_comment_does_not_grow_for_ever() -> None:
    few, many = answered(ANSWERS_SHOWN_MOST), answered(10 * ANSWERS_SHOWN_MOST)

    shown = [line for line in many if line.startswith("- ")]
    assert "issuecomment-100)" in shown[0]
    assert len(shown) == ANSWERS_SHOWN_MOST
    assert len(many) == len(few)
    assert len("\n".join(answered(ANSWERS_SHOWN_MOST, "x" * MOST_LINE_CHARS))) < 5_000


def test_a_long_answer_stays_in_its_item() -> None:
    lines = "\n".join(answered(1, "Task 1 waits.\n- for 2\n\nSo."))

    assert "Task 1 waits.\n  - for 2\n\n  So." in lines


async def test_an_answer_is_a_reaction_and_a_line_and_mentions_nobody(
    tmp_path: Path,
) -> None:
    async with room(tmp_path) as here:
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
