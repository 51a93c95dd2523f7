"""A task that is set aside gives its slot to others, and never overshoots with it."""

from convoy.events.forge_actions import ActionDone, ItemSetAside, ItemTakenUp
from convoy.model import ids
from convoy.model.ids import MINUTE_MS, task_item, task_of_item
from convoy.owed import Begin, Note, Show
from convoy.owed.owed import UNTRIED_MS
from convoy.rules.observed import Run
from convoy.rules.starting import StartTask
from tests.convoy.room import due
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

FIRST = task_item(NAME, 1)
TRIED = Note(None, ItemTakenUp(item=FIRST))


def owed(rules: Rules, *runs: Run) -> list[object]:
    found = due(rules, runs={run.id: run for run in runs})
    return [each for each in found if isinstance(each, Begin | Note)]


@looped(None, ItemTakenUp(item=FIRST, by="ann"))
def test_it_is_tried_again_only_when_a_slot_is_free(retry: ItemTakenUp | None) -> None:
    rules = Rules().planned(spec(1), spec(2), max_sessions=1)
    rules.do(made(StartTask, now=rules.now))
    rules.do(ItemSetAside(item=FIRST, why="the forge says no")).started(2)
    if retry is None:
        rules.now += MINUTE_MS
    else:  # at once, whatever its wait was
        rules.do(retry)

    assert owed(rules) == []
    rules.accepted(2, sha("2"))
    assert owed(rules) == [TRIED]


def test_a_session_that_runs_keeps_its_slot_while_its_task_is_aside() -> None:
    rules = Rules().planned(spec(1), spec(2), max_sessions=1).started(1)
    rules.do(ItemSetAside(item=FIRST, why="the forge says no"))

    assert owed(rules) == [], "it began after the look"
    assert owed(rules, Run(id=101, completed=False)) == []
    assert owed(rules, Run(id=101, completed=True)) == [Begin(NAME, 2, sha("0"))]
    rules.now += 24 * 60 * MINUTE_MS
    assert owed(rules) == [TRIED], "the forge has forgotten it"


def test_a_name_says_which_convoy_and_task_it_is() -> None:
    for number in (3, 0):
        assert task_of_item(task_item(NAME, number)) == (NAME, number)
    assert task_of_item(ids.item("convoy", NAME)) == (NAME, 0)
    for item in (
        *("task/", "task/fix", "task/fix/", "task/fix/x", "task/a/²", "task/a/-1"),
        *(f"task/fix/{'9' * 5000}", ids.item("run", 7)),
    ):
        assert task_of_item(item) is None


LABELS = ids.item("show", NAME, "labels")


def shown_again(rules: Rules) -> list[object]:
    return [each for each in due(rules, {}) if isinstance(each, Show | Note)]


def test_what_was_refused_when_a_convoy_ended_is_shown_later() -> None:
    def refused(item: str) -> Rules:
        """Return rules with a convoy that has ended, and told its issue."""
        rules = Rules().planned(spec(1)).failed("cancelled")
        rules.do(ActionDone(key=ids.key("finish", NAME), number=7))
        assert shown_again(rules) == []
        return rules.do(ItemSetAside(item=item, why="the forge says no"))

    rules = refused(LABELS)
    assert shown_again(rules) == [Show(NAME, "comment")], "its comment tells of it"
    rules.now += MINUTE_MS
    assert shown_again(rules) == [Show(NAME, "labels"), Show(NAME, "comment")]
    rules.do(ItemTakenUp(item=LABELS, works=True))
    assert shown_again(rules) == []

    item = ids.item("check", sha("a"))  # nobody tries it any more
    rules = refused(item)
    rules.now += MINUTE_MS + UNTRIED_MS - 1
    assert shown_again(rules) == []
    rules.now += 1
    assert shown_again(rules) == [Note(None, ItemTakenUp(item=item))]
    rules.do(ItemTakenUp(item=item))
    assert shown_again(rules) == []
