"""While an agent works, what it has done is kept; the next attempt goes on from it."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from convoy.model.records import Limits
from runner.box.agent_box import cannot_box
from tests.runner.job import WAIT_S, Forge, Left, git

OFTEN = Limits(checkpoint_s=1)
NAME = "checkpoint.bundle"


class Job:
    def __init__(self, forge: Forge, script: str) -> None:
        rest = "while ! [ -e .git/go ]; do sleep 0.05; done\n"
        started = forge.started("sh", "-c", script + "\n" + rest, limits=OFTEN)
        self.forge = forge
        self.kept = forge.root / "result" / NAME
        self.process = forge.begin(forge.hand_off(started))

    @property
    def checkout(self) -> Path:
        return next((self.forge.root / "work").iterdir())

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + WAIT_S
        while not condition():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, "it did not come"
            time.sleep(0.02)

    def let_go(self) -> Left:
        (self.checkout / ".git/go").touch()
        return self.forge.left_by(self.process)

    def die(self) -> None:
        """Kill the session and its guard from outside, as a machine's end does."""
        top = psutil.Process(self.process.pid)
        for each in (top, *top.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.communicate()


def test_a_killed_session_leaves_what_was_done(forge: Forge) -> None:
    job = Job(forge, "echo half > half.txt; echo '*.o' >> .gitignore; echo 1 > a.o")
    job.until(job.kept.exists)

    job.die()

    assert not (job.kept.parent / "result.json").exists()
    clone = forge.unpacked(name=NAME)
    assert git("show", "work:half.txt", cwd=clone) == "half"
    assert git("diff", "--name-only", forge.base, "work", cwd=clone) == (
        ".gitignore\nhalf.txt"
    )
    assert git("rev-parse", "work~1", cwd=clone) == forge.base
    said = git("log", "-1", "--format=%(trailers:only)", "work", cwd=clone)
    assert "Brat-Half-Done: yes" in said.splitlines()


def test_a_session_that_ends_leaves_its_result_instead(forge: Forge) -> None:
    job = Job(forge, "echo 1 > a; git add a; git commit -qm Own; echo 2 > b")
    job.until(job.kept.exists)

    left = job.let_go()

    assert left.result["conclusion"] == "success", left.err
    assert left.err == ""
    assert NAME not in left.names
    assert left.result["files"] == ["a", "b"]
    log = git("log", "--format=%s", f"{forge.base}..work", cwd=forge.unpacked(left))
    assert log.splitlines() == ["Greet the world", "Own"]  # its index is as it was


@pytest.mark.parametrize(
    "unfit",
    [
        "ln -s /etc/passwd unfit",
        "head -c 9000000 /dev/urandom > .git/x; mv .git/x unfit",
    ],
)
def test_what_could_not_land_or_is_too_large_is_not_kept(
    forge: Forge, unfit: str
) -> None:
    job = Job(forge, f"{unfit}; echo 1 > a")
    tried = forge.root / "temp"
    job.until(lambda: any(tried.glob("brat-*/checkpoint/used.git")))
    job.until(lambda: not any(tried.glob("brat-*/checkpoint/used.git")))
    assert not job.kept.exists()
    (job.checkout / "unfit").unlink()
    job.until(job.kept.exists)
    job.die()

    assert (
        git("diff", "--name-only", forge.base, "work", cwd=forge.unpacked(name=NAME))
        == "a"
    )


@pytest.mark.skipif(bool(why := cannot_box()), reason=f"no boxes here: {why}")
def test_it_is_taken_where_there_is_nothing_that_the_agent_may_not_see(
    forge: Forge,
) -> None:
    job = Job(forge, "while sleep 0.1; do date +%N > a; done & true")
    ours = Path("/proc/self/ns/mnt").readlink()
    seen: set[Path] = set()

    def was_seen() -> bool:
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                words = process.cmdline()
                is_it = words[1:4] == ["-I", "-m", "runner.workspace.work_saver"]
                if is_it and words[4].startswith(str(forge.root)):
                    seen.add(Path(f"/proc/{process.pid}/ns/mnt").readlink())
        return bool(seen)

    job.until(was_seen)
    job.let_go()

    assert ours not in seen


def test_the_next_attempt_finds_the_work_and_what_to_compare_it_with(
    forge: Forge,
) -> None:
    root = forge.base
    forge.commit_on_main({"half.txt": "half\n"})
    script = """
    cat half.txt > seen
    git diff "$(grep -o '[0-9a-f]\\{40\\}' "$BRAT_PROMPT" | head -n 1)" HEAD > diff
    grep "Attempt 1 was cut off" "$BRAT_PROMPT"
    """

    left = forge.sh(script, root=root, salvaged=1)

    assert left.result["conclusion"] == "success", left.err
    assert left.result["why"] == "Changed 2 more files."
    clone = forge.unpacked(left)
    assert git("show", "work:seen", cwd=clone) == "half"
    assert "+half" in git("show", "work:diff", cwd=clone)
    assert git("rev-parse", "work~1", cwd=clone) == forge.base
