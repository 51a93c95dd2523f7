"""A long list goes in waves; no item is refused and none is dropped."""

from convoy.model.task_graph import order, renumbered
from convoy.planner.tasklist import plan, plan_remarks

ENGINES = ("default",)


def test_a_task_goes_after_the_one_a_wave_before_it() -> None:
    tasks = plan("x", "\n".join(f"- [ ] t{n}" for n in range(1, 46)), ENGINES, 20)
    after = {task.number: task.after for task in tasks}

    assert len(tasks) == 45
    assert (after[20], after[21], after[40], after[45]) == ((), (1,), (20,), (25,))
    [wait] = tasks[44].waits
    assert wait.overlap
    assert wait.why == "it is in wave 3, and 20 tasks are active at a time"


def test_at_no_time_more_are_free_than_a_wave_has_and_no_order_is_turned_round() -> (
    None
):
    text = "- [ ] a (after 7)\n- [ ] b (after 1)\n" + "- [ ] c\n" * 5
    tasks = plan("x", text, ENGINES, 3)
    merged: set[int] = set()
    while len(merged) < len(tasks):
        free = {t.number for t in tasks if {*t.after} <= merged} - merged
        assert 1 <= len(free) <= 3
        merged.add(max(free))

    assert order(tasks).index(7) < order(tasks).index(1)


def test_a_list_that_is_one_wave_is_left_as_it_is() -> None:
    assert not any(t.waits for t in plan("x", "- [ ] a\n- [ ] b", ENGINES, 2))


def test_waves_are_said_and_keep_their_tasks_when_numbers_move() -> None:
    text = "- [ ] a\n- [ ] b\n- [x] c\n- [ ] d"
    [*_, last] = renumbered(plan("x", text, ENGINES, 2), 10)

    assert (last.number, last.after, last.waits[0].on) == (14, (11,), 11)
    assert plan_remarks(text, wave=2) == (
        "its 3 tasks run in 2 waves: 2 are active at a time ([mayor] tasks)",
    )
