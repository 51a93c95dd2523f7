"""`brat demo --json`: what it says, and what the forge and git show afterwards."""

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from brat.demo import write_sample
from brat.local.start_checks import MODEL_URL
from grite.wal import Log
from tests.engines.install import PROGRAMS
from tests.whole.demo import CHAOS_SEED, TASKS, Story
from tests.world import scripted_work
from tests.world.given_secrets import given
from tests.world.patience import patient
from tests.world.second_reader import git
from tests.world.terminal import Terminal, left_running
from tests.world.vendor.scripted import scripted

# The first test that asks waits for the run.
pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


def pytest_of(story: Story, commit: str, folder: Path) -> int:
    git(folder, "clone", "-q", "--no-checkout", story.seen.repository, "checkout")
    git(folder / "checkout", "checkout", "-q", commit)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder / "checkout",
        env={"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        timeout=patient(30),
        check=False,
    )
    return done.returncode


def test_standard_output_is_one_json_object_with_the_promised_keys(demo: Story) -> None:
    told = demo.told

    assert demo.said.out.count("\n") == 1
    assert told.keys() >= {"convoy", "tasks", "wal_head", "wall_seconds", "repository"}
    for task in demo.tasks:
        assert task.keys() >= {
            *("number", "state", "attempts", "branch", "pull_request", "landed_commit")
        }
    assert told["repository"] == demo.seen.repository
    assert told["wal_head"] == demo.seen.git("rev-parse", "refs/grite/wal")
    assert told["wall_seconds"] > 0


def test_all_tasks_merged_each_on_its_own_branch(demo: Story) -> None:
    convoy = demo.told["convoy"]

    assert [task["number"] for task in demo.tasks] == [*TASKS]
    assert {task["state"] for task in demo.tasks} == {"merged"}
    assert demo.watched == ["merged"] * len(TASKS), "as the dashboard showed it"
    for task in demo.tasks:
        branch = f"convoy/{convoy}/task-{task['number']}"
        assert task["branch"] == branch
        assert demo.seen.git("rev-parse", branch) == task["landed_commit"]


def test_the_attempts_are_those_that_the_story_tells(demo: Story) -> None:
    attempts = {task["number"]: task["attempts"] for task in demo.tasks}
    failed = {fact["task"]: fact["why"] for fact in demo.facts("merge.failed")}
    (conflicting,) = {6, 7} & failed.keys()

    assert attempts == {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 1, 7: 1} | {conflicting: 2}
    assert failed.keys() == {4, conflicting}
    assert failed[4].startswith("CI is red on ")
    assert "conflicts" in failed[conflicting]
    assert "CHANGELOG.md" in failed[conflicting]
    assert [fact["task"] for fact in demo.facts("session.lost")] == [5]


def test_the_summary_says_what_went_wrong_and_was_put_right(demo: Story) -> None:
    lines = demo.said.lines
    again = [line.split()[1] for line in lines if " was tried again: " in line]

    assert lines[0].startswith("engine: shell")
    assert "a real agent" in lines[0]
    assert again in (["4", "5", "6"], ["4", "5", "7"])
    assert any(line.startswith(("one at a time: ", "total: ")) for line in lines)
    assert lines[-1] == "tests on main: pass"


def test_the_ways_to_look_that_it_names_are_good(demo: Story, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, tmp_path)
    ways = [line for line in demo.said.lines if line.startswith(("  git ", "  brat "))]

    shown = [terminal.done(line) for line in ways]

    assert len(ways) >= 2
    assert "WAL: " in shown[0]
    assert all(task["landed_commit"][:7] in shown[1] for task in demo.tasks)


def test_the_tests_failed_before_and_pass_now(demo: Story, tmp_path: Path) -> None:
    (asked,) = demo.facts("convoy.requested")
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()

    assert pytest_of(demo, asked["base"], before) == 1
    assert pytest_of(demo, "main", after) == 0


def test_each_landed_commit_is_on_the_default_branch_and_ci_judged_it(
    demo: Story,
) -> None:
    assert len(set(demo.landed)) == len(TASKS)
    assert set(demo.landed) <= demo.seen.ancestors()
    tip = demo.seen.git("rev-parse", "main")
    for commit in {*demo.landed, tip}:
        (check,) = demo.seen.checks[commit]
        assert (check["name"], check["conclusion"]) == ("ci", "success")
        assert check["head_sha"] == commit
    for landed in demo.facts("merge.landed"):
        assert landed["judged"] == ["ci"]


def test_the_issue_has_one_comment_with_a_row_a_task_edited_in_place(
    demo: Story,
) -> None:
    number = str(demo.seen.issue["number"])
    comments = {**demo.seen.comments}  # other tests read them, too
    (comment,) = comments.pop(number)
    posted = [path for method, path in demo.calls if method == "POST"]
    edits = [path for method, path in demo.calls if method == "PATCH"]

    assert comment["user"]["login"] == "brat[bot]"
    rows = [line for line in comment["body"].splitlines() if line.startswith("| ")]
    for row, task in zip(rows[1:], demo.tasks, strict=True):
        assert row.startswith(f"| {task['number']} | {task['title']} | merged | ")
        assert f"| #{task['pull_request']} | `{task['landed_commit'][:10]}` |" in row
    assert not any(comments.values()), "nothing is said on pull requests"
    assert sum(path.endswith("/comments") for path in posted) == 1
    assert sum(path.endswith(f"/issues/comments/{comment['id']}") for path in edits) > 2


def test_the_issue_is_closed_with_the_label_of_its_end(demo: Story) -> None:
    issue = demo.seen.issue
    labels = [
        (event["event"], event["label"]["name"], event["actor"]["login"])
        for event in demo.seen.issue_events
        if event["event"] in {"labeled", "unlabeled"}
    ]

    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert [label["name"] for label in issue["labels"]] == ["brat:complete"]
    assert labels[0] == ("labeled", "brat", "you")
    assert ("unlabeled", "brat", "brat[bot]") in labels
    assert ("labeled", "brat:active", "brat[bot]") in labels
    assert sum(event["event"] == "closed" for event in demo.seen.issue_events) == 1


def test_no_branch_of_the_queue_no_lease_and_no_process_is_left(demo: Story) -> None:
    assert demo.left_running == []
    assert demo.seen.refs("refs/heads/brat/") == []
    assert demo.seen.refs("refs/grite/locks/") == []
    taken = [fact["nonce"] for fact in demo.facts("lease.taken")]
    freed = [fact["nonce"] for fact in demo.facts("lease.freed")]
    assert sorted(taken) == sorted(freed)


def test_accepted_work_is_on_its_branch_or_kept_beside_it(demo: Story) -> None:
    for work in demo.facts("work.accepted"):
        refs = demo.seen.refs(f"--contains={work['commit']}")
        assert refs, f"task {work['task']}, attempt {work['attempt']} is lost"


def test_tasks_that_can_run_side_by_side_do(demo: Story) -> None:
    order = [
        (fact["type"], fact["task"])
        for fact in (row.fact for row in demo.rows)
        if fact and fact["type"] in {"task.started", "task.merged"}
    ]

    started = [kind for kind, _ in order].index("task.merged")
    assert {task for _, task in order[:started]} == {1, 6, 7}
    for first, then in pairwise((1, 2, 3)):
        assert order.index(("task.merged", first)) < order.index(("task.started", then))


def test_everything_asked_and_answered_is_as_github_describes_it(demo: Story) -> None:
    assert len(demo.calls) > 50
    assert demo.contract_faults == []
    assert demo.seen.faults == []


# --- the log --------------------------------------------------------------------------


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


def test_two_readers_agree_on_every_event(demo: Story) -> None:
    entries = Log(demo.seen.path).entries(str(demo.told["wal_head"]))
    ours = [
        (entry.commit, event.actor.hex(), event.ts, event.kind.tag)
        for entry in entries
        for event in entry.events
    ]

    theirs = [(row.commit, row.actor, row.at_ms, row.kind) for row in demo.rows]

    assert [fault for entry in entries for fault in entry.faults] == []
    assert ours == theirs


def test_every_kind_of_event_is_in_it_with_its_time_and_its_actor(demo: Story) -> None:
    assert {row.fact["type"] for row in demo.rows if row.fact} >= RECORD
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
    # One bot speaks all else, with times that never go back.
    others = [row for row in demo.rows if row.actor not in names]
    assert len({row.actor for row in others}) == 1
    assert all(before.at_ms < after.at_ms for before, after in pairwise(others))


def test_the_exit_of_each_session_is_told_and_what_files_it_modified(
    demo: Story,
) -> None:
    exits = demo.facts("session.exited")
    lost = demo.facts("session.lost")

    assert len(exits) + len(lost) == len(demo.facts("task.started"))
    for told in exits:
        assert (told["exit_code"], told["signal"]) == (0, None)
        assert told["verdict"] == "success"

    named = {
        (fact["task"], fact["attempt"]): fact["paths"]
        for fact in demo.facts("files.modified")
    }

    for work in demo.facts("work.accepted"):
        touched = named[work["task"], work["attempt"]]
        assert touched == work["files"] or work["attempt"] > 1  # it made work fit
        assert {*touched} <= {*work["files"]}
    assert named[1, 1] == ["auth/tokens.py", "known_bugs/1-token-lifetime"]


# --- however often its bot is killed, the end is the same -----------------------------


BOTS_LEASE = f"refs/grite/locks/{sha256(b'repo:bot').hexdigest()[:16]}"


def test_the_bot_was_killed_and_the_seed_is_said(chaos: Story, tmp_path: Path) -> None:
    alone = Terminal(tmp_path, tmp_path).type("brat demo --seed 7")
    assert (alone.status, alone.lines) == (1, ["brat: --seed requires --chaos"])
    (killed,) = re.findall(r"the bot was killed (\d+) times?", chaos.said.err)

    assert int(killed) >= 2
    assert f"chaos: --seed {CHAOS_SEED}" in chaos.said.lines


def test_the_end_is_the_same(demo: Story, chaos: Story) -> None:
    same, tree = ("number", "title", "state", "branch"), "main^{tree}"

    def counted(story: Story) -> tuple[int, int]:
        comments = sum(len(said) for said in story.seen.comments.values())
        return len(story.seen.pulls), comments

    assert chaos.told["convoy"] == demo.told["convoy"]
    assert [{key: task[key] for key in same} for task in chaos.tasks] == [
        {key: task[key] for key in same} for task in demo.tasks
    ]
    assert sum(task["attempts"] for task in chaos.tasks) == 10
    assert chaos.seen.git("rev-parse", tree) == demo.seen.git("rev-parse", tree)
    assert counted(chaos) == counted(demo) == (8, 1)


def test_nothing_was_done_twice(chaos: Story) -> None:
    started = [(fact["task"], fact["attempt"]) for fact in chaos.facts("task.started")]
    merged = [fact["task"] for fact in chaos.facts("task.merged")]
    intended = [fact["key"] for fact in chaos.facts("action.intended")]
    done = [fact["key"] for fact in chaos.facts("action.done")]

    assert len(set(started)) == len(started)
    assert len(set(merged)) == len(merged)
    assert len(set(done)) == len(done)
    assert sorted(done) == sorted(intended)
    dispatched = [path for _, path in chaos.calls if path.endswith("/dispatches")]
    assert len(dispatched) == len(started)
    sessions = {fact["session"] for fact in chaos.facts("task.started")}
    assert len({row.actor for row in chaos.rows} - sessions) == 1, "one bot wrote it"
    assert len(chaos.facts("bot.started")) == 1


def test_nothing_is_left_behind(chaos: Story) -> None:
    assert chaos.left_running == []
    assert chaos.seen.refs("refs/heads/brat/") == []
    # a bot that was killed with nothing left to do leaves its lease
    assert set(chaos.seen.refs("refs/grite/locks/")) <= {BOTS_LEASE}
    assert chaos.contract_faults == []


# --- a real CLI does the tasks, with a model that needs no key ------------------------


DEMO = "brat demo --engine codex --model gpt-5"


@pytest.mark.needs("codex")
@pytest.mark.timeout(300)
@pytest.mark.layer("deep")
def test_all_tasks_merge_by_a_real_cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join((str(PROGRAMS), *os.get_exec_path()))
    where = tmp_path / "demo"
    ci_command = write_sample(tmp_path / "sample").ci_command
    monkeypatch.setenv("PATH", path)
    key = given("made-up-key-0123456789")
    with scripted(tmp_path, scripted_work.script(ci_command)) as vendor:
        env = f"env OPENAI_API_KEY={key} {MODEL_URL}={vendor.url}"
        said = Terminal(tmp_path, tmp_path).type(
            f"{env} {DEMO} --json --dir {where}", deadline_s=patient(240)
        )

    assert said.status == 0, said.err
    assert said.lines[0] == "engine: codex with the model gpt-5, billed to your key"
    assert said.lines[-1] == "tests on main: pass"
    told = json.loads(said.out)
    attempts = {task["number"]: task["attempts"] for task in told["tasks"]}
    assert {task["state"] for task in told["tasks"]} == {"merged"}
    assert attempts[4] == 2
    assert sum(attempts.values()) <= len(TASKS) + 2
    assert {call["path"] for call in vendor.calls} == {"/v1/responses"}
    assert left_running(where) == []
