import pytest

from brat.commands.print_views import explained
from convoy.events.forge_actions import ActionDone
from convoy.events.hold_events import MergeWithdrawn
from grite.errors import BratError
from tests.world.rules import NAME, Rules, sha, spec


@pytest.fixture
def rules() -> Rules:
    rules = Rules().planned(spec(1), spec(2, after=(1,), why="it needs the parser"))
    return rules.started(1).accepted(1, sha("a"))


def said(rules: Rules, asked: str) -> tuple[str, ...]:
    return explained(rules.state, asked, None, rules.now).reasons


def test_a_task_is_named_by_its_number_or_its_pull_requests(rules: Rules) -> None:
    for asked in ("2", "task-2"):
        found = explained(rules.state, asked, None, rules.now)
        assert (found.convoy, found.task, found.state) == (NAME, 2, "queued")
        assert found.reasons[1] == "it is waiting for task 1 (needs-review)"
    for asked in ("#11", "pull-11"):
        found = explained(rules.state, asked, None, rules.now)
        assert (found.task, found.about) == (1, f"{NAME}, task 1: Task 1")


def test_a_convoys_own_pull_request_waits_for_the_queue(rules: Rules) -> None:
    rules.offered(1, sha("a"), sha("0")).landed_as(1, sha("a"))
    rules.landed(2, sha("b")).do(ActionDone(key=f"pull:{NAME}/0", number=30))
    before = said(rules, "pull-30")
    rules.do(MergeWithdrawn(convoy=NAME, task=0, by="bea"))

    assert before == (
        "it is the pull request of the whole convoy, which is active",
        "all its tasks are done; it is waiting for the merge queue",
    )
    assert said(rules, "pull-30")[1] == "it was removed from the merge queue"


def test_a_wait_is_told_with_where_both_stand(rules: Rules) -> None:
    assert said(rules, "1->2") == (
        "task 2 starts when task 1 is merged: the plan says so",
        "the plan says about task 2: it needs the parser",
        "task 1 (needs-review) is waiting for the merge queue",
        "task 2 is queued",
    )
    assert said(rules, "2->1") == (
        "task 1 does not wait for task 2; it waits for no task",
        "it is the other way around: task 2 waits for task 1",
    )


def test_what_is_not_there_is_said(rules: Rules) -> None:
    for asked, why in (
        ("pull-99", "pull request #99 does not belong to a convoy"),
        ("1->9", "has no task 9; its tasks: 1, 2"),
        ("the parser", "give a task"),
        ("٣", "give a task"),
        (f"{NAME}x", f"did you mean {NAME}"),
    ):
        with pytest.raises(BratError, match=why):
            said(rules, asked)


def test_a_convoy_says_what_each_task_waits_for(rules: Rules) -> None:
    found = explained(rules.state, NAME, None, rules.now)

    assert (found.convoy, found.task, found.state) == (NAME, 0, "active")
    assert found.reasons == (
        "it is active, 0 of 2 tasks merged",
        "tasks in the merge queue, in order: 1",
        "task 1 (needs-review) is waiting for the merge queue",
        "task 2 (queued) is waiting for task 1",
    )
