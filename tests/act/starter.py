"""Runs workflow files with act, in the place of the forge's own starter.

The forge starts it with a run's environment and leaves it: this process becomes act.
brat-task.yml is ours; all others are those that the repository holds. One named ci.yml
is what the variable BRAT_CI_WORKFLOW names.
Only the upload is not GitHub's: tests/act/upload stands in for actions/upload-artifact.
"""

import os
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

HERE = Path(__file__).resolve().parent
TASK = HERE.parents[1] / "workflows/brat-task.yml"
CI = "ci.yml"
ACT = Path(sys.executable).with_name("act")
HANDED_ON = (
    *("GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"),
)
ARTIFACTS = ("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL")


def arguments(folder: Path, workflow: Path) -> list[str]:
    """Return act's command line for the run in `folder`."""
    pin = re.search(r"actions/upload-artifact@[0-9a-f]{40}", TASK.read_text())
    assert pin
    url = os.environ["GITHUB_SERVER_URL"]
    return [
        *(str(ACT), os.environ["GITHUB_EVENT_NAME"], "--workflows", str(workflow)),
        *("--eventpath", str(folder / "event.json")),
        *("--platform", "ubuntu-latest=-self-hosted", "--pull=false"),
        *("--no-cache-server", "--action-cache-path", str(folder / "actions")),
        *("--local-repository", f"{url}/{pin[0]}={HERE / 'upload'}"),
        *(word for name in HANDED_ON for word in ("--env", stated(name))),
        *("--env-file", str(folder / "act.env")),
        *("--secret", "GITHUB_TOKEN"),
        *(
            ("--var", f"BRAT_CI_WORKFLOW={CI}")
            if workflow.with_name(CI).exists()
            else ()
        ),
    ]


def checked_out(token: str) -> Path:
    """Clone the repository at the run's branch, and stand in it."""
    host, name = os.environ["GITHUB_SERVER_URL"], os.environ["GITHUB_REPOSITORY"]
    given = b64encode(f"x-access-token:{token}".encode()).decode()
    told = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {given}",
    }
    branch = os.environ["GITHUB_REF_NAME"]
    subprocess.run(
        [
            *("git", "clone", "--quiet", "--depth=1", f"--branch={branch}"),
            *(f"{host}/{name}.git", "checkout"),
        ],
        env=os.environ | told,
        check=True,
    )
    os.chdir("checkout")
    return Path.cwd() / ".github/workflows"


def stated(name: str, prefix: str = "") -> str:
    """Return a variable of ours as `NAME=value`."""
    return f"{prefix}{name}={os.environ[name]}"


def main() -> None:
    """Become act; its exit status is the run's."""
    folder = Path(os.environ["BRAT_RUN_DIR"])
    variables = folder / "act.env"
    variables.touch(mode=0o600)
    # act has values of its own for the plain names
    told = [stated(name, "BRAT_") for name in ARTIFACTS]
    variables.write_text("\n".join(told), encoding="utf-8")
    with os.fdopen(int(os.environ["BRAT_TOKEN_FD"])) as pipe:
        token = pipe.read()
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG")}
    env["GITHUB_TOKEN"] = token
    name = os.environ["GITHUB_WORKFLOW"]
    workflow = TASK if name == TASK.stem else checked_out(token) / f"{name}.yml"
    os.execve(ACT, arguments(folder, workflow), env)  # noqa: S606  a signal must reach act itself


if __name__ == "__main__":
    main()
