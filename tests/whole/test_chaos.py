"""`brat demo --chaos`: however often the bot is killed, the end is the same."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.whole.demo import CHAOS_SEED, Story
from tests.world.terminal import Terminal

BOTS_LEASE = f"refs/grite/locks/{sha256(b'repo:bot').hexdigest()[:16]}"
pytestmark = [pytest.mark.timeout(600), pytest.mark.layer("landing")]


def test_the_bot_was_killed_and_the_seed_is_said(chaos: Story) -> None:
    (killed,) = re.findall(r"the bot was killed (\d+) times?", chaos.said.err)

    assert int(killed) >= 2
    assert f"chaos: --seed {CHAOS_SEED}" in chaos.said.lines


def test_a_seed_without_chaos_is_refused(tmp_path: Path) -> None:
    said = Terminal(tmp_path, tmp_path).type("brat demo --seed 7")

    assert (said.status, said.lines) == (1, ["brat: --seed requires --chaos"])


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
