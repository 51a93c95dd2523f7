"""What a job installs: one commit and locked packages, never a name of a registry."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from ruamel.yaml import YAML

from brat.repository.workflow_files import Pin, pin_in
from tests.runner.job import git
from tests.world.cases import looped
from tests.world.program import ran

pytestmark = pytest.mark.layer("landing")

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted(
    file
    for file in (ROOT / "workflows").glob("*.yml")
    # The first two install nothing; the last does what brat-task.yml does.
    if file.name not in {"brat.yml", "brat-wake.yml", "brat-task-live.yml"}
)
SOURCE = "https://forge.example/owner/brat"
WHEEL = "brat_bot-0.1.0-py3-none-any.whl"
BACKEND = f"""
import shutil
def build_wheel(folder, config_settings=None, metadata_directory=None):
    shutil.copy("{WHEEL}", folder)
    return "{WHEEL}"
"""


def wheel(folder: Path, word: str) -> Path:
    """Put a wheel of brat's name into a new folder; its code says whose it is."""
    folder.mkdir()
    info = "brat_bot-0.1.0.dist-info/"
    known = "Metadata-Version: 2.1\nName: brat-bot\nVersion: 0.1.0\n"
    form = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with ZipFile(folder / WHEEL, "w") as made:
        made.writestr("brat.py", f"{word} = True\n")
        made.writestr(f"{info}METADATA", known)
        made.writestr(f"{info}WHEEL", form)
        made.writestr(f"{info}RECORD", "")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository that looks like brat's, and needs no registry to be built."""
    folder = wheel(tmp_path / "brat", "OURS")
    (folder / "requirements.lock").touch()
    (folder / "requirements-build.lock").touch()
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        'backend-path = ["."]\n'
    )
    git("init", "--quiet", cwd=folder)
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "--message", "All of it", cwd=folder)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=folder)
    return folder


def installed(
    workflow: Path, folder: Path, source: Path, commit: str
) -> subprocess.CompletedProcess[str]:
    """Run the step that installs brat, as a job does where no image has it."""
    jobs = YAML(typ="safe").load(workflow.read_text())["jobs"]
    steps = [each for job in jobs.values() for each in job.get("steps", ())]
    (step,) = (each for each in steps if each["name"] == "Install brat")
    assert list(step["env"]) == ["BRAT_SOURCE", "BRAT_COMMIT"]
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python").write_text("#!/bin/sh\nexit 1\n")  # no brat in this image
    (tools / "python").chmod(0o755)
    (tools / "python3").symlink_to(sys.executable)
    return ran(
        ["/bin/bash", "-e", "-c", step["run"]],
        env={
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "BRAT_SOURCE": SOURCE if commit else "",
            "BRAT_COMMIT": commit,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheel(folder / "registry", "STOLEN")),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{source}.insteadOf",
            "GIT_CONFIG_VALUE_0": SOURCE,
        },
    )


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_stranger_who_registers_the_name_is_not_installed(
    workflow: Path, source: Path, tmp_path: Path
) -> None:
    commit = git("rev-parse", "HEAD", cwd=source)

    done = installed(workflow, tmp_path, source, commit)

    assert done.returncode == 0, done.stdout + done.stderr
    python = (tmp_path / "output").read_text().strip().removeprefix("python=")
    asked = "import brat; print(vars(brat).get('OURS'), vars(brat).get('STOLEN'))"
    said = subprocess.check_output([python, "-I", "-c", asked], text=True)
    assert said == "True None\n"


def test_a_commit_that_the_repository_lacks_is_not_replaced(
    source: Path, tmp_path: Path
) -> None:
    for commit in ("", "main", "0" * 39, "0" * 39 + "1"):
        (folder := tmp_path / f"job-{commit}").mkdir()
        done = installed(WORKFLOWS[0], folder, source, commit)

        assert done.returncode != 0, commit
        assert not (folder / "output").exists()
        if len(commit) < 40:
            assert "set source and commit in brat.yml" in done.stdout
            assert not (folder / "brat-source").exists()


PIP = re.compile(r"pip (?:install|wheel) [^&\n]*")


@looped("action.yml", "Dockerfile", "workflows/brat-jobs.yml")
def test_what_is_installed_has_hashes_and_is_built_by_locked_tools(file: str) -> None:
    commands = PIP.findall((ROOT / file).read_text().replace("\\\n", " "))

    assert len(commands) > 1
    for command in commands:
        if "--require-hashes" in command:  # else a package's own tools are not locked
            assert "--only-binary :all:" in command
        else:
            assert "--no-deps" in command
            assert "--no-build-isolation" in command or ".whl" in command


def test_both_lock_files_agree() -> None:
    def pinned(name: str) -> dict[str, str]:
        found = re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / name).read_text())
        return dict(found)

    used, built = pinned("requirements.lock"), pinned("requirements-build.lock")

    assert "hatchling" in built
    assert {name: used.get(name, built[name]) for name in built} == built


@looped(
    (
        {"url": SOURCE, "vcs_info": {"vcs": "git", "commit_id": "a1" * 20}},
        Pin(SOURCE, "a1" * 20),
    ),
    ({"url": SOURCE, "vcs_info": {"vcs": "git", "commit_id": "main"}}, None),
    ({"url": 'https://x/"', "vcs_info": {"commit_id": "a1" * 20}}, None),
    ({"url": "file:///src", "dir_info": {"editable": True}}, None),
    ("nothing", None),
)
def test_the_commit_is_the_one_that_pip_noted(told: object, pin: Pin | None) -> None:
    assert pin_in(json.dumps(told)) == pin
