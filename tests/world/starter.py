"""A small program in the place of our runner, for the forge's tests.

What it does is the first word it is given. It keeps to the contract of a run: it reads
its token from a file descriptor and leaves its result in BRAT_RESULT.
"""

import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path


def say(word: str) -> None:
    """Write a line to the run's log at once."""
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def result() -> Path:
    folder = Path(os.environ["BRAT_RESULT"])
    folder.mkdir()
    return folder


def look() -> int:
    """Tell all that can be seen from inside."""
    number = int(os.environ["BRAT_TOKEN_FD"])
    with os.fdopen(number) as pipe:
        token = pipe.read()
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text())
    seen = {
        "environment": dict(os.environ),
        "token": token,
        "event": event,
        "cwd": str(Path.cwd()),
        "session": os.getsid(0) == os.getpid(),
    }
    (result() / "result.json").write_text(json.dumps(seen))
    return 0


def wait() -> int:
    """Wait to be interrupted, and leave a result all the same."""
    try:
        say("waiting")  # whoever reads it may interrupt at once
        signal.pause()
    except KeyboardInterrupt:
        (result() / "result.json").write_text('{"v": 1}')
    return 130


def stubborn() -> int:
    """Ignore what it is asked, and have a child that does too."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    say(f"child {child.pid}")
    signal.pause()
    return 0


def upload() -> int:
    """Hand an artifact over by HTTP, as a starter on another machine would."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("result.json", '{"v": 1}')
    base, run = os.environ["ACTIONS_RESULTS_URL"], os.environ["GITHUB_RUN_ID"]
    request = urllib.request.Request(  # noqa: S310  it is the forge's own address
        f"{base}_artifacts/{run}/brat-result", data=archive.getvalue(), method="PUT"
    )
    token = os.environ["ACTIONS_RUNTIME_TOKEN"]
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request) as answer:  # noqa: S310  see above
        say(str(answer.status))
    return 0


def fail() -> int:
    say("this is how it failed")
    return 3


DEEDS = {
    "look": look,
    "wait": wait,
    "stubborn": stubborn,
    "upload": upload,
    "fail": fail,
}

if __name__ == "__main__":
    sys.exit(DEEDS[sys.argv[1]]())
