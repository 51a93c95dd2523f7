"""The bot in the background: started, asked, stopped, and found dead."""

import json
import os
import re
import select
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from brat.commands import run_loop as daemons
from brat.local import other_processes
from brat.repository import registration as registrations
from tests.world.patience import patient
from tests.world.staying import until
from tests.world.terminal import Terminal, left_running
from tests.world.words import cloned, engine, project, status

pytestmark = pytest.mark.timeout(600)

ENDS_S = patient(60)
RUNS_ON = "cat; sleep 300"
REAPS_NOTHING = """
import ctypes, subprocess
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
subprocess.run(["brat", "daemon", "start", "--port", "0"], check=True)
subprocess.run(["brat", "daemon", "stop"], check=True, timeout=600)
"""


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A repository with one task, whose agent goes on for as long as it may."""
    terminal = project(tmp_path_factory.mktemp("daemon"), engine(RUNS_ON))
    terminal.done("brat init")
    yield terminal
    terminal.type("brat daemon stop")
    assert left_running(terminal.cwd) == []


@pytest.fixture
def daemon(terminal: Terminal) -> Iterator[psutil.Process]:
    said = terminal.type("brat daemon start --port 0")
    assert said.status == 0, said.err
    found = re.search(r"process (\d+)", said.err)
    assert found is not None
    yield psutil.Process(int(found[1]))
    terminal.type("brat daemon stop")


def folder(terminal: Terminal) -> Path:
    return terminal.cwd / ".git/brat"


@pytest.mark.layer("landing")
def test_it_runs_until_it_is_stopped(
    terminal: Terminal, daemon: psutil.Process
) -> None:
    status = terminal.type("brat daemon status")
    url = status.after("dashboard: ")[0]
    again = terminal.type("brat daemon start")
    beside = terminal.type("brat daemon run")
    page = httpx.get(url, trust_env=False, timeout=patient(20), follow_redirects=True)
    stopped = terminal.type("brat daemon stop")
    after = terminal.type("brat daemon status")

    assert status.status == 0
    assert status.lines[0].endswith(f"as process {daemon.pid}")
    assert (again.status, beside.status) == (1, 1)
    assert f"already running in the background (process {daemon.pid})" in again.err
    assert "already running in the background" in beside.err
    assert page.status_code == 200
    assert stopped.status == 0
    # Where the first process of a container collects no children, its number stays.
    assert not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE
    assert (after.status, after.lines[0]) == (1, "not running")
    assert terminal.type("brat daemon stop").status == 1
    log = daemons.daemon_log(folder(terminal))
    assert "stopped; unfinished" in log.read_text("utf-8")


def test_it_is_stopped_where_nobody_reaps_it(terminal: Terminal) -> None:
    """As in a container whose first process takes in orphans and buries none."""
    said = terminal.type(shlex.join([sys.executable, "-c", REAPS_NOTHING]))

    assert said.status == 0, said.err
    assert said.lines[-1].startswith("stopped; ")


def test_one_that_was_killed_is_told_of_and_begun_again(
    terminal: Terminal, daemon: psutil.Process
) -> None:
    # Readable at its end, even where nobody collects it.
    handle = os.pidfd_open(daemon.pid)
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    assert select.select([handle], [], [], ENDS_S)[0]
    os.close(handle)
    dead = terminal.type("brat daemon status")
    waits = status(terminal)["interventions"]
    found = terminal.type("brat doctor")
    again = terminal.type("brat daemon start --port 0")
    alive = terminal.type("brat daemon status")

    assert dead.status == 1
    assert [each["kind"] for each in waits] == ["bot_down"]
    assert waits[0]["commands"][0] == "brat daemon start"
    assert found.status == 1
    (told,) = found.after("  FAULT ")
    assert told.startswith("the background bot ended unexpectedly")
    assert told.endswith("-> brat daemon start")
    assert dead.lines[0].startswith("not running: the bot ended unexpectedly; see ")
    assert (again.status, alive.status) == (0, 0)


def test_another_process_with_its_number_is_left_alone(terminal: Terminal) -> None:
    """Numbers are given again; the file of one that died may name a stranger."""
    other = psutil.Process()
    stale = other_processes.Daemon(
        pid=other.pid, since=other.create_time() - 5, url="x"
    )
    other_processes.note_daemon(folder(terminal), stale)

    assert terminal.type("brat daemon status").status == 1
    assert terminal.type("brat daemon stop").status == 1
    assert other.is_running()


def test_why_it_did_not_start_is_said(terminal: Terminal) -> None:
    config = terminal.cwd / ".brat/config.toml"
    before = config.read_text()
    config.write_text("[refinery]\nstrategy = 'magic'\n")
    said = terminal.type("brat daemon start")
    config.write_text(before)

    assert said.status == 1
    assert ".brat/config.toml: refinery.strategy" in said.err


def test_in_a_clone_of_another_machine_a_decision_is_a_comment(
    terminal: Terminal, daemon: psutil.Process
) -> None:
    known = registrations.read(folder(terminal))
    terminal.type("brat mayor start --task 'Say no more'")  # 1: another is blocked
    clone = cloned(terminal)
    clone.done("git fetch -q origin refs/grite/*:refs/grite/*")
    forge = f"http://127.0.0.1:{known.port}"
    clone.done(f"git remote set-url origin {forge}/{known.repository}.git")
    convoy = json.loads(terminal.done("brat convoy list --json"))["convoys"][-1]
    name, issue = convoy["name"], convoy["issue"]
    pause = f"brat convoy pause {name}"
    without = clone.type(f"env GH_TOKEN={known.person_token} {pause}")
    said = clone.type(f"env GH_ENTERPRISE_TOKEN={known.person_token} {pause}")
    until(lambda: f"{name}: paused" in terminal.type(f"brat convoy show {name}").out)
    terminal.done(f"brat session stop 1 --convoy {name}")
    until(lambda: '"sessions": []' in terminal.type("brat session list --json").out)

    assert without.status == 1  # that token is for github.com alone
    assert "set GH_ENTERPRISE_TOKEN or GITHUB_ENTERPRISE_TOKEN" in without.err
    assert f"or post it yourself on issue #{issue}" in without.err
    commented = f"commented on pat-person/project#{issue}: /brat pause"
    assert said.lines == [f"{commented}; the bot will answer there"]
    assert daemon.is_running()
