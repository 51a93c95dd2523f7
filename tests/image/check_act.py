"""The reusable workflow in a job's container, executed by act; run by `make image`."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brat.forge import Forge
from brat.local import forge_process
from tests.image.containers import BUILT, USER
from tests.runner.job import ALLOWED, REPOSITORY_ID, Forge as JobForge, git
from tests.world.act.extension import with_act
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.seen import look
from tests.world.staying import typed
from tests.world.terminal import Terminal
from tests.world.words import convoy_of, engine, project

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflows/brat-task.yml"
ACT = Path(sys.executable).with_name("act")
IMAGE = "brat-runner"
UPLOAD = """
name: upload
inputs: {name: {required: true}, path: {required: true}, retention-days: {}}
runs:
  using: composite
  steps:
    - shell: bash
      run: cat "${{ inputs.path }}/result.json"
"""
NODE = "runner-gemini"
"""An image with Node.js, in which act runs JavaScript actions."""
AGENT = "id -u > uid.txt; ls /opt/brat > place.txt"
DEADLINE_S = patient(90)
LOOK_S = 0.2


def ended(terminal: Terminal) -> str:
    """Wait until the one convoy has ended or needs somebody; return its state."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        convoy = convoy_of(terminal)
        if convoy["state"] != "active" or convoy["tasks"][0]["state"] == "blocked":
            return str(convoy["state"])
        time.sleep(LOOK_S)
    raise AssertionError("it took too long")


@pytest.mark.timeout(240)
def test_a_session_runs_in_the_jobs_container(tmp_path: Path) -> None:
    job, folder = JobForge(tmp_path), tmp_path / "forge"
    upload, checkout = tmp_path / "upload", tmp_path / "checkout"
    with Forge(folder) as forge:
        forge.add_user("octo")
        forge.add_repository("octo/hello", source=job.bare)
        token = forge.add_token("octo", scope="read")
    job.bare = folder / "repos/octo/hello.git"
    log = job.hand_off(job.started("sh", "-c", AGENT))
    upload.mkdir()
    (upload / "action.yml").write_text(UPLOAD)
    git("clone", "-q", str(job.bare), str(checkout), cwd=tmp_path)

    with forge_process.forge(folder, 0, log=tmp_path / "forge.log") as (url, _):
        done = run(url, log, token, checkout, upload)

    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = re.findall(r'\| (\{"v":1.*\})', done.stdout)
    result = json.loads(line)
    assert result["conclusion"] == "success"
    assert result["files"] == ["place.txt", "uid.txt"]
    assert token not in done.stdout


@pytest.mark.skipif(NODE not in BUILT, reason=f"{NODE} was not built")
@pytest.mark.timeout(400)
def test_two_sessions_at_once_have_a_container_each(tmp_path: Path) -> None:
    config = '[witness]\nattempts = 1\n[ci]\ncommand = "true"\n'
    terminal = project(tmp_path, engine("id -u > $BRAT_TASK.txt", config))
    with_act(terminal, f"brat-{NODE}", os.environ.get("DOCKER_HOST", ""))
    terminal.done("brat init")
    terminal.done("brat mayor start --task '- [ ] one\n- [ ] two'")

    with typed(terminal, "up", "--no-dashboard"):
        state = ended(terminal)

    folder = terminal.cwd / ".git/brat"
    said = "".join(log.read_text() for log in folder.glob("forge/runs/*/log.txt"))
    assert state == "complete", said
    seen = look(folder)
    for task in (1, 2):
        assert seen.git("show", f"main:{task}.txt").strip() == str(USER)


def run(
    url: str, log: str, token: str, checkout: Path, upload: Path
) -> subprocess.CompletedProcess[str]:
    """Run the workflow in the image that a repository variable names."""
    pin = re.search(r"actions/upload-artifact@[0-9a-f]{40}", WORKFLOW.read_text())
    assert pin
    return ran(
        [
            *(str(ACT), "workflow_dispatch", "--workflows", str(WORKFLOW)),
            *("--platform", f"ubuntu-latest={IMAGE}", "--pull=false"),
            *("--network", "host", "--var", f"BRAT_CONTAINER={IMAGE}"),
            *("--no-cache-server", "--action-cache-path", str(checkout / ".actions")),
            *("--local-repository", f"{url}/{pin[0]}={upload}"),
            *("--env", f"GITHUB_SERVER_URL={url}"),
            *("--env", "GITHUB_REPOSITORY=octo/hello", "--secret", "GITHUB_TOKEN"),
            *("--env", f"GITHUB_REPOSITORY_ID={REPOSITORY_ID}"),
            *("--var", f"BRAT_ALLOWED_SIGNERS={ALLOWED}"),
            *("--input", "session=fix-login-7/2/1", "--input", f"log={log}"),
            *("--input", "nonce=n0nce"),
        ],
        cwd=checkout,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(checkout.parent),
            "DOCKER_HOST": os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"),
            "GITHUB_TOKEN": token,
        },
    )
