"""Whose word about a commit counts: what others write turns nothing green."""

from convoy.events.merge_events import MergeLanded
from convoy.rules.verdict import ANYBODY, Check, Checks, CiVerdict, Reporters, judge

PUSH = ".github/workflows/ci.yml@push"
DISPATCH = ".github/workflows/ci.yml@workflow_dispatch"
OWN = "brat"


def check(number: int, said: str = "success", **given: object) -> Check:
    """Return a check named `ci` that has ended, unless it is `running`."""
    ended = said != "running"
    known = {"app": "jenkins", "name": "ci"} | given
    return Check(
        id=number,
        status="completed" if ended else "in_progress",
        conclusion=said if ended else None,
        **known,  # type: ignore[arg-type]
    )


def job(number: int, said: str = "success", **given: object) -> Check:
    return check(number, said, app="github-actions", workflow=PUSH, **given)


def loose(number: int, said: str = "success", **given: object) -> Check:
    return check(number, said, app="github-actions", is_loose=True, **given)


def seen(
    *reported: Check, required: tuple[str, ...] = (), known: Reporters = ANYBODY
) -> Checks:
    return judge(reported, required, OWN, reporters=known)


def verdict(
    *reported: Check, required: tuple[str, ...] = ("ci",), known: Reporters = ANYBODY
) -> CiVerdict:
    return seen(*reported, required=required, known=known).verdict


def test_a_newer_forged_check_run_does_not_turn_red_into_green() -> None:
    for forged in (loose(9), check(9, app="evil"), check(9, is_status=True)):
        assert verdict(job(1, "failure"), forged) == "red"
        assert verdict(job(1, "failure"), forged, required=()) == "red"


def test_a_check_of_a_jobs_token_is_nobodys_word() -> None:
    found = seen(loose(1), required=("ci",))

    assert found.verdict == "broken"
    assert "a job's token" in found.text
    assert verdict(loose(1), required=()) == "broken"
    assert verdict(loose(1), job(2)) == "green"
    assert verdict(loose(2, "failure"), job(1)) == "red"


def test_a_check_counts_only_from_who_is_known_to_report_it() -> None:
    known = Reporters(named={"ci": "jenkins"})

    assert verdict(check(1), known=known) == "green"
    found = seen(check(1, app="evil"), required=("ci",), known=known)
    assert found.verdict == "broken"
    assert "evil is not allowed to report it" in found.text
    assert verdict(check(1, app="evil"), check(2, "running"), known=known) == "pending"
    assert verdict(check(1, app="evil", is_status=True), known=known) == "broken"
    assert verdict(check(1, "failure", app="evil"), known=known) == "red"

    stranger = check(1, name="looks-good", app="evil")
    assert verdict(stranger, required=(), known=known) == "broken"
    assert verdict(stranger, check(2), required=(), known=known) == "green"
    assert verdict(stranger, required=()) == "green"


def test_a_rulesets_app_is_known_by_its_number_in_a_status_too() -> None:
    known = Reporters(ids={"ci": 7})

    def said(app: str, app_id: int, *, is_status: bool = True) -> CiVerdict:
        reported = check(1, app=app, app_id=app_id, is_status=is_status)
        return verdict(reported, known=known)

    assert said("jenkins", 7, is_status=False) == said("vercel[bot]", 7) == "green"
    assert said("jenkins", 8, is_status=False) == "broken"
    assert said("evil[bot]", 8) == said("mallory", 0) == "broken"


def test_another_run_of_a_workflow_does_not_replace_a_red_one() -> None:
    assert verdict(job(1, "failure"), job(2)) == "red"
    started = check(2, app="github-actions", workflow=DISPATCH)
    assert verdict(job(1, "failure"), started) == "red"
    assert verdict(job(1, "cancelled"), job(2)) == "green"
    assert verdict(job(1, "action_required"), job(2)) == "green"


def test_a_second_ci_that_leaves_a_commit_alone_is_awaited_and_then_named() -> None:
    both = Reporters(awaited=frozenset({"ci", "e2e"}))
    late = Reporters(awaited=both.awaited, is_late=True)
    second = check(2, name="e2e", app="circleci")

    waiting = seen(check(1), known=both)
    assert (waiting.verdict, waiting.missing) == ("pending", ("e2e",))
    assert seen(check(1), second, known=both).verdict == "green"
    assert seen(check(1, "failure"), known=both).verdict == "red"
    ended = seen(check(1), known=late)
    assert (ended.verdict, ended.missing) == ("green", ("e2e",))
    assert verdict(check(1), required=("ci",), known=both) == "green"
    landed = MergeLanded(
        convoy="a",
        task=1,
        candidate="c" * 40,
        branch="b",
        judged=("ci",),
        missing=("e2e",),
    )
    assert landed.sentence().endswith(" (checks: ci; missing: e2e).")
