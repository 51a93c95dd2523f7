"""The machine burns down in mid-convoy: bot, runner, mirror, cache and key are gone.

So are all refs of the repository. What is left is a backup, a mirror clone with the log
in it, and that is enough for the same end.
"""

import re
import shutil
from pathlib import Path

import psutil
import pytest

from brat import demo
from tests.world.layers import sampled
from tests.world.staying import staying, until
from tests.world.words import BARE, engine, project

pytestmark = pytest.mark.timeout(300)

AGENT = """
if [ $BRAT_TASK-$BRAT_ATTEMPT = 2-1 ]; then sleep 86399; fi
echo $BRAT_TASK > task_$BRAT_TASK.txt
"""
LIST = (
    "Say words\n\n- [ ] Say one\n- [ ] Say two (after 1)\n- [ ] Say three (after 2)\n"
)
ALL = " ".join(
    f"{each}:{each}" for each in ("refs/heads/*", "refs/tags/*", "refs/grite/*")
)
SHOW = f"git -C {BARE}"


def at_work(folder: Path) -> bool:
    return any(
        each.info["cmdline"] == demo.WAITS
        and Path(each.info["cwd"] or "/").is_relative_to(folder)
        for each in psutil.process_iter(["cmdline", "cwd"])
    )


def test_another_machine_brings_the_convoy_to_the_same_end(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT))
    terminal.done("brat init")
    terminal.done(f"brat mayor start --task '{LIST}'")
    with staying(terminal, "up") as up:
        up.says("task 2 running")
        until(lambda: at_work(terminal.cwd))
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
    landed = terminal.done(
        f"{SHOW} log --no-merges --diff-filter=A --name-only --format= main"
    )
    written = [line for line in landed.split() if line.startswith("task_")]
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
    told = terminal.done("brat log show")
    assert "its work so far is kept" in told
