"""How agents end: by themselves, badly, late, not at all."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from convoy.model.records import Limits
from runner.session.session_run import NO_ROOM
from tests.runner.job import Forge, git
from tests.world.cases import looped
from tests.world.patience import patient
from tests.world.program import ran

DAEMON = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", os.getpid(), flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
open("greeting.txt", "w").write("hi")
time.sleep({sleep})
"""


def is_left(forge: Forge) -> bool:
    """Whether anything that this forge's agents started runs; in a box ids are others'.

    What an agent starts has its environment.
    """
    return any(
        str(forge.root) in (process.info["environ"] or {}).get("BRAT_PROMPT", "")
        for process in psutil.process_iter(["environ"])
    )


def working(forge: Forge, script: str) -> subprocess.Popen[str]:
    started = forge.started(sys.executable, "-I", "-c", script)
    job = forge.begin(forge.hand_off(started))
    forge.until_said("daemon ")
    return job


@looped(
    ('echo "$PWD/a.py: Sorry." >&2; exit 3', "exited with status 3: a.py: Sorry.", 3),
    ("kill -SEGV $$", "was killed by SIGSEGV.", None),
)
def test_death_by_a_signal_is_told_from_an_exit_status_and_half_done_work_kept(
    end: str, why: str, status: int | None, forge: Forge
) -> None:
    left = forge.sh(f"echo half > half.txt; {end}")

    assert (left.status, left.result["conclusion"]) == (1, "failure")
    assert left.result["why"] == f"The agent {why}"
    ended = left.result["status"], left.result["exit_code"], left.result["signal"]
    assert ended == (None, status, None if status else 11)
    clone = forge.unpacked(left)
    assert git("show", "work:half.txt", cwd=clone) == "half"
    said = git("log", "-1", "--format=%(trailers:only)", "work", cwd=clone)
    assert "Brat-Half-Done: yes" in said.splitlines()
    for each in (left.folder, clone):
        shutil.rmtree(each)


def test_an_agent_that_hangs_is_ended_at_its_deadline(forge: Forge) -> None:
    script = "echo half > half.txt; echo half; sleep 600 & wait"
    left = forge.overdue(
        lambda limit_s: forge.sh(script, timeout_s=limit_s),
        lambda left: "half" in left.said,
    )

    assert left.status == 1
    assert left.result["conclusion"] == "timed_out"
    assert re.fullmatch(r"The agent was stopped after \d+ s\.", left.result["why"])
    assert left.result["files"] == ["half.txt"]


def test_a_daemon_that_ignores_sigterm_goes_with_its_agent(forge: Forge) -> None:
    assert forge.python(DAEMON.format(sleep=0)).result["conclusion"] == "success"
    assert not is_left(forge)


def test_a_flood_is_cut_in_the_middle(forge: Forge) -> None:
    left = forge.python(
        "import os, sys\n"
        "print('first')\n"
        "for n in range(20_000): print('x' * 100)\n"
        "sys.stdout.flush()\n"
        "sys.stdout.buffer.write(os.urandom(300_000) + bytes(300_000))\n"
        "for n in range(4_000): print('x' * 100)\n"
        "print('last', flush=True)\n"
        "open('a', 'w').close()",
        limits=Limits(output_bytes=400_000),
    )

    assert left.result["conclusion"] == "success"
    assert left.result["summary"] == "last"
    assert left.said.startswith("first\n")
    assert left.said.endswith("x\nlast\n")
    assert "[brat left out " in left.said
    assert len(left.said) < 500_000


SMALL_DISK = """
for each in "$RUNNER_TEMP" "$GITHUB_WORKSPACE"; do
    mkdir -p "$each"; mount -t tmpfs -o size=2m none "$each"
done
exec "$@"
"""


@pytest.mark.needs("unshare")
@pytest.mark.parametrize("full", ['"$PWD"', '"$PWD" "$TMPDIR"'])
def test_a_full_disk_is_survived_and_what_is_lost_is_said(
    full: str, forge: Forge
) -> None:
    fill = f"for each in {full}; do head -c 9999999 /dev/urandom > $each/f; done"
    started = forge.started("sh", "-c", f"echo 1 > kept.txt; {fill}; true")
    env = forge.environment(forge.hand_off(started))
    left = forge.run_on(("unshare", "-Urm", "sh", "-c", SMALL_DISK, "sh"), env)

    assert left.result["conclusion"] == "failure", left.err
    assert "space" in left.result["why"].lower()
    assert left.result["outcome"] == "setup", left.result["why"]
    assert not is_left(forge)


ONE_DISK = """
kept=$BRAT_RESULT; disk=$RUNNER_TEMP/disk; mkdir -p "$disk"
mount -t tmpfs -o size=3m none "$disk"
export BRAT_RESULT="$disk/result" RUNNER_TEMP="$disk/temp" GITHUB_WORKSPACE="$disk/work"
"$@"; status=$?; cp -r "$BRAT_RESULT" "$kept"; exit $status
"""


@pytest.mark.needs("unshare")
def test_a_disk_without_room_for_the_result_is_what_the_result_says(
    forge: Forge,
) -> None:
    fill = "head -c 9999999 /dev/urandom > f; echo much; true"
    env = forge.environment(forge.hand_off(forge.started("sh", "-c", fill)))
    left = forge.run_on(("unshare", "-Urm", "sh", "-c", ONE_DISK, "sh"), env)

    assert left.status == 75, left.err
    assert "result.json" not in left.names
    assert not [name for name in left.names if name.startswith(".")]
    told = json.loads((left.folder / "turned-away.json").read_bytes())
    assert (told["session"], told["why"]) == ("fix-login-7/2/1", NO_ROOM)
    assert not is_left(forge)


def test_a_cancelled_job_keeps_the_work_and_says_so(forge: Forge) -> None:
    started = forge.started("sh", "-c", "echo half > half.txt; echo ready; sleep 600")
    job = forge.begin(forge.hand_off(started))
    forge.until_said("ready")

    job.send_signal(signal.SIGTERM)
    left = forge.left_by(job)

    assert (left.status, left.err) == (1, "")
    assert left.result["conclusion"] == left.result["outcome"] == "cancelled"
    assert left.result["files"] == ["half.txt"]
    assert git("show", "work:half.txt", cwd=forge.unpacked(left)) == "half"


def test_a_killed_witness_leaves_what_there_was_but_no_result(forge: Forge) -> None:
    job = working(forge, DAEMON.format(sleep=600))
    (witness,) = psutil.Process(job.pid).children()

    witness.kill()
    left = forge.left_by(job)

    assert left.status == 128 + signal.SIGKILL
    assert left.names == {"events.bin", "transcript.jsonl"}
    assert [type(each).__name__ for each in left.claims] == [
        *("SessionSpawned", "SessionReady", "SessionRunning")
    ]
    assert not is_left(forge)
    assert list((forge.root / "temp").iterdir()) == []
    assert list((forge.root / "work").iterdir()) == []


CRIPPLES = """
import os, resource, sys
from runner.box.processes import guarded

def work():
    apart = ("setsid", "sh", "-c", "sleep 600; :")
    print(os.spawnvp(os.P_NOWAIT, apart[0], apart), flush=True)
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
    return 7

sys.exit(guarded(work))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a guard")
def test_a_guard_that_can_open_nothing_ends_what_is_left() -> None:
    done = ran((sys.executable, "-c", CRIPPLES))

    assert (done.returncode, done.stderr) == (7, "")
    assert not psutil.pid_exists(int(done.stdout))


def test_a_killed_guard_is_an_end_with_the_work_kept(forge: Forge) -> None:
    job = working(forge, DAEMON.format(sleep=600))

    job.kill()
    left = forge.left_by(job)  # when the witness has closed its output, too

    assert left.result["outcome"] == "cancelled"
    assert left.result["files"] == ["greeting.txt"]
    assert not is_left(forge)


def test_a_job_that_is_cancelled_while_it_fetches_ends_at_once(forge: Forge) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(patient(10))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        job = forge.begin("0" * 40, GITHUB_SERVER_URL=url)
        connection, _ = silent.accept()
        with connection:
            connection.recv(1)
            job.send_signal(signal.SIGTERM)
            left = forge.left_by(job)

    assert left.status == 1
    assert left.err == "brat: The job was cancelled before it started.\n"
    assert not left.folder.exists()
    # No forge is a reason to try later.
    gone = forge.left_by(forge.begin("0" * 40, GITHUB_SERVER_URL=url))
    assert gone.status == 75
    assert gone.err.startswith("brat: The forge does not answer: ")
    assert gone.err.count("\n") == 1
