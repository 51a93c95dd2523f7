import re

from msgspec.structs import replace

from convoy.events.leases import ExpireLease, FreeLease, RenewLease, TakeLease
from convoy.events.session_events import TaskStarted
from convoy.rules.ending import AcceptNothing
from convoy.rules.starting import StartTask
from tests.convoy.room import due, refused, why
from tests.world.rules import NAME, Rules, commands, made, spec


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


def test_only_the_holder_renews_or_frees_and_no_renewal_shortens_a_lease() -> None:
    rules = Rules().locked("port:80")
    stranger = FreeLease(resource="port:80", holder="ben", nonce="n")
    short = RenewLease(resource="port:80", holder="ann", nonce="n", now=0, ttl_s=1)
    before = rules.state.leases["port:80"].expires

    assert "not by you" in why(rules.ask(stranger))
    assert "not by you" in why(rules.ask(replace(short, nonce="n2")))
    rules.do(short)
    assert rules.state.leases["port:80"].expires == before
    rules.do(replace(short, now=rules.now, ttl_s=900))
    assert rules.state.leases["port:80"].expires > before
    rules.do(replace(stranger, holder="ann"))
    assert not rules.state.leases


def test_what_has_run_out_is_free_for_the_next_who_asks_and_is_swept() -> None:
    rules = Rules().locked("port:80")
    end = rules.state.leases["port:80"].expires
    early = ExpireLease(resource="port:80", nonce="n", now=end - 1)
    assert "until" in refused(rules, early)
    for now, swept in ((end - 1, False), (end, True)):
        assert bool(commands(due(rules, {}, now), ExpireLease)) == swept

    rules.now = end
    rules.do(take("port:80", rules, "ben"))
    assert rules.state.leases["port:80"].holder == "ben"

    rules, late = Rules().locked("port:80"), replace(early, now=end)
    assert not rules.do(late).state.leases
    assert "free" in refused(rules, late), "once"


def test_on_what_somebody_holds_a_task_waits_or_is_told_or_nobody_looks() -> None:
    def beside_a_lease(policy: str) -> Rules:
        task = spec(1, paths=("src/a.py",), needs=("port:1",))
        return Rules().locked("path:src/").planned(task, locks=policy)

    rules = beside_a_lease("require")
    begin = made(StartTask, session="s", now=rules.now)
    held = "task 1 waits for path:src/, which ann holds until"
    assert why(rules.ask(begin)).startswith(held)

    rules = beside_a_lease("warn").started(1)
    assert rules.noted(TaskStarted)[0].notes == ("ann is also working on path:src/",)
    assert rules.state.leases.keys() == {"path:src/", "port:1"}

    rules = beside_a_lease("off").started(1)
    assert rules.state.leases.keys() == {"path:src/"}, "nothing is taken"


def test_a_session_that_ends_frees_only_what_it_holds() -> None:
    rules = Rules().planned(spec(1, paths=("src/a.py",))).locked("path:src", 1)
    rules.now += 2_000
    held = rules.started(1).state.leases
    assert list(held) == ["path:src/a.py"], "in the place of what has run out"

    rules = Rules().planned(spec(1, needs=("port:1",)), spec(2, needs=("port:2",)))
    rules.started(1).started(2).lost(1, "died")
    assert list(rules.state.leases) == ["port:2"]
    rules.do(AcceptNothing(convoy=NAME, task=2, attempt=1))
    assert not rules.state.leases
    assert rules.task(2).worked_ms > 0, "its time counts"
