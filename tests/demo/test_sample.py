"""The demo's project and its scripted agent, with real git, sh and pytest."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from brat.demo.sample import Sample, write
from tests.world.forge import AUTHOR
from tests.world.program import ran

LATER = 2
"""An attempt at which nothing goes wrong any more."""
ENV = {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "LC_ALL": "C",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **AUTHOR,
}


def run(*argv: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return ran(argv, cwd=cwd, env=ENV | env)


def git(sample: Sample, *args: str) -> str:
    done = run("git", *args, cwd=sample.path)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ci(sample: Sample) -> subprocess.CompletedProcess[str]:
    return run(*sample.ci_command.split(), cwd=sample.path)


def plain(sample: Sample) -> subprocess.CompletedProcess[str]:
    return run("python", "-m", "pytest", "-p", "no:cacheprovider", cwd=sample.path)


def agent(sample: Sample, task: int, attempt: int) -> subprocess.CompletedProcess[str]:
    prompt = sample.path.parent / "prompt.md"
    prompt.write_text("Do your task.\nAnd tell nobody.\n", encoding="utf-8")
    told = {"BRAT_TASK": str(task), "BRAT_ATTEMPT": str(attempt)}
    told |= {"BRAT_PROMPT": str(prompt), "BRAT_DEMO_PACE": "0"}
    return run("sh", ".brat/agent.sh", cwd=sample.path, **told)


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return write(tmp_path / "project")


def test_before_the_fixes_one_test_fails_for_each_of_seven_bugs(sample: Sample) -> None:
    done = plain(sample)

    named = [bug.read_text() for bug in (sample.path / "known_bugs").iterdir()]
    failed = re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE)
    assert done.returncode == 1
    assert len(failed) == 7
    assert sorted(failed) == sorted(name.strip() for name in named)


def test_a_fix_that_leaves_its_bug_listed_is_red(sample: Sample) -> None:
    git(sample, "apply", ".brat/patches/1.patch")

    assert ci(sample).returncode == 1


def test_the_agent_reads_its_prompt_and_knows_its_tasks(sample: Sample) -> None:
    assert "task 1, attempt 2: Do your task." in agent(sample, 1, LATER).stdout

    unknown = agent(sample, 8, LATER)
    assert unknown.returncode == 2
    assert "there is no task 8 in the demo" in unknown.stderr


def test_writing_it_twice_gives_the_same_commit(sample: Sample, tmp_path: Path) -> None:
    again = write(tmp_path / "again")

    assert git(again, "rev-parse", "main") == git(sample, "rev-parse", "main")
    assert (
        git(sample, "log", "--format=%an %at %ct") == "brat demo 1767225600 1767225600"
    )
    assert git(sample, "status", "--porcelain", "--ignored") == ""


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(FileExistsError, match="choose an empty or new folder"):
        write(tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
