"""The log of the demo, read by the product and by a second reader."""

from itertools import pairwise

import pytest

from grite.wal import Log
from tests.whole.demo import Story

pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("test")]

RECORD = {
    *("convoy.requested", "convoy.planned", "convoy.completed"),
    *("task.queued", "task.started", "task.merged"),
    *("session.spawned", "session.exited", "session.lost", "files.modified"),
    *("work.accepted", "merge.attempted", "merge.failed", "merge.landed"),
    *("lease.taken", "lease.freed", "action.intended", "action.done", "comment.said"),
}
CLAIMS = {
    *("session.spawned", "session.ready", "session.running", "session.handoff"),
    *("session.exited", "files.modified"),
}


def test_it_decodes_with_every_event_id_and_chunk_hash_right(demo: Story) -> None:
    log = Log(demo.seen.path)
    entries = log.entries(str(demo.told["wal_head"]))

    assert [fault for entry in entries for fault in entry.faults] == []
    assert sum(len(entry.events) for entry in entries) == len(demo.rows)


def test_two_readers_agree_on_every_event(demo: Story) -> None:
    log = Log(demo.seen.path)
    ours = [
        (entry.commit, event.actor.hex(), event.ts, event.kind.tag)
        for entry in log.entries(str(demo.told["wal_head"]))
        for event in entry.events
    ]

    theirs = [(row.commit, row.actor, row.at_ms, row.kind) for row in demo.rows]

    assert ours == theirs


def test_every_kind_of_event_that_the_story_has_is_in_it(demo: Story) -> None:
    found = {row.fact["type"] for row in demo.rows if row.fact}

    assert found >= RECORD


def test_every_event_has_a_time_and_an_actor(demo: Story) -> None:
    requested = "convoy.requested"
    (asked,) = [r for r in demo.rows if r.fact and r.fact["type"] == requested]
    hour_ms = 3_600_000

    for row in demo.rows:
        assert len(bytes.fromhex(row.actor)) == 16
        assert abs(row.at_ms - asked.at_ms) < hour_ms


def test_sessions_speak_in_their_own_name_and_only_of_their_task(demo: Story) -> None:
    names = {
        started["session"]: (started["task"], started["attempt"])
        for started in demo.facts("task.started")
    }
    claims = [row for row in demo.rows if row.fact and row.fact["type"] in CLAIMS]

    assert {row.actor for row in claims} == set(names)
    for row in claims:
        assert row.fact
        assert (row.fact["task"], row.fact["attempt"]) == names[row.actor]


def test_one_bot_speaks_all_else_with_times_that_never_go_back(demo: Story) -> None:
    sessions = {started["session"] for started in demo.facts("task.started")}
    rows = [row for row in demo.rows if row.actor not in sessions]

    assert len({row.actor for row in rows}) == 1
    assert all(before.at_ms < after.at_ms for before, after in pairwise(rows))


def test_the_exit_of_each_session_is_told(demo: Story) -> None:
    exits = demo.facts("session.exited")
    lost = demo.facts("session.lost")

    assert len(exits) + len(lost) == len(demo.facts("task.started"))
    for told in exits:
        assert (told["exit_code"], told["signal"]) == (0, None)
        assert told["verdict"] == "success"


def test_files_modified_are_those_of_the_work(demo: Story) -> None:
    named = {
        (fact["task"], fact["attempt"]): fact["paths"]
        for fact in demo.facts("files.modified")
    }

    for work in demo.facts("work.accepted"):
        touched = named[work["task"], work["attempt"]]
        assert touched == work["files"] or work["attempt"] > 1  # it made work fit
        assert {*touched} <= {*work["files"]}
    assert named[1, 1] == ["auth/tokens.py", "known_bugs/1-token-lifetime"]
