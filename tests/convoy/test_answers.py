"""Whatever people say is answered once: comments, reviews and ticks."""

import pytest

from convoy.events.forge_actions import ActionDone, Answer
from convoy.model import ids
from tests.convoy.room import refused
from tests.world.cases import looped
from tests.world.rules import Rules

TICK = Answer(issue=7, sign=ids.sign_key("tick", "72D3162E-CC78"), text="Done.")
REVIEW = Answer(issue=12, sign=ids.sign_key("review", "3"), text="Done.")
REMARK = Answer(issue=7, comment=5, reaction="rocket", text="Done.")


@looped(TICK, REVIEW, REMARK)
def test_an_answer_is_announced_and_given_once(answer: Answer) -> None:
    rules = Rules().do(answer)
    [key] = rules.state.intents
    assert "already" in refused(rules, answer)

    rules.do(ActionDone(key=key, number=99))

    assert not rules.state.intents
    assert "already" in refused(rules, answer)


def test_a_tick_is_not_taken_for_a_comment() -> None:
    rules = Rules().do(TICK, ActionDone(key=TICK.sign, number=99))

    assert rules.state.answered == frozenset()
    assert rules.state.heard == {"answer:tick/72d3162e-cc78"}
    with pytest.raises(ValueError, match="cannot be part of a key"):
        ids.sign_key("tick", "a b -->")
