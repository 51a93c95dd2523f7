"""A start that is cut off once its issue is open goes on with that issue."""

import re
import shlex
import shutil
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from filelock import FileLock

from brat import demo
from brat.repository.forge_files import forge_in_use
from tests.world.layers import sampled
from tests.world.staying import staying, until
from tests.world.terminal import Terminal, left_running
from tests.world.words import BARE, convoy_of, engine, project, status

pytestmark = pytest.mark.timeout(300)

ASKED = ("mayor", "start", "--task", "Spell words")
UNREAD = "issue #1 'Spell words' has not been read yet: no mayor has run since"


def waiting(terminal: Terminal) -> list[tuple[str, int, list[str]]]:
    found = status(terminal)["interventions"]
    return [(each["kind"], each["issue"], each["commands"]) for each in found]


def test_the_same_words_find_the_issue_that_a_killed_start_left(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine("my-agent < $BRAT_PROMPT"))
    terminal.done("brat init")
    lock = terminal.cwd / ".git/brat/bot/lock"
    lock.parent.mkdir()
    with FileLock(lock), staying(terminal, *ASKED) as start:  # its loop cannot tick
        start.says("opened issue #1")
        start.process.kill()
        start.ended()
    until(lambda: not forge_in_use(terminal.cwd / ".git/brat"))

    shown = terminal.type("brat status")
    assert UNREAD in shown.out
    assert "    brat up" in shown.out.splitlines()
    assert "mayor start" not in shown.out + shown.err
    assert waiting(terminal) == [("unread_issue", 1, ["brat up"])]
    witness = terminal.type("brat witness run")
    assert witness.after("next: ") == ["brat up"]

    again = terminal.type(f"brat mayor start --headless --task '{ASKED[-1]}'")

    assert again.status == 0, again.err
    found = "issue #1 has the same text and is still open: continuing with it"
    assert found in again.lines
    assert "opened" not in again.err
    convoy = convoy_of(terminal)
    assert (convoy["issue"], convoy["state"]) == (1, "complete")
    assert waiting(terminal) == []
    assert left_running(terminal.cwd.parent) == []


SLEEPS = re.compile(r"sleep 600\.")
CALLED_OFF = f"""
echo once >> words/turns.txt
test "$(wc -l < words/turns.txt)" -lt 4 || exit 0
git add --all && git commit --quiet --message=Turn
exec sleep 600.{uuid4().int}
"""


@pytest.mark.layer("landing")
def test_a_signal_ends_the_agents_keeps_their_work_and_costs_no_attempt(
    tmp_path: Path,
) -> None:
    terminal = project(tmp_path, engine(CALLED_OFF, "[witness]\nattempts = 1\n"))
    headless = (*ASKED, "--headless")
    for words, number in (
        (headless, signal.SIGTERM),
        (("up", "--no-dashboard"), signal.SIGHUP),
        (("witness", "run"), signal.SIGINT),
    ):
        with staying(terminal, *words) as start:
            until(lambda: any(map(SLEEPS.match, left_running(tmp_path))))
            start.process.send_signal(number)
            start.process.send_signal(number)  # as `timeout` does

            start.says("stopping 1 agent; finished work is kept")
            assert start.ended() == 128 + number
        assert left_running(tmp_path) == []
        states = [task["state"] for task in convoy_of(terminal)["tasks"]]
        assert states == ["queued"]

    terminal.done(shlex.join(("brat", *headless)))

    turns = terminal.done(f"git -C {BARE} show main:words/turns.txt")
    assert turns.split() == ["once"] * 4


# --- the machine burns down in mid-convoy: bot, runner, mirror, cache and key are gone


AGENT = """
if [ $BRAT_TASK-$BRAT_ATTEMPT = 2-1 ]; then sleep 86399; fi
echo $BRAT_TASK > task_$BRAT_TASK.txt
"""
LIST = "Say words\n\n- [ ] One\n- [ ] Two (after 1)\n- [ ] Three (after 2)\n"
ALL = " ".join(f"refs/{each}/*:refs/{each}/*" for each in ("heads", "tags", "grite"))
SHOW = f"git -C {BARE}"


def test_another_machine_brings_the_convoy_to_the_same_end(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    with staying(terminal, "up") as up:
        up.says("task 2 running")
        until(lambda: " ".join(demo.WAITS) in left_running(terminal.cwd))
        terminal.done(f"git clone --mirror {BARE} ../backup.git")
        terminal.done("git -C ../backup.git remote update")
        up.process.kill()
    demo.end_all(terminal.cwd)
    shutil.rmtree(terminal.cwd / ".git/brat/bot")
    lost = terminal.done(f"{SHOW} for-each-ref --format=%(refname)").split()
    for ref in lost:
        terminal.done(f"{SHOW} update-ref -d {ref}")

    terminal.done(f"git -C ../backup.git push --force ../project/{BARE} {ALL}")

    refused = terminal.type("brat up")
    head = re.findall(r"brat log adopt ([0-9a-f]{40})", refused.err)
    adopted = terminal.type(f"brat log adopt {head[0]}")
    with staying(terminal, "up") as up:
        up.says("say-words-1 is complete")

    assert refused.status == 1
    assert adopted.status == 0, adopted.err
    added = f"{SHOW} log --no-merges --diff-filter=A --name-only --format= main"
    written = [line for line in terminal.done(added).split() if line[:5] == "task_"]
    assert sorted(written) == ["task_1.txt", "task_2.txt", "task_3.txt"]
    assert terminal.type("brat doctor").out.count("FAULT") == 0


# --- a machine that dies alone --------------------------------------------------------


LOST_AGENT = """
if [ $BRAT_ATTEMPT = 1 ]; then echo half > half.txt; sleep 86399; fi
grep -A4 "Attempt 1 was cut off" $BRAT_PROMPT > whole.txt
echo "BRAT: done It is whole."
"""
LOST_LIST = "Say words\n\n- [ ] Say hi\n"
BRANCH = "convoy/say-words-1/task-1"


@pytest.mark.parametrize("way", sampled([("feed",), ("artifact",)], {("feed",)}))
def test_the_next_attempt_has_the_work_of_the_lost_one(
    tmp_path: Path, way: str
) -> None:
    terminal = project(tmp_path, engine(LOST_AGENT, "[witness]\ncheckpoint = 1\n"))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LOST_LIST}'")
    hidden = terminal.cwd / ".git/brat"
    with staying(terminal, "up") as up:
        up.says("task 1 running")
        kept = "forge/runs/*/result/checkpoint.bundle"
        (sent,) = until(lambda: [*hidden.glob("bot/feed/*/1-1.bundle")])
        (left,) = until(lambda: [*hidden.glob(kept)])
        (left if way == "feed" else sent).unlink()
        demo.lose(terminal.cwd)
        up.says("task 1 needs-review")

    said = terminal.done(f"{SHOW} log --format=%B {BRANCH} -- half.txt")
    assert "Brat-Half-Done: yes" in said
    assert "`git diff" in terminal.done(f"{SHOW} show {BRANCH}:whole.txt")
    assert "its work so far is kept" in terminal.done("brat log show")
