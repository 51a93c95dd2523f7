"""The reusable workflow in a job's container, executed by act; run by `make image`."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from brat.forge.storage.forge_state import Forge
from brat.local import forge_process
from tests.runner.job import ALLOWED, Forge as JobForge, git, on_forge
from tests.world.act.running import acted

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
AGENT = "id -u > uid.txt; ls /opt/brat > place.txt"


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
