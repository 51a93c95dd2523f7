"""About how long a convoy still takes, told from the tasks of it that have landed."""

from msgspec.structs import replace

from convoy.model.ids import SetAside
from convoy.model.records import Budget
from convoy.model.state import Convoy
from convoy.views import left_words, progress_words
from tests.world.rules import Rules, sha, spec

MINUTE = 60_000


def convoy(*states: str, after: tuple[int, ...] = ()) -> Convoy:
    """Return a convoy with tasks in these states; the last one waits for `after`.

    Whatever has begun began at 0, and what landed did so after ten minutes.
    """
    last = len(states)
    specs = [spec(n, after=after * (n == last)) for n in range(1, last + 1)]
    known = Rules().planned(*specs).convoy
    tasks = tuple(
        replace(
            task,
            state=state,
            begun_at=0 if state == "queued" else 1,
            ended_at=1 + 10 * MINUTE if state == "merged" else 0,
            landed=sha("a") if state == "merged" else None,
        )
        for task, state in zip(known.tasks, states, strict=True)
    )
    return replace(known, tasks=tasks)


def test_what_is_left_follows_the_plan() -> None:
    now = 1 + 4 * MINUTE

    assert left_words(convoy("merged", "running"), now) == "done in about 6 min"
    chain = convoy("merged", "running", "queued", after=(2,))
    assert left_words(chain, now) == "done in about 16 min"
    beside = convoy("merged", "queued", "queued", "queued")
    assert left_words(beside, now) == "done in about 30 min"
    assert (
        left_words(convoy("merged", "running", "queued"), now) == "done in about 10 min"
    )


def test_what_was_spent_stands_beside_the_budget() -> None:
    known = convoy("merged")
    task = replace(known.tasks[0], used=replace(known.used, usd=1.5))
    spent = replace(known, tasks=(task,))
    limited = replace(spent.settings, budget=Budget(convoy=20))

    assert progress_words(spent, 5).endswith(" · $1.50")
    words = progress_words(replace(spent, settings=limited), 5)
    assert words.endswith(" · $1.50 of $20.00")


def test_it_is_said_only_where_something_tells_it() -> None:
    waiting = convoy("merged", "blocked", "queued")

    assert left_words(convoy("running", "queued"), 5) == ""
    assert left_words(convoy("merged", "blocked"), 5) == ""
    assert left_words(waiting, 5) == "stalls in about 10 min: 1 blocked task"
    assert left_words(replace(waiting, state="complete"), 5) == ""
    aside = replace(waiting.tasks[1], state="running", set_aside=SetAside(why="", at=1))
    tasks = (waiting.tasks[0], aside, waiting.tasks[2])
    assert left_words(replace(waiting, tasks=tasks), 9 * 10 * MINUTE) == (
        "stalls in about 10 min: 1 blocked task"
    )
    held_up = convoy("merged", "blocked", "queued", "queued", after=(2,))
    assert left_words(held_up, 5).endswith("min: 1 blocked task, 1 more waiting for it")
