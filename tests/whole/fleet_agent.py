"""Stands where Claude Code would: does its task, or what the list of troubles says.

The list is beside it: a task's number, and what becomes of its first attempt.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Never

FLOOD = "agents may say much, and this one does so without an end of the line " * 1000


def say(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def dies() -> Never:
    """Wait for the end of its machine: see `brat.demo.demo_run`."""
    os.execvp("sleep", ["sleep", "86399"])  # noqa: S606  it is to become that


def hangs() -> Never:
    while True:
        time.sleep(60)


def floods() -> None:
    for _ in range(300):  # 20 MB
        sys.stdout.write(FLOOD + "\n")


def limited() -> Never:
    said = "API Error: 429 rate_limit_error: too many requests"
    say(type="system", subtype="api_retry", error="rate_limit", error_status=429)
    say(
        type="result",
        subtype="success",
        is_error=True,
        api_error_status=429,
        result=said,
    )
    sys.exit(1)


def gives_up() -> Never:
    say(type="result", subtype="success", is_error=True, result="This is beyond me.")
    sys.exit(1)


def works(task: str) -> None:
    Path(f"{task}.txt").write_text("done\n")
    last = f"Wrote the file.\n\nBRAT: done wrote {task}.txt"
    say(type="result", subtype="success", is_error=False, result=last)


def main() -> None:
    task, attempt = os.environ["BRAT_TASK"], os.environ["BRAT_ATTEMPT"]
    sys.stdin.readline()  # it stays open: more may be said
    say(type="system", subtype="init", session_id=task)
    listed = Path(__file__).with_name("troubles.json").read_text()
    trouble = json.loads(listed).get(task, "")
    if trouble == "gives_up":
        gives_up()
    if attempt == "1" and trouble:
        globals()[trouble]()
    works(task)


if __name__ == "__main__":
    main()
