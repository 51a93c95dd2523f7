from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from convoy.model.records import TaskSpec
from convoy.model.task_graph import find_cycle, order
from tests.world.cases import looped


def task(number: int, *after: int) -> TaskSpec:
    return TaskSpec(number=number, title="t", instructions="i", after=after)


@st.composite
def plans(draw: st.DrawFn) -> list[TaskSpec]:
    ranks = draw(st.lists(st.integers(1, 99), unique=True, max_size=12))
    tasks = [
        task(number, *draw(st.sets(st.sampled_from(ranks[:rank]), max_size=4)))
        if rank
        else task(number)
        for rank, number in enumerate(ranks)
    ]
    return draw(st.permutations(tasks))


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
@given(plans())
def test_every_task_comes_after_what_it_waits_for(tasks: list[TaskSpec]) -> None:
    placed = order(tasks)

    assert sorted(placed) == sorted(t.number for t in tasks)
    assert all(placed.index(n) < placed.index(t.number) for t in tasks for n in t.after)


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 9), st.sets(st.integers(1, 9), max_size=3)))
def test_a_circle_is_found_exactly_when_there_is_no_order(
    edges: dict[int, set[int]],
) -> None:
    circle = find_cycle(edges)

    if circle is None:
        order([task(number, *after) for number, after in edges.items()])
    else:
        assert circle[0] == circle[-1] == min(circle)
        assert all(b in edges[a] for a, b in pairwise(circle))
        with pytest.raises(ValueError, match="cycle"):
            order([task(number, *after) for number, after in edges.items()])
