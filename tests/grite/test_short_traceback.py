"""What a process without a log of its own writes of a fault."""

import sys

from tests.world.program import ran

FAULTY = """
import logging
from grite import git
from grite.short_traceback import log_warnings

def deep(frames):
    if frames:
        deep(frames - 1)
    token = "ghp_" + "a1B2" * 9
    raise ValueError(f"{token} {'x' * 5_000_000}")

log_warnings()
log = logging.getLogger("anything")
try:
    git.run(["-c", "x.y=z", "no-such-verb", "ghp_" + "a1B2" * 9])
except Exception:
    log.exception("it failed")
try:
    deep(200)
except ValueError as error:
    log.exception("it failed: %s", error)
log.warning("a token: %s", "ghp_" + "a1B2" * 9)
log.info("not told")
"""


def test_faults_are_told_in_a_few_lines_with_calls_of_git_and_without_tokens() -> None:
    done = ran([sys.executable, "-c", FAULTY], check=True)

    _, said, call, *rest = done.stderr.splitlines()
    assert said.startswith("GitFailed: git no-such-verb failed: ")
    assert call == "    by: git -c x.y=z no-such-verb ***"
    lines = rest[next(n for n, line in enumerate(rest) if line[0] != " ") :]
    assert lines[0].startswith("it failed: *** xxx")
    assert lines[1].startswith("ValueError: *** xxx")
    assert "    ... 191 more" in lines
    assert lines[-1] == "a token: ***"
    assert len(lines) < 40
    assert len(done.stderr) < 5000
    assert "a1B2" not in done.stderr
