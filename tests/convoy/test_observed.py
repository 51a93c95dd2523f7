"""What CI says of a commit, from the check runs a forge reports."""

from typing import Any

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from convoy.events.merge_events import MergeLanded
from convoy.model import ids
from convoy.rules.verdict import ANYBODY, Check, Checks, CiVerdict, Reporters, judge
from tests.world.cases import looped
from tests.world.rules import made

OWN = "brat"


def check(
    number: int, name: str = "test", said: str = "success", **given: object
) -> Check:
    """Return a check run that has ended; `running` has not."""
    running = said == "running"
    usual = Check(
        id=number,
        app="github-actions",
        name=name,
        status="in_progress" if running else "completed",
        conclusion=None if running else said,
    )
    return replace(usual, **given)


def status(
    number: int, name: str = "ci/jenkins", said: str = "success", app: str = ""
) -> Check:
    return check(number, name, said, app=app, is_status=True)


def seen(
    *reported: Check,
    required: tuple[str, ...] = (),
    running: bool = False,
    known: Reporters = ANYBODY,
) -> Checks:
    return judge(reported, required, OWN, running=running, reporters=known)


def verdict(*reported: Check, **given: Any) -> CiVerdict:  # noqa: ANN401  as `seen`
    return seen(*reported, **given).verdict


@looped("failure", "error", "something_new")
def test_what_failed_is_red(said: str) -> None:
    assert verdict(check(1, "test", said)) == "red"
    assert verdict(check(1, "test", said), check(2, "lint", "running")) == "red"
    assert verdict(check(1, "test", said), required=("test",)) == "red"


@looped("skipped", "neutral")
def test_skipped_and_neutral_pass_as_on_github_beside_one_that_tested(
    said: str,
) -> None:
    idle = check(1, "deploy", said)

    assert verdict(idle, check(2)) == "green"
    assert verdict(idle, check(2, said="failure")) == "red"
    assert verdict(idle, required=("deploy",)) == "green"
    assert verdict(idle, running=True) == "pending"
    assert seen(idle, check(2, app="other-ci")).reporters == {"test": "other-ci"}
    alone = seen(idle)
    assert alone.verdict == "broken"
    assert f"nothing has tested it: deploy was {said}" in alone.text


@looped("cancelled", "timed_out", "stale", "startup_failure")
def test_what_was_stopped_is_no_verdict(said: str) -> None:
    stopped = check(1, "test", said)

    assert verdict(stopped) == "lost"
    assert verdict(stopped, check(2, "lint", "running")) == "pending"
    assert verdict(stopped, running=True) == "pending"
    assert verdict(stopped, check(2, "lint", "failure")) == "red"
    assert verdict(stopped, check(2, "test")) == "green"
    assert ("concurrency" in seen(stopped).text) == (said == "cancelled")


def test_the_bots_own_checks_never_count() -> None:
    own = check(1, "brat", app=OWN)
    made = check(2, "brat (task-1)", "running", external=ids.check_key("fix-7", 1, 1))
    said = status(3, ids.task_check_name(3), "failure")
    convoys = status(4, ids.CONVOY_CHECK_NAME, "running")

    for mine in ([own], [made], [said, convoys]):
        assert seen(*mine) == Checks(verdict="none")
        assert seen(check(5), *mine).names == ("test",)
    assert verdict(own, required=("brat",)) == "none"
    assert verdict(check(2), check(3, "brat", "failure", app=OWN)) == "green"


ASKS, BOTH = check(1, "test", "action_required"), ("ci/jenkins", "test")
ENDED = Check(id=1, app="ci", name="test", status="completed", conclusion=None)


@looped(
    *(("none", [], ()), ("none", [], ("test",))),
    # one that runs is waited for, whatever it concludes
    ("pending", [check(1), check(2, "lint", "running")], ()),
    *(
        ("pending", [check(1, status=status)], ())
        for status in ("queued", "in_progress", "waiting", "pending")
    ),
    # one that asks for a person is no fault of the work
    ("broken", [ASKS], ()),
    ("broken", [ASKS, check(2, "lint", "running")], ()),
    ("red", [ASKS, check(2, "lint", "failure")], ()),
    ("green", [ASKS, check(2, "test")], ()),
    # an end without a conclusion is red
    ("red", [ENDED], ()),
    # commit statuses are checks, beside which they count
    ("green", [status(1)], ()),
    ("green", [status(1, said="error"), status(2)], ()),
    ("red", [status(1), status(2, said="failure")], ()),
    ("pending", [status(1), status(2, "ci/slow", "running")], ()),
    ("green", [status(1)], ("ci/jenkins",)),
    ("red", [check(2), status(1, said="failure")], ()),
    ("pending", [check(1), status(2, said="running")], ()),
    ("pending", [check(1)], BOTH),
    ("green", [check(1), status(2)], BOTH),
    ("red", [check(1, app=""), status(2, "test", "failure")], ()),
    ("red", [status(2, "test"), check(1, said="failure", app="")], ()),
)
def test_what_is_reported_makes_one_verdict(
    given: str, reported: list[Check], required: tuple[str, ...]
) -> None:
    assert verdict(*reported, required=required) == given


def test_the_red_ones_say_what_was_wrong() -> None:
    told = seen(
        check(1, "test", "failure", text="2 failed\n"),
        check(2, "lint", "error"),
        check(3, "docs", text="fine"),
    )

    assert told.names == ("docs", "lint", "test")
    assert told.text == "test: failure\n2 failed\nlint: error"


checks = st.builds(
    check,
    st.integers(1, 50),
    st.sampled_from(["test", "lint"]),
    st.sampled_from(["success", "failure", "running"]),
    app=st.sampled_from(["ci", "other", OWN]),
)


@given(
    st.lists(checks, max_size=8, unique_by=lambda c: c.id),
    st.sets(st.sampled_from(["test", "lint", "docs"])),
)
@settings(deadline=None)
def test_green_means_that_each_required_check_passed_when_it_ran_last(
    reported: list[Check], required: set[str]
) -> None:
    found = verdict(*reported, required=tuple(sorted(required)))

    counted = [c for c in reported if c.app != OWN]
    if required:
        counted = [c for c in counted if c.name in required]
    last = {(c.app, c.name): c for c in sorted(counted, key=lambda c: c.id)}
    passed = all(c.conclusion == "success" for c in last.values())
    complete = required <= {name for _, name in last}
    assert (found == "green") == (bool(last) and passed and complete)
    assert (found == "red") == any(c.conclusion == "failure" for c in last.values())


def test_a_workflow_that_still_runs_may_bring_another_check() -> None:
    awaited = Checks(verdict="pending", names=("test",), more=True)
    assert seen(check(1), running=True) == awaited
    assert verdict(running=True) == "pending"
    assert verdict(check(1, said="failure"), running=True) == "red"
    assert verdict(check(1), required=("test",), running=True) == "pending"


# --- whose word counts: what others write turns nothing green -------------------------


PUSH = ".github/workflows/ci.yml@push"
DISPATCH = ".github/workflows/ci.yml@workflow_dispatch"


def word(number: int, said: str = "success", **given: object) -> Check:
    """Return a check run named `ci` of another App."""
    return check(number, **{"name": "ci", "said": said, "app": "jenkins", **given})  # type: ignore[arg-type]


def job(number: int, said: str = "success", **given: object) -> Check:
    return word(number, said, app="github-actions", workflow=PUSH, **given)


def loose(number: int, said: str = "success", **given: object) -> Check:
    return word(number, said, app="github-actions", is_loose=True, **given)


def counted(*reported: Check, **given: Any) -> CiVerdict:  # noqa: ANN401  as `seen`
    return verdict(*reported, **{"required": ("ci",), **given})


def test_a_newer_forged_check_run_does_not_turn_red_into_green() -> None:
    for forged in (loose(9), word(9, app="evil"), word(9, is_status=True)):
        assert counted(job(1, "failure"), forged) == "red"
        assert counted(job(1, "failure"), forged, required=()) == "red"

    found = seen(loose(1), required=("ci",))
    assert found.verdict == "broken"
    assert "a job's token" in found.text, "it is nobody's word"
    assert counted(loose(1), required=()) == "broken"
    assert counted(loose(1), job(2)) == "green"
    assert counted(loose(2, "failure"), job(1)) == "red"


def test_a_check_counts_only_from_who_is_known_to_report_it() -> None:
    known = Reporters(named={"ci": "jenkins"})

    assert counted(word(1), known=known) == "green"
    found = seen(word(1, app="evil"), required=("ci",), known=known)
    assert found.verdict == "broken"
    assert "evil is not allowed to report it" in found.text
    assert counted(word(1, app="evil"), word(2, "running"), known=known) == "pending"
    assert counted(word(1, app="evil", is_status=True), known=known) == "broken"
    assert counted(word(1, "failure", app="evil"), known=known) == "red"

    stranger = word(1, name="looks-good", app="evil")
    assert counted(stranger, required=(), known=known) == "broken"
    assert counted(stranger, word(2), required=(), known=known) == "green"
    assert counted(stranger, required=()) == "green"


@looped(
    ("green", "jenkins", 7, False),
    ("green", "vercel[bot]", 7, True),
    ("broken", "jenkins", 8, False),
    ("broken", "evil[bot]", 8, True),
    ("broken", "mallory", 0, True),
)
def test_a_rulesets_app_is_known_by_its_number_in_a_status_too(
    told: str, app: str, app_id: int, is_status: object
) -> None:
    known = Reporters(ids={"ci": 7})

    reported = word(1, app=app, app_id=app_id, is_status=is_status)
    assert counted(reported, known=known) == told


def test_another_run_of_a_workflow_does_not_replace_a_red_one() -> None:
    assert counted(job(1, "failure"), job(2)) == "red"
    started = word(2, app="github-actions", workflow=DISPATCH)
    assert counted(job(1, "failure"), started) == "red"
    assert counted(job(1, "cancelled"), job(2)) == "green"
    assert counted(job(1, "action_required"), job(2)) == "green"


def test_a_second_ci_that_leaves_a_commit_alone_is_awaited_and_then_named() -> None:
    both = Reporters(awaited=frozenset({"ci", "e2e"}))
    late = Reporters(awaited=both.awaited, is_late=True)
    second = word(2, name="e2e", app="circleci")

    waiting = seen(word(1), known=both)
    assert (waiting.verdict, waiting.missing) == ("pending", ("e2e",))
    assert seen(word(1), second, known=both).verdict == "green"
    assert seen(word(1, "failure"), known=both).verdict == "red"
    ended = seen(word(1), known=late)
    assert (ended.verdict, ended.missing) == ("green", ("e2e",))
    assert counted(word(1), required=("ci",), known=both) == "green"
    landed = made(MergeLanded, candidate="c", branch="b", judged=("ci",))
    landed = replace(landed, missing=("e2e",))
    assert landed.sentence().endswith(" (checks: ci; missing: e2e).")
