"""Runs sessions in containers, in the place of the forge's own starter.

Each container has the image, what the job is told, and the network; no folder of this
machine. What a session leaves is copied out at its end and handed to the forge, which
on GitHub is the upload action's part.
"""

import io
import os
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

HOME = "/home/brat"
TOLD = (
    *("BRAT_SESSION", "BRAT_LOG", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"),
    *("GITHUB_REPOSITORY_ID", "BRAT_ALLOWED_SIGNERS", "GITHUB_RUN_ID", "BRAT_TOKEN"),
)
INSIDE = {
    "BRAT_RESULT": f"{HOME}/result",
    "RUNNER_TEMP": f"{HOME}/temp",
    "GITHUB_WORKSPACE": f"{HOME}/work",
}


def docker(*args: str) -> list[str]:
    """Return a command line of Docker's newest client here."""
    own = Path("/usr/bin/docker")
    return [str(own) if own.exists() else "docker", *args]


def run(name: str, image: str, label: str) -> None:
    told = [word for one in TOLD for word in ("--env", one)]
    inside = [word for one in INSIDE.items() for word in ("--env", "=".join(one))]
    limits = ("--cap-drop=ALL", "--security-opt=no-new-privileges", "--memory=512m")
    options = ("--network=host", f"--name={name}", f"--label={label}", *limits)
    with os.fdopen(int(os.environ["BRAT_TOKEN_FD"])) as pipe:
        env = os.environ | {"BRAT_TOKEN": pipe.read()}
    subprocess.run(docker("run", *options, *told, *inside, image), env=env, check=False)


def left_by(name: str) -> bytes:
    copied = subprocess.run(
        docker("cp", f"{name}:{INSIDE['BRAT_RESULT']}", "-"),
        stdout=subprocess.PIPE,
        check=False,
    ).stdout
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        if copied:
            with tarfile.open(fileobj=io.BytesIO(copied)) as folder:
                for each in folder:
                    file = folder.extractfile(each)
                    if file is not None and not Path(each.name).name.startswith("."):
                        archive.writestr(Path(each.name).name, file.read())
    return packed.getvalue()


def upload(body: bytes) -> None:
    base, run_id = os.environ["ACTIONS_RESULTS_URL"], os.environ["GITHUB_RUN_ID"]
    request = urllib.request.Request(  # noqa: S310  the forge's own address
        f"{base}_artifacts/{run_id}/brat-result", data=body, method="PUT"
    )
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    request.add_header("Authorization", f"Bearer {token}")
    urllib.request.urlopen(request).close()  # noqa: S310  likewise


def main(image: str, label: str, host: str) -> None:
    """Run, hand over, and leave no container."""
    if host:
        os.environ["DOCKER_HOST"] = host  # the forge hands nothing of its own on
    name = f"{label}-{os.environ['GITHUB_RUN_ID']}"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run(name, image, label)
        upload(left_by(name))
    finally:
        subprocess.run(
            docker("rm", "--force", name), stdout=subprocess.DEVNULL, check=False
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
