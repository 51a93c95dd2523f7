"""What CI says of a commit, from the check runs a forge reports."""

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from convoy.events.merge_events import MergeLanded
from convoy.model import ids
from convoy.rules.verdict import ANYBODY, Check, Checks, CiVerdict, Reporters, judge
from tests.world.cases import looped
from tests.world.rules import made

OWN = "brat"


def check(
    number: int, name: str = "test", said: str = "success", **given: str
) -> Check:
    """Return a check run that has ended; `running` has not."""
    ended = said != "running"
    return Check(
        id=number,
        app=given.get("app", "github-actions"),
        name=name,
        status="completed" if ended else "in_progress",
        conclusion=said if ended else None,
        text=given.get("text", ""),
        is_status=given.get("kind") == "status",
    )


def verdict(
    *reported: Check, required: tuple[str, ...] = (), running: bool = False
) -> CiVerdict:
    return judge(reported, required, OWN, running=running).verdict


def status(number: int, name: str = "ci/jenkins", said: str = "success") -> Check:
    return check(number, name, said, app="", kind="status")


@looped("failure", "error", "something_new")
def test_what_failed_is_red(said: str) -> None:
    assert verdict(check(1, "test", said)) == "red"
    assert verdict(check(1, "test", said), check(2, "lint", "running")) == "red"
    assert verdict(check(1, "test", said), required=("test",)) == "red"


def test_skipped_and_neutral_pass_as_on_github_beside_one_that_tested() -> None:
    for said in ("skipped", "neutral"):
        idle = check(1, "deploy", said)

        assert verdict(idle, check(2)) == "green"
        assert verdict(idle, check(2, said="failure")) == "red"
        assert verdict(idle, required=("deploy",)) == "green"
        assert verdict(idle, running=True) == "pending"
        seen = judge([idle, check(2, app="other-ci")], (), OWN)
        assert seen.reporters == {"test": "other-ci"}

        alone = judge([idle], (), OWN)
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
    assert ("concurrency" in judge([stopped], (), OWN).text) == (said == "cancelled")


def test_the_bots_own_checks_never_count() -> None:
    own = check(1, "brat", app=OWN)
    made = replace(
        check(2, "brat (task-1)", "running"), external=ids.check_key("fix-7", 1, 1)
    )
    said = status(3, ids.task_check_name(3), "failure")
    convoys = status(4, ids.CONVOY_CHECK_NAME, "running")

    for mine in ([own], [made], [said, convoys]):
        assert judge(mine, (), OWN) == Checks(verdict="none")
        assert judge([check(5), *mine], (), OWN).names == ("test",)
    assert verdict(own, required=("brat",)) == "none"
    assert verdict(check(2), check(3, "brat", "failure", app=OWN)) == "green"


ASKS, BOTH = check(1, "test", "action_required"), ("ci/jenkins", "test")
ENDED = Check(id=1, app="ci", name="test", status="completed", conclusion=None)


@looped(
    *(("none", [], ()), ("none", [], ("test",))),
    # one that runs is waited for, whatever it concludes
    ("pending", [check(1), check(2, "lint", "running")], ()),
    *(
        ("pending", [replace(check(1), status=status)], ())
        for status in ("queued", "in_progress", "waiting", "pending")
    ),
    # one that asks for a person is no fault of the work
    ("broken", [ASKS], ()),
    ("broken", [ASKS, check(2, "lint", "running")], ()),
    ("red", [ASKS, check(2, "lint", "failure")], ()),
    ("green", [ASKS, check(2, "test")], ()),
    # an end without a conclusion is red
    ("red", [ENDED], ()),
    # two Apps with a check of one name must both pass
    ("red", [check(1), check(2, said="failure", app="other-ci")], ()),
    ("red", [check(3, said="failure"), check(4, app="other-ci")], ()),
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
    seen = judge(
        [
            check(1, "test", "failure", text="2 failed\n"),
            check(2, "lint", "error"),
            check(3, "docs", text="fine"),
        ],
        (),
        OWN,
    )

    assert seen.names == ("docs", "lint", "test")
    assert seen.text == "test: failure\n2 failed\nlint: error"


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
    seen = judge(reported, tuple(sorted(required)), OWN)

    counted = [c for c in reported if c.app != OWN]
    if required:
        counted = [c for c in counted if c.name in required]
    last = {(c.app, c.name): c for c in sorted(counted, key=lambda c: c.id)}
    passed = all(c.conclusion == "success" for c in last.values())
    complete = required <= {name for _, name in last}
    assert (seen.verdict == "green") == (bool(last) and passed and complete)
    assert (seen.verdict == "red") == any(
        c.conclusion == "failure" for c in last.values()
    )


def test_a_workflow_that_still_runs_may_bring_another_check() -> None:
    seen = judge([check(1)], (), OWN, running=True)

    assert seen == Checks(verdict="pending", names=("test",), more=True)
    assert judge([], (), OWN, running=True).verdict == "pending"
    assert judge([check(1, said="failure")], (), OWN, running=True).verdict == "red"
    assert judge([check(1)], ("test",), OWN, running=True).verdict == "pending"


# --- whose word counts: what others write turns nothing green -------------------------


PUSH = ".github/workflows/ci.yml@push"
DISPATCH = ".github/workflows/ci.yml@workflow_dispatch"


def word(number: int, said: str = "success", **given: object) -> Check:
    """Return a check run named `ci` of another App."""
    return replace(check(number, "ci", said, app="jenkins"), **given)


def job(number: int, said: str = "success", **given: object) -> Check:
    return word(number, said, app="github-actions", workflow=PUSH, **given)


def loose(number: int, said: str = "success", **given: object) -> Check:
    return word(number, said, app="github-actions", is_loose=True, **given)


def seen(
    *reported: Check, required: tuple[str, ...] = (), known: Reporters = ANYBODY
) -> Checks:
    return judge(reported, required, OWN, reporters=known)


def counted(
    *reported: Check, required: tuple[str, ...] = ("ci",), known: Reporters = ANYBODY
) -> CiVerdict:
    return seen(*reported, required=required, known=known).verdict


def test_a_newer_forged_check_run_does_not_turn_red_into_green() -> None:
    for forged in (loose(9), word(9, app="evil"), word(9, is_status=True)):
        assert counted(job(1, "failure"), forged) == "red"
        assert counted(job(1, "failure"), forged, required=()) == "red"


def test_a_check_of_a_jobs_token_is_nobodys_word() -> None:
    found = seen(loose(1), required=("ci",))

    assert found.verdict == "broken"
    assert "a job's token" in found.text
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


def test_a_rulesets_app_is_known_by_its_number_in_a_status_too() -> None:
    known = Reporters(ids={"ci": 7})

    def said(app: str, app_id: int, *, is_status: bool = True) -> CiVerdict:
        reported = word(1, app=app, app_id=app_id, is_status=is_status)
        return counted(reported, known=known)

    assert said("jenkins", 7, is_status=False) == said("vercel[bot]", 7) == "green"
    assert said("jenkins", 8, is_status=False) == "broken"
    assert said("evil[bot]", 8) == said("mallory", 0) == "broken"


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
