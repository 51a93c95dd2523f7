"""The reusable workflow in a job's container, executed by act.

Run by `make image` when runner-gemini is among its targets: that image has the Node.js
with which act runs JavaScript actions; GitHub brings its own.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.image.containers import BUILT, given
from tests.runner.job import TOKEN, Forge, git

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflows/brat-task.yml"
ACT = Path(sys.executable).with_name("act")
IMAGE = "brat-runner-gemini"
UPLOAD = """
name: upload
inputs: {{name: {{required: true}}, path: {{required: true}}, retention-days: {{}}}}
runs:
  using: composite
  steps:
    - shell: bash
      run: cp -r "${{{{ inputs.path }}}}" "{to}/${{{{ inputs.name }}}}"
"""
AGENT = "id -u > uid.txt; ls /opt/brat > place.txt"


@pytest.mark.skipif(IMAGE.removeprefix("brat-") not in BUILT, reason="was not built")
@pytest.mark.timeout(240)
def test_a_session_runs_in_the_jobs_container(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    log = forge.hand_off(forge.started("sh", "-c", AGENT))
    upload, checkout = forge.root / "upload", forge.root / "checkout"
    upload.mkdir()
    (upload / "action.yml").write_text(UPLOAD.format(to=forge.root))
    git("clone", "-q", str(forge.bare), str(checkout), cwd=forge.root)
    pin = re.search(r"actions/upload-artifact@[0-9a-f]{40}", WORKFLOW.read_text())
    assert pin
    given(forge.root)

    done = subprocess.run(
        [
            *(str(ACT), "workflow_dispatch", "--workflows", str(WORKFLOW)),
            *("--platform", f"ubuntu-latest={IMAGE}", "--pull=false"),
            *("--network", "host", "--var", f"BRAT_CONTAINER={IMAGE}"),
            *("--container-options", f"--volume={forge.root}:{forge.root}"),
            *("--no-cache-server", "--action-cache-path", str(forge.root / "actions")),
            *("--local-repository", f"file://{forge.root}/{pin[0]}={upload}"),
            *("--env", f"GITHUB_SERVER_URL=file://{forge.root}"),
            *("--env", "GITHUB_REPOSITORY=octo/hello", "--secret", "GITHUB_TOKEN"),
            *("--input", "session=fix-login-7/2/1", "--input", f"log={log}"),
            *("--input", "nonce=n0nce"),
        ],
        cwd=checkout,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(forge.root),
            "DOCKER_HOST": os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"),
            "GITHUB_TOKEN": TOKEN,
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((forge.root / "brat-result/result.json").read_text())
    assert result["conclusion"] == "success"
    assert result["files"] == ["place.txt", "uid.txt"]
    assert TOKEN not in done.stdout
