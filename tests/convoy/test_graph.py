from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from convoy.model.records import TaskSpec
from convoy.model.task_graph import find_cycle, order
from tests.world.cases import looped


def task(number: int, *after: int) -> TaskSpec:
    return TaskSpec(number=number, title="t", instructions="i", after=after)


@looped(
    ({}, None),
    ({1: [], 2: [1], 3: [1, 2]}, None),
    ({1: [9]}, None),
    ({4: [4]}, (4, 4)),
    ({2: [1], 1: [2]}, (1, 2, 1)),
    ({1: [2], 2: [3], 3: [1]}, (1, 2, 3, 1)),
    ({1: [], 2: [1, 4], 3: [2], 4: [3]}, (2, 4, 3, 2)),
)
def test_a_circle_is_named_from_its_smallest_number_and_an_order_begins_with_it(
    edges: dict[int, list[int]], circle: tuple[int, ...] | None
) -> None:
    assert find_cycle(edges) == circle
    assert order([task(4), task(1, 3), task(3), task(2, 1)]) == (3, 1, 2, 4)


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 9), st.sets(st.integers(1, 9), max_size=3)))
def test_a_circle_is_found_exactly_when_there_is_no_order_that_keeps_each_wait(
    edges: dict[int, set[int]],
) -> None:
    circle = find_cycle(edges)
    tasks = [task(number, *after) for number, after in edges.items()]

    if circle is None:
        at = {number: place for place, number in enumerate(order(tasks))}
        assert at.keys() == edges.keys()
        waits = [(n, of) for of, after in edges.items() for n in after & at.keys()]
        assert all(at[first] < at[then] for first, then in waits)
    else:
        assert circle[0] == circle[-1] == min(circle)
        assert all(b in edges[a] for a, b in pairwise(circle))
        with pytest.raises(ValueError, match="cycle"):
            order(tasks)
