from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from convoy.model.records import TaskSpec
from convoy.model.task_graph import find_cycle, order


def task(number: int, *after: int) -> TaskSpec:
    return TaskSpec(number=number, title="t", instructions="i", after=after)


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
