import re

from msgspec.structs import replace

from convoy.events.leases import ExpireLease, FreeLease, RenewLease, TakeLease
from convoy.events.session_events import TaskStarted
from convoy.rules.plans import PlanConvoy
from convoy.rules.starting import StartTask
from tests.convoy.room import why
from tests.world.rules import NAME, Rules, made, requested, settings, spec


def take(resource: str, rules: Rules, holder: str = "ann") -> TakeLease:
    return TakeLease(
        resource=resource, holder=holder, nonce="n", now=rules.now, ttl_s=300
    )


def test_a_resource_has_one_holder_over_all_that_overlaps_it() -> None:
    rules = Rules().locked("path:src/")

    assert "which ann holds" in why(rules.ask(take("path:src/a.py", rules, "ben")))
    until = r"which ann holds until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"
    assert re.search(until, why(rules.ask(take("repo:global", rules, "ben"))))
    assert "the bot's own" in why(rules.ask(take("repo:bot", rules)))
    assert rules.ask(take("path:docs/", rules, "ben")) is None


def test_only_the_holder_renews_or_frees() -> None:
    rules = Rules().locked("port:80")
    stranger = FreeLease(resource="port:80", holder="ben", nonce="n")
    wrong_nonce = RenewLease(
        resource="port:80", holder="ann", nonce="n2", now=rules.now, ttl_s=300
    )

    assert "not by you" in why(rules.ask(stranger))
    assert "not by you" in why(rules.ask(wrong_nonce))
    rules.do(FreeLease(resource="port:80", holder="ann", nonce="n"))

    assert not rules.state.leases


def test_a_renewal_never_shortens_a_lease() -> None:
    rules = Rules().locked("port:80")
    before = rules.state.leases["port:80"].expires

    short = RenewLease(resource="port:80", holder="ann", nonce="n", now=0, ttl_s=1)
    rules.do(short)

    assert rules.state.leases["port:80"].expires == before
    rules.do(replace(short, now=rules.now, ttl_s=900))
    assert rules.state.leases["port:80"].expires > before


def test_what_has_run_out_is_free_for_the_next_who_asks() -> None:
    rules = Rules().locked("port:80")
    early = ExpireLease(resource="port:80", nonce="n", now=rules.now)
    assert "until" in why(rules.ask(early))

    rules.now += 400_000
    rules.do(take("port:80", rules, "ben"))

    assert rules.state.leases["port:80"].holder == "ben"


def convoy_beside_a_lease(policy: str) -> Rules:
    rules = Rules().locked("path:src/")
    return rules.do(
        requested(title="t", text="", settings=settings(locks=policy)),
        PlanConvoy(
            convoy=NAME,
            planner="test",
            tasks=(spec(1, paths=("src/a.py",), needs=("port:1",)),),
        ),
    )


def test_on_what_somebody_holds_a_task_waits_or_is_told_or_nobody_looks() -> None:
    rules = convoy_beside_a_lease("require")
    begin = made(StartTask, session="s", now=rules.now)
    held = "task 1 waits for path:src/, which ann holds until"
    assert why(rules.ask(begin)).startswith(held)

    rules = convoy_beside_a_lease("warn").started(1)
    started = next(f for f in rules.facts if isinstance(f, TaskStarted))
    assert started.notes == ("ann is also working on path:src/",)
    assert rules.state.leases.keys() == {"path:src/", "port:1"}

    rules = convoy_beside_a_lease("off").started(1)
    assert rules.state.leases.keys() == {"path:src/"}, "nothing is taken"
