"""What waits for a person, and what that person is told to do."""

import shlex

import click
from msgspec.structs import replace

from bot.requests.verb import Request
from bot.requests.verb_table import parsed
from bot.text.merge_texts import may_not_write
from bot.text.slash_commands import SlashCommand, slash_commands
from brat.commands.command_line import command_line
from convoy.events import Command, hold_events, people_events
from convoy.events.forge_actions import ActionDone, ItemSetAside
from convoy.model import ids
from convoy.model.ids import base_branch
from convoy.model.state import LATELY_MS, State
from convoy.owed import Call
from convoy.owed.owed import TOO_MANY
from convoy.rules.calls import CallPeople, uncalled
from convoy.views.interventions import (
    SLACK_S,
    Intervention,
    LabelledIssue,
    alike,
    interventions,
    same_for,
    unread_issues,
)
from tests.convoy.room import due
from tests.convoy.stories import STORIES
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec


def kinds(rules: Rules, later_ms: int = 0) -> list[str]:
    return [each.kind for each in interventions(rules.state, rules.now + later_ms)]


def found(rules: Rules) -> Intervention:
    [only] = interventions(rules.state, rules.now)
    return only


def test_a_blocked_task_says_what_to_do_after_a_damaged_log() -> None:
    rules = Rules().planned(spec(1), spec(2)).blocked(2, "no CI")
    blocked = found(rules)

    assert (blocked.kind, blocked.task, blocked.why) == ("blocked_task", 2, "no CI")
    assert blocked.commands == ("brat retry 2", "brat drop 2")
    assert blocked.comments == ("/brat retry task-2", "/brat drop task-2")
    assert blocked.words == ("retry", "drop")
    faults = ("abc: bad hash", "def: bad id")
    damaged, after = interventions(rules.state, rules.now, faults)
    assert (damaged.kind, after) == ("log_damaged", blocked)
    assert damaged.why == "the log has a fault: abc: bad hash, and 1 more"

    rules = Rules().planned(spec(1), spec(2, after=(1,))).dropped(1)
    needs_it = found(rules).comments
    assert needs_it == ("/brat drop task-2",), "it needs what was dropped"


def test_a_stuck_session_and_a_lease_that_keeps_a_task_waiting_are_shown() -> None:
    rules = Rules().planned(spec(1)).started(1)
    deadline = rules.attempt(1).at + (1800 + SLACK_S) * 1000 - rules.now
    assert kinds(rules, deadline) == []
    assert kinds(rules, deadline + 1) == ["stuck_session"]

    rules = Rules().planned(spec(1, paths=("src/",)), spec(2)).locked("path:src/")
    assert found(rules).kind == "lock_conflict"
    assert found(rules).comments == ("/brat unlock path:src/",)
    assert found(rules).why.endswith(" UTC; only ann can release it sooner")
    assert kinds(rules, 60_000) == []
    rules = Rules().planned(spec(1, paths=("src/",)), spec(2, paths=("src/a.py",)))
    assert kinds(rules.started(1)) == [], "that lease is another session's"


def test_whatever_pauses_one_convoy_it_is_resumed_alone_and_all_are_together() -> None:
    pauses: dict[str, Command] = {
        "a person paused it": made(people_events.ConvoyPaused),
        "issue #7 was closed": made(hold_events.IssueClosed, issue=7),
        f"its branch {base_branch(NAME)} was deleted": made(hold_events.BaseDeleted),
        **{
            why: made(people_events.ConvoyPaused, by="brat", why=why)
            for why in (TOO_MANY.format(3), may_not_write("ann"))
        },
    }
    for why, pause in pauses.items():
        rules = Rules().planned(spec(1)).do(pause)
        asked = found(rules)
        assert (asked.why, asked.comments[0]) == (why, "/brat resume")
        assert asked.commands[0] == "brat resume fix-7"
        assert "resume all" not in str(asked)
        rules.do(people_events.ConvoyResumed(convoy=NAME, by="bea"))
        assert (rules.convoy.state, kinds(rules)) == ("active", [])

    rules = Rules().planned(spec(1)).do(people_events.RepositoryPaused(by="ann"))
    assert found(rules).comments == ("/brat resume all",)


def test_each_piece_of_advice_is_a_command_that_is_understood() -> None:
    app = command_line("task")
    seen, said = set(), set()
    for story in STORIES:
        state, now = State(), story().now
        for fact in story().facts:
            state = fact.change(state)
            for each in interventions(state, now, ("abc: bad hash",)):
                seen.add(each.kind)
                said |= {*each.comments, *each.commands}
    for line in sorted(said):
        if line.startswith("/brat"):
            [command] = slash_commands(line)
            assert isinstance(command, SlashCommand), line
            assert isinstance(parsed(command), Request), line
            continue
        at: click.Command | None = app
        _, *words = shlex.split(line)
        while isinstance(at, click.Group):
            _, at, words = at.resolve_command(click.Context(at), words)
        assert at is not None, line
        at.make_context(line, words)
    assert len(seen) > 6, seen


def test_a_convoy_that_cannot_merge_waits_until_somebody_asks_again() -> None:
    rules = Rules().planned(spec(1)).landed(1, sha("a"))
    rules.do(ActionDone(key=f"pull:{NAME}/0", number=20))
    rules.do(hold_events.MergeWithdrawn(convoy=NAME, task=0, by="bea"))
    assert found(rules).why == "pull request #20 was removed from the merge queue"

    ended = found(rules.failed("main moved"))

    assert (ended.kind, ended.task) == ("convoy_failed", 0)
    assert ended.why == "the convoy failed: main moved"
    assert ended.commands == ("brat retry fix-7",)
    assert kinds(rules, LATELY_MS + 60_000) == []


def test_an_issue_waits_until_a_convoy_works_on_it_and_it_is_said_why() -> None:
    rules = Rules().planned(spec(1))
    rules.do(ItemSetAside(item=ids.item("issue", 91), why="the forge says no"))
    issues = (
        LabelledIssue(number=rules.convoy.issue, title="At work"),
        LabelledIssue(number=90, title="Spell words"),
        LabelledIssue(number=91, title="Refused"),
        LabelledIssue(number=92, title="Never", never="brat:no"),
        LabelledIssue(number=93, title="Later", blocked_by="you/app#9"),
    )

    soon, *_ = unread_issues(issues, rules.state, ("brat up",))
    told = [
        each.why.partition("yet: ")[2] or each.why
        for each in unread_issues(issues, rules.state)
    ]

    assert (soon.kind, soon.issue, soon.commands) == ("unread_issue", 90, ("brat up",))
    assert soon.why == (
        "issue #90 'Spell words' has not been read yet: no mayor has run since it "
        "was labelled"
    )
    assert told == [
        "the loop will pick it up next",
        "brat will try again: the forge says no",
        "its label brat:no tells brat to ignore it",
        "issue #93 'Later' is blocked by you/app#9, and starts when they close",
    ]


# --- whom a convoy needs, and that people are called once -----------------------------


def failed_first() -> Rules:
    """Return rules in which the first task's only attempt failed."""
    tasks = (spec(1), spec(2), spec(3, after=(2,)))
    return Rules().planned(*tasks, attempts=1).started(1).refused(1)


def called(rules: Rules) -> list[str]:
    """Call people for what waits; return the keys of that."""
    calls = [each for each in due(rules, {}) if isinstance(each, Call)]
    for call in calls:
        rules.do(CallPeople(convoy=call.convoy, text="Help.", now=rules.now))
    return [need.key for call in calls for need in call.needs]


def test_people_are_called_once_until_they_did_it() -> None:
    rules = failed_first()
    assert called(rules) == ["blocked/1/1"]
    assert called(rules) == []

    rules.started(2).refused(2)
    assert called(rules) == [], "they were called, and see the second there"
    rules.retried(1)
    assert called(rules) == ["blocked/2/1"]
    rules.started(1).refused(1)
    assert called(rules) == []


@looped(("bea", "bea"), ("helper[bot]", ""), ("who runs the bot", ""))
def test_the_person_who_answers_for_a_convoy_is_called(by: str, whom: str) -> None:
    rules = failed_first()
    [need] = uncalled(rules.state, rules.convoy)
    assert need.whom == "ann", "who asked for it"

    rules.do(made(people_events.ConvoyPaused), made(people_events.ConvoyResumed, by=by))
    [need] = uncalled(rules.state, rules.convoy)
    assert need.whom == whom


def test_a_command_names_a_convoy_only_where_another_could_be_meant() -> None:
    rules = Rules().planned(spec(1)).blocked(1, "no CI")
    other = replace(rules.convoy, name="other-8")
    both = interventions(rules.state.with_convoy(other), rules.now)

    assert found(rules).commands[0] == "brat retry 1"
    names = ("fix-7", "other-8")
    told = [f"brat retry 1 --convoy {name}" for name in names]
    assert [each.commands[0] for each in both] == told


def test_tasks_that_wait_for_the_same_reason_are_said_together() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3), spec(4)).blocked(1, "no CI")
    rules.blocked(2, "no key").blocked(3, "no CI").blocked(4, "no CI")

    (first, others), (apart, none) = alike(interventions(rules.state, rules.now))

    assert (first.task, others, apart.task, none) == (1, (3, 4), 2, ())
    again = "to retry all that is blocked: brat retry fix-7"
    assert same_for(first, others) == f"the same for tasks 3, 4; {again}"
    dropped = replace(first, commands=("brat drop 1",))
    assert same_for(dropped, (3,)) == "the same for task 3"
