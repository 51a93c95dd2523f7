"""The reusable workflow in a job's container, executed by act; run by `make image`."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from brat.forge.storage.forge_state import Forge
from brat.local import forge_process
from tests.image.containers import BUILT, USER
from tests.runner.job import ALLOWED, Forge as JobForge, git, on_forge
from tests.world.act.extension import with_act
from tests.world.act.running import acted
from tests.world.seen import look
from tests.world.staying import typed, until
from tests.world.terminal import Terminal
from tests.world.words import convoy_of, engine, project

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflows/brat-task.yml"
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


def ended(terminal: Terminal) -> str:
    """Return the state of the one convoy, once it has ended or needs somebody."""
    convoy = convoy_of(terminal)
    has_ended = convoy["state"] != "active" or convoy["tasks"][0]["state"] == "blocked"
    return str(convoy["state"]) if has_ended else ""


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


@pytest.mark.skipif(NODE not in BUILT, reason=f"{NODE} was not built")
@pytest.mark.timeout(400)
def test_two_sessions_at_once_have_a_container_each(tmp_path: Path) -> None:
    config = '[witness]\nattempts = 1\n[ci]\ncommand = "true"\n'
    terminal = project(tmp_path, engine("id -u > $BRAT_TASK.txt", config))
    with_act(terminal, f"brat-{NODE}", os.environ.get("DOCKER_HOST", ""))
    terminal.done("brat init")
    terminal.done("brat mayor start --task '- [ ] one\n- [ ] two'")

    with typed(terminal, "up", "--no-dashboard"):
        state = until(lambda: ended(terminal))

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
    return acted(
        WORKFLOW,
        checkout,
        ("GITHUB_TOKEN", token),
        *("--network", "host", "--var", f"BRAT_CONTAINER={IMAGE}"),
        *("--local-repository", f"{url}/{pin[0]}={upload}"),
        *("--var", f"BRAT_ALLOWED_SIGNERS={ALLOWED}", "--input", "nonce=n0nce"),
        *("--input", "session=fix-login-7/2/1", "--input", f"log={log}"),
        told=on_forge(url),
        image=IMAGE,
        env={
            "DOCKER_HOST": os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        },
    )
