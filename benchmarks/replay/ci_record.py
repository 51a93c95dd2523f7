"""Runs a project's tests as CI and notes that: `ci_record.py RECORD FLAKY COMMAND`.

So large a part of all runs as `FLAKY` says is red whatever the tests say; which ones,
is drawn from the tree and from how often it was judged before.
"""

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path


def flakes(record: Path, tree: str, part: float) -> bool:
    """Whether this run is red by chance, the same each time it is asked."""
    earlier = record.read_text("utf-8").splitlines() if record.exists() else []
    known = sum(json.loads(line)["tree"] == tree for line in earlier)
    return random.Random(f"{tree} {known}").random() < part  # noqa: S311


def main() -> int:
    """Run the command in the checkout, and return its exit status."""
    record, flaky, command = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    said = subprocess.run(
        ["git", "rev-parse", "HEAD", "HEAD^{tree}"], capture_output=True, check=True
    )
    commit, tree = said.stdout.decode().split()
    log = subprocess.run(["git", "log", "--format=%s"], capture_output=True, check=True)
    has = re.findall(r"^Apply change (\d+)\b", log.stdout.decode(), re.MULTILINE)
    begun = time.time()
    status = subprocess.run(["sh", "-c", command], check=False).returncode
    by_chance = status == 0 and flakes(record, tree, flaky)
    if by_chance:
        print("FAILED tests/test_network.py::test_that_flakes")
        status = 1
    told = {"commit": commit, "tree": tree, "status": status, "flake": by_chance}
    told["has"] = [int(number) for number in has]
    with record.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({**told, "begun": begun, "ended": time.time()}) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
