"""Labelled issues that no convoy works on: what each is said to wait for."""

from convoy.events.forge_actions import ItemSetAside
from convoy.model.ids import issue_item
from convoy.views.interventions import LabelledIssue, unread_issues
from tests.world.rules import Rules, spec

UP = ("brat up",)


def test_an_issue_waits_until_a_convoy_works_on_it() -> None:
    rules = Rules().planned(spec(1))
    at_work = LabelledIssue(number=rules.convoy.issue, title="Fix it")
    new = LabelledIssue(number=90, title="Spell words")

    (found,) = unread_issues((at_work, new), rules.state, UP)

    assert (found.kind, found.issue, found.commands) == ("unread_issue", 90, UP)
    assert found.why == (
        "issue #90 'Spell words' has not been read yet: no mayor has run since it "
        "was labelled"
    )


def test_it_is_said_why_a_running_loop_does_not_take_one_up() -> None:
    rules = Rules().planned(spec(1))
    rules.do(ItemSetAside(item=issue_item(91), why="the forge says no"))
    issues = (
        LabelledIssue(number=90, title="Soon"),
        LabelledIssue(number=91, title="Refused"),
        LabelledIssue(number=92, title="Never", never="brat:no"),
    )

    told = [
        each.why.partition("yet: ")[2] for each in unread_issues(issues, rules.state)
    ]

    assert told == [
        "the loop will pick it up next",
        "brat will try again: the forge says no",
        "its label brat:no tells brat to ignore it",
    ]
