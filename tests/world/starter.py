"""A small program in the place of our runner, for the forge's tests.

What it does is the first word it is given. It keeps to the contract of a run: it reads
its token from a file descriptor and leaves its result in BRAT_RESULT.
"""

import json
import os
import signal
import subprocess
import sys
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


def fail() -> int:
    say("this is how it failed")
    return 3


DEEDS = {
    "look": look,
    "wait": wait,
    "stubborn": stubborn,
    "fail": fail,
}

if __name__ == "__main__":
    sys.exit(DEEDS[sys.argv[1]]())
