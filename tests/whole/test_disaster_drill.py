"""The machine burns down in mid-convoy: bot, runner, mirror, cache and key are gone.

So are all refs of the repository. What is left is a backup, a mirror clone with the log
in it, and that is enough for the same end.
"""

import re
import shutil
from pathlib import Path

import psutil
import pytest

from brat.demo import demo_run
from tests.world.staying import staying, until
from tests.world.words import engine, project

pytestmark = [pytest.mark.timeout(300), pytest.mark.layer("landing")]

AGENT = """
if [ $BRAT_TASK-$BRAT_ATTEMPT = 2-1 ]; then sleep 86399; fi
echo $BRAT_TASK > task_$BRAT_TASK.txt
"""
LIST = (
    "Say words\n\n- [ ] Say one\n- [ ] Say two (after 1)\n- [ ] Say three (after 2)\n"
)
FORGE = ".git/brat/forge/repos/pat-person/project.git"
ALL = " ".join(
    f"{each}:{each}" for each in ("refs/heads/*", "refs/tags/*", "refs/grite/*")
)
SHOW = f"git -C {FORGE}"


def at_work(folder: Path) -> bool:
    return any(
        each.info["cmdline"] == demo_run.WAITS
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
        terminal.done(f"git clone --mirror {FORGE} ../backup.git")
        terminal.done("git -C ../backup.git remote update")
        up.process.kill()
    demo_run.end_all(terminal.cwd)
    shutil.rmtree(terminal.cwd / ".git/brat/bot")
    lost = terminal.done(f"{SHOW} for-each-ref --format=%(refname)").split()
    for ref in lost:
        terminal.done(f"{SHOW} update-ref -d {ref}")

    terminal.done(f"git -C ../backup.git push --force ../project/{FORGE} {ALL}")

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
