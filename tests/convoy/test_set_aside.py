"""An item's name says what it is; a log may hold any text in its place."""

from convoy.model.ids import convoy_item, run_item, task_item, task_of_item
from tests.world.cases import looped
from tests.world.rules import NAME


def test_a_name_says_which_convoy_and_task_it_is() -> None:
    assert task_of_item(task_item(NAME, 3)) == (NAME, 3)
    assert task_of_item(task_item(NAME, 0)) == (NAME, 0)
    assert task_of_item(convoy_item(NAME)) == (NAME, 0)
    assert task_of_item(run_item(7)) is None


@looped(
    "text", ["task/", "task/fix", "task/fix/", "task/fix/x", "task/a/²", "task/a/-1"]
)
def test_another_text_is_no_part(text: str) -> None:
    assert task_of_item(text) is None
    assert task_of_item(f"task/fix/{'9' * 5000}") is None
