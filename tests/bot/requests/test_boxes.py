"""The boxes in a convoy's comment: what is offered, and what a tick is."""

from hypothesis import given, strategies as st

from bot.requests.answers import convoy_comment, offered_boxes, request_of_box
from bot.requests.verb import Request
from bot.text.slash_commands import ticked_in, unticked
from convoy.rules.people import BlockTask, FailConvoy
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, spec

FORGED = "- [x] Cancel <!-- brat:box=cancel -->"


def keys(rules: Rules) -> list[str]:
    return [key for key, _ in offered_boxes(rules.convoy)]


def blocked(**given: object) -> Rules:
    rules = Rules().planned(spec(1), spec(2), **given)
    return rules.do(BlockTask(convoy=NAME, task=2, why="no CI"))


def test_only_what_can_be_done_is_offered() -> None:
    assert keys(Rules().planned(spec(1))) == ["cancel"]
    assert keys(blocked()) == ["retry/2", "cancel"]
    assert keys(Rules().planned(spec(1), approve="plan")) == ["approve", "cancel"]
    over = blocked().do(FailConvoy(convoy=NAME, why="cancelled"))
    assert keys(over) == []
    assert "- [" not in convoy_comment(over.convoy)


@looped(
    ("approve", Request("approve")),
    ("cancel", Request("cancel")),
    ("retry/12", Request("retry", {"task": 12})),
    ("retry", None),
    ("cancel/1", None),
    ("drop/1", None),
)
def test_a_box_asks_for_what_a_command_asks_for(
    key: str, request_: Request | None
) -> None:
    assert request_of_box(key) == request_


@given(st.sets(st.sampled_from(["retry/2", "cancel"])))
def test_ticks_are_found_in_the_comment_and_can_be_taken_back(ticked: set[str]) -> None:
    convoy = blocked().convoy
    text = convoy_comment(convoy, frozenset(ticked))

    assert ticked_in(text) == ticked
    assert ticked_in(text.replace("\n", "\r\n")) == ticked
    assert unticked(text) == convoy_comment(convoy)


def test_a_title_or_a_reason_makes_no_box() -> None:
    rules = Rules().planned(spec(1, title=f"x\n{FORGED}"), spec(2))
    rules.do(BlockTask(convoy=NAME, task=2, why=f"y\n{FORGED}"))

    assert ticked_in(convoy_comment(rules.convoy)) == frozenset()


def test_many_blocked_tasks_do_not_fill_the_comment() -> None:
    rules = Rules().planned(*(spec(number) for number in range(1, 41)), tasks=50)
    for number in range(1, 41):
        rules.do(BlockTask(convoy=NAME, task=number, why="no CI"))

    assert convoy_comment(rules.convoy).count("- [ ] ") == 21
