from collections.abc import Callable

import pytest

from grite.event import CommentAdded, Event, IssueCreated
from tests.grite.vectors import ACTOR, ISSUE, T0, vector
from tests.world.cases import looped


@looped(*range(1, 15))
def test_an_id_is_the_one_grite_computes(number: int) -> None:
    event, expected = vector(number)

    assert event.id.hex() == expected
    assert IssueCreated("t", "b", ("b", "a", "b")).labels == ("a", "b", "b")


@looped(
    lambda: Event(b"short", ACTOR, T0, CommentAdded("x")),
    lambda: Event(ISSUE, ACTOR + b"!", T0, CommentAdded("x")),
    lambda: Event(ISSUE, ACTOR, -1, CommentAdded("x")),
    lambda: Event(ISSUE, ACTOR, 1 << 64, CommentAdded("x")),
    lambda: Event(ISSUE, ACTOR, T0, CommentAdded("x"), parent=b"short"),
    lambda: Event(ISSUE, ACTOR, T0, CommentAdded("half \ud800 a pair")).id,
)
def test_bad_input_is_refused_with_one_sentence(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        make()
