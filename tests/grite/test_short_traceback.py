"""What a process without a log of its own writes of a fault."""

import sys

from tests.world.program import ran

FAULTY = """
import logging
from grite.short_traceback import log_warnings

def deep(frames):
    if frames:
        deep(frames - 1)
    token = "ghp_" + "a1B2" * 9
    raise ValueError(f"{token} {'x' * 5_000_000}")

log_warnings()
log = logging.getLogger("anything")
try:
    deep(200)
except ValueError as error:
    log.exception("it failed: %s", error)
log.warning("a token: %s", "ghp_" + "a1B2" * 9)
log.info("not told")
"""


def test_a_fault_is_told_in_a_few_lines_and_without_tokens() -> None:
    done = ran([sys.executable, "-c", FAULTY], check=True)

    lines = done.stderr.splitlines()
    assert lines[0].startswith("it failed: *** xxx")
    assert lines[1].startswith("ValueError: *** xxx")
    assert "    ... 191 more" in lines
    assert lines[-1] == "a token: ***"
    assert len(lines) < 40
    assert len(done.stderr) < 4000
    assert "a1B2" not in done.stderr


GIT_FAULT = """
import logging
from grite import git
from grite.short_traceback import log_warnings

log_warnings()
try:
    git.run(["-c", "x.y=z", "no-such-verb", "ghp_" + "a1B2" * 9])
except Exception:
    logging.getLogger("anything").exception("it failed")
"""


def test_what_people_are_not_told_of_a_call_of_git_is_in_the_log() -> None:
    done = ran([sys.executable, "-c", GIT_FAULT], check=True)

    said, call = done.stderr.splitlines()[1:3]
    assert said.startswith("GitFailed: git no-such-verb failed: ")
    assert call == "    by: git -c x.y=z no-such-verb ***"
