import json
from collections.abc import Callable

import pytest

from convoy.answers import read_choice, read_report, read_review, report_brief
from convoy.events.session_events import TaskStarted
from convoy.kinds import KINDS
from convoy.model.records import Finding, Report
from convoy.model.session_result import HANDED_CHARS, report_for_others
from convoy.model.state import Task
from convoy.rules.ending import AcceptNothing, AcceptReport, AcceptWork
from convoy.text import Unfit
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

KNOWN = frozenset({"a.py", "lib/"})
GOOD = {
    "summary": "It is slow.",
    "findings": [{"title": "A loop", "detail": "In it.", "paths": ["a.py", "lib"]}],
    "recommendation": "Make it fast.",
    "open": ["Why?"],
}
REPORT = Report(summary="It is slow.")


def given(number: int, report: Report = REPORT) -> AcceptReport:
    return AcceptReport(convoy=NAME, task=number, attempt=1, report=report)


def test_an_answer_that_fits_is_a_report() -> None:
    report = read_report(f"So:\n```json\n{json.dumps(GOOD)}\n```\nBRAT: done", KNOWN)

    finding = Finding(title="A loop", detail="In it.", paths=("a.py", "lib"))
    assert report.findings == (finding,)
    assert report_for_others(report).splitlines() == [
        "It is slow.",
        "- A loop (a.py, lib): In it.",
        "Recommendation: Make it fast.",
        "Open: Why?",
    ]
    assert '"findings"' in report_brief(KINDS["report"])
    assert "None of your changes here" in report_brief(KINDS["scout"])


TASKS = tuple(Task(spec=spec(n, kind="rival")) for n in (1, 2, 3))


def chosen(answer: str) -> object:
    return read_choice(answer, TASKS, TASKS[:2])


def reported(answer: str) -> Report:
    return read_report(answer, KNOWN)


@looped(
    (reported, "I looked.", "The answer contains no JSON object."),
    (reported, "{x}", "The report is not JSON"),
    (reported, "{}", "summary: Field required."),
    (reported, json.dumps({"summary": "\u200b"}), "The report has no summary."),
    (reported, json.dumps(GOOD | {"mood": 1}), "mood: Extra inputs are not permitted."),
    (
        reported,
        json.dumps(GOOD | {"findings": [{"title": "x", "paths": ["b.py"]}]}),
        'Finding 1: "b.py" does not exist.',
    ),
    (reported, json.dumps({"summary": "x" * 4_001}), "summary: "),
    (read_review, '{"verdict": "good"}', "Input should be 'approve' or 'changes'."),
    (read_review, '{"verdict": "changes", "text": " "}', "does not say which ones."),
    (chosen, '{"winner": "two", "text": "x"}', "winner: Input should be a valid int"),
    (chosen, '{"winner": 1}', "text: Field required."),
    (chosen, '{"winner": 3, "text": "x"}', "Task 3 is not green in CI: choose one of"),
    (chosen, '{"winner": 9, "text": "x"}', "Task 9 is not one of the rivals: choose"),
)
def test_what_is_no_answer_is_told_so(
    read: Callable[[str], object], answer: str, told: str
) -> None:
    with pytest.raises(Unfit) as caught:
        read(answer)
    assert told in str(caught.value)


def test_an_agents_words_are_cleaned_and_bounded() -> None:
    secret = "ghp_" + "a1B2" * 9
    report = read_report(json.dumps({"summary": f"\x1b[1mx {secret}"}), KNOWN)
    assert secret not in report.summary
    assert report.summary.startswith("x ")

    assert len(report_for_others(Report(summary="x" * 20_000))) == HANDED_CHARS
    review = read_review(json.dumps({"verdict": "approve", "text": "\x1b[1mNice."}))
    assert (review.verdict, review.text) == ("approve", "Nice.")
    choice = read_choice('{"winner": 2, "text": "\\u001b[1mNice."}', TASKS, TASKS[:2])
    assert (choice.winner, choice.text) == (2, "Nice.")


def test_a_report_settles_its_task_and_is_handed_on() -> None:
    rules = Rules().planned(spec(1, kind="report"), spec(2, kind="scout", after=(1,)))
    rules.started(1).do(given(1)).started(2)

    started = rules.noted(TaskStarted)
    assert rules.task(1).state == "merged"
    assert rules.task(1).landed is None
    assert rules.task(1).report == REPORT
    assert [fact.kind for fact in started] == ["report", "scout"]
    assert started[1].handed == ("task 1 (Task 1) reports: It is slow.",)

    rules.do(given(2))
    assert rules.convoy.state == "complete"
    assert rules.convoy.pull is None, "it lands nothing"


def test_only_a_task_that_reports_ends_in_a_report_and_in_nothing_else() -> None:
    rules = Rules().planned(spec(1, kind="scout"), spec(2)).started(1).started(2)

    assert str(rules.ask(given(2))) == "task 2 does not end with a report"
    work = made(AcceptWork, commit=sha("a"))
    assert str(rules.ask(work)) == "task 1 must end with a report, not a change"
    assert rules.ask(AcceptNothing(convoy=NAME, task=1, attempt=1))
    assert rules.do(given(1)).ask(given(1)), "once"
