"""Rivals: several do the same, CI judges each, and the one that is chosen lands."""

from msgspec.structs import replace

from convoy.answers import DIFFS_CHARS, choice_brief
from convoy.events.forge_actions import ActionIntended
from convoy.events.session_events import ChoiceMade, TaskStarted
from convoy.kinds import kept_by_tasks
from convoy.kinds.rivals import NONE_LEFT, smallest
from convoy.owed import Action, LookAgain, Note, Prove, Reject, Stall, Try
from convoy.rules.calls import uncalled
from convoy.rules.ending import AcceptNothing, MakeChoice
from convoy.rules.landing import FailMerge, ProveWork, waiting_to_merge
from convoy.rules.people import BlockTask, DropTask, RebaseWork
from convoy.rules.retries import RetryTask, ReviseTask
from convoy.rules.verdict import Checks, CiVerdict
from convoy.text import fence_of, fenced
from convoy.views.interventions import interventions
from tests.convoy.room import due, question, refused
from tests.world.rules import NAME, Rules, made, sha, spec

RIVALS = tuple(spec(number, kind="rival") for number in (1, 2, 3))
CHOICE = spec(4, kind="choice", on=(1, 2, 3))
WORK = {1: sha("a"), 2: sha("b"), 3: sha("c")}


def begun(paths: tuple[str, ...] = (), **given: object) -> Rules:
    """Return a race of three, with a task behind its choice."""
    choice = replace(CHOICE, paths=paths)
    return Rules().planned(*RIVALS, choice, spec(5, after=(4,)), **given)


def handed_in(rules: Rules, number: int) -> Rules:
    rules.started(number).accepted_quietly(number, WORK[number])
    return rules.offered(number, WORK[number], sha("0"))


def green(rules: Rules, *numbers: int, lines: int = 10) -> Rules:
    for number in numbers:
        given = {"commit": WORK[number], "lines": lines - number}
        handed_in(rules, number).do(made(ProveWork, task=number, **given))
    return rules


def red(rules: Rules, number: int) -> Rules:
    given = {"candidate": WORK[number], "cause": "red", "why": "CI is red"}
    return handed_in(rules, number).do(made(FailMerge, task=number, **given))


def chose(rules: Rules, on: int) -> MakeChoice:
    attempt = rules.task(4).started
    return MakeChoice(convoy=NAME, task=4, attempt=attempt, on=on, text="It is right.")


def owed(rules: Rules, **verdicts: CiVerdict) -> list[Action]:
    """Return what the refinery owes, CI having said so of the commits."""
    checks = {
        sha(letter): Checks(verdict=verdict, names=("ci",), text=verdict)
        for letter, verdict in verdicts.items()
    }
    wanted = Try | Prove | Reject | Note | LookAgain | Stall
    return [each for each in due(rules, checks=checks) if isinstance(each, wanted)]


def test_ci_judges_each_rival_as_it_is_and_nobody_else_sees_it() -> None:
    rules = begun().started(1).accepted_quietly(1, WORK[1])

    assert owed(rules) == [Try(NAME, 1)]
    assert rules.waits(1) == "CI to test it and its rivals"
    assert rules.waits(4) == "rivals that have not finished (1, 2, 3)"
    assert "pull" not in {fact.kind for fact in rules.noted(ActionIntended)}
    rules.offered(1, WORK[1], sha("0"))
    assert owed(rules) == []
    assert owed(rules, a="green") == [Prove(NAME, 1, WORK[1])]
    assert owed(rules, a="red") == [Reject(NAME, 1, WORK[1], "red")]


def test_a_judge_begins_when_all_are_tried_and_only_one_may_land() -> None:
    rules = red(green(begun(paths=("a.py",)), 1, 2), 3)
    assert rules.kept(1) == "task 4 to choose it"
    assert waiting_to_merge(rules.convoy) == ()
    assert rules.startable(4)
    assert rules.started(4).state.leases
    started = rules.noted(TaskStarted)[-1]
    assert (started.kind, started.base) == ("choice", sha("0"))

    rules.do(chose(rules, 2))
    states = rules.states
    assert states == ["dropped", "needs-review", "dropped", "queued", "queued"]
    assert rules.state.leases == {}, "the choice holds nothing any more"
    assert rules.kept(2) == ""
    loser = replace(rules.task(1), state="needs-review")
    assert kept_by_tasks(rules.convoy, loser) != ""
    assert rules.task(1).why == "task 4 chose task 2"
    assert rules.waits(4) == "task 2 to land"
    assert not rules.startable(4)
    assert rules.queue == [2]
    assert f"pull:{NAME}/2" in rules.state.intents
    rules.offered(2, sha("b"), sha("0")).landed_as(2, sha("b"))
    assert rules.states[3:] == ["merged", "queued"]
    assert rules.startable(5)


def test_the_only_one_left_is_taken_and_nobody_judges() -> None:
    unseen = MakeChoice(convoy=NAME, task=4)
    for others in (green(begun(), 1, 2, 3), red(green(begun(), 1), 2)):
        assert others.ask(unseen)
    rules = red(red(begun(), 1), 3)
    assert owed(rules) == []
    green(rules, 2)

    assert not rules.startable(4)
    assert rules.waits(4).endswith("task 2 is the only one left")
    assert owed(rules) == [Note("refinery", unseen)]
    made = rules.do(unseen).noted(ChoiceMade)
    assert [(each.attempt, each.on, each.commit) for each in made] == [(0, 2, WORK[2])]
    assert rules.ask(unseen)


def test_where_none_is_left_a_person_is_called_once_and_may_let_one_try_again() -> None:
    rules = red(red(begun(), 1), 2)
    assert uncalled(rules.state, rules.convoy) == ()
    assert interventions(rules.state, rules.now) == ()
    rules.dropped(3, "dropped by ann")

    block = made(BlockTask, task=4, why=NONE_LEFT)
    assert owed(rules) == [Note("refinery", block)]
    rules.do(block)
    assert [need.task for need in uncalled(rules.state, rules.convoy)] == [1, 2, 4]
    told = f"task 4 cannot choose: {NONE_LEFT}"
    assert refused(rules, made(RetryTask, task=4)) == told
    rules.retried(1)
    assert [rules.task(n).state for n in (1, 2, 4)] == ["queued", "blocked", "queued"]
    assert owed(green(rules, 1)) == [Note("refinery", MakeChoice(convoy=NAME, task=4))]


def test_what_no_judge_can_say_the_rule_says() -> None:
    rules = green(begun(attempts=2), 1, 2, 3).started(4).refused(4, "refused")
    assert rules.task(4).state == "queued"
    rules.started(4).lost(4)

    (choice,) = rules.noted(ChoiceMade)
    assert (choice.on, choice.text) == (
        3,
        (
            "it is the green rival with the smallest change; no judge picked a "
            "winner: it died"
        ),
    )
    assert rules.task(4).attempt is None
    assert rules.states[:3] == ["dropped", "dropped", "needs-review"]

    tasks = green(green(begun(), 2, lines=12), 1, lines=11).convoy.tasks[:2]
    assert [task.lines for task in tasks] == [10, 10]
    assert smallest(tasks).number == 1, "of two as small the first is taken"


def test_work_that_is_being_compared_stays_and_nothing_else_is_chosen() -> None:
    rules = red(green(begun(), 1, 2), 3).started(4)
    rebase = made(RebaseWork, old=WORK[1], commit=sha("d"), base=sha("1"))

    for change in (made(ReviseTask, text="No."), rebase):
        used = "task 4 is comparing task 1 with its rivals"
        assert refused(rules, change) == used
    for number in (3, 5, 9):  # red, or no rival
        told = f"task {number} is not a green rival"
        assert refused(rules, chose(rules, number)) == told


def test_a_choice_goes_with_its_rivals_and_the_chosen_with_its_choice() -> None:
    rules = green(begun(), 1, 2).dropped(4)
    assert rules.states == [*["dropped"] * 4, "blocked"]
    assert rules.task(1).why == "it is a rival in task 4, which was dropped"

    rules = green(begun(), 1, 2, 3).started(4).dropped(4)
    rules.do(chose(rules, 2))
    assert rules.task(4).attempt is None
    assert not rules.noted(ChoiceMade)

    rules = red(green(begun(), 1, 2), 3).started(4)
    rules.do(chose(rules, 2))
    told = "task 4 chose task 2 and ends when it does"
    assert refused(rules, made(DropTask, task=4)) == told
    rules.dropped(2)
    assert rules.task(4).why == "it chose task 2, which was dropped"
    assert rules.task(5).state == "blocked"
    assert rules.dropped(5).convoy.state == "failed"
    rules.taken_up()
    losers = [task.number for task in rules.convoy.tasks if task.state == "dropped"]
    assert losers == [1, 3], "nothing would choose one of them"


def test_only_what_ci_judged_is_green() -> None:
    rules = begun().started(1)
    assert rules.ask(AcceptNothing(convoy=NAME, task=1, attempt=1))
    rules.accepted_quietly(1, WORK[1])
    proof = made(ProveWork, commit=WORK[1], lines=1)
    assert "no longer the candidate" in refused(rules, proof)
    rules.offered(1, WORK[1], sha("0"))
    for changes in ({"judged": ()}, {"judged": ("none",)}, {"commit": WORK[2]}):
        assert rules.ask(replace(proof, **changes))

    rules = begun(require_ci=False).started(1).accepted_quietly(1, WORK[1])
    assert owed(rules) == [Prove(NAME, 1, WORK[1])]
    unjudged = replace(proof, judged=("none",))
    assert rules.do(unjudged).ask(unjudged), "once"


def test_a_judge_is_told_what_was_asked_and_what_each_changed() -> None:
    rules = green(begun(), 1, 2)
    patches = {WORK[1]: "+ one", WORK[2]: "x" * DIFFS_CHARS}
    told = choice_brief(question(rules, 4, patches))

    assert "tasks 1, 2" in told
    assert fenced("Task 1\n\nDo it.", fence_of("")) in told
    assert f"## What task 1 changed\n\n{fenced('+ one', fence_of(''))}\n" in told
    assert "## What task 2 changed (only the beginning)" in told
    assert told.count("x" * 100) < DIFFS_CHARS // 2 // 100 + 1
