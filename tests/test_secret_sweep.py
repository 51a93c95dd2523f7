"""A test that leaves a secret where it can be read fails, whatever else it says."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.layer("landing")

TOP = Path(__file__).parents[1]
BEFORE = """
import logging, subprocess, sys
from grite import git
from tests.grite.commits import commit
from tests.world.app_key import pair
from tests.world.given_secrets import given, given_in, written

SECRET = given("made-up-secret-of-this-test")
warn = logging.getLogger("x").warning


def committed(folder, ref):
    git.run(["init", "-q", "--bare", str(folder)])
    made = commit(folder, {"events": SECRET.encode()})
    newer = commit(folder, {"events": b"nothing"}, made)
    git.run(["update-ref", ref, newer], cwd=folder)
"""
LEAKING = """
def test_log():
    warn("it is %s", SECRET)

def test_log_of_what_git_sends():
    warn(git.pair_of(SECRET))

def test_stderr():
    print(SECRET, file=sys.stderr)

def test_stderr_of_a_process():
    done = subprocess.run(["sh", "-c", f"echo {SECRET} >&2"], stderr=-1)
    written(done.stderr.decode())

def test_file(tmp_path):
    (tmp_path / "bot.log").write_text(SECRET)

def test_file_below(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/bot.log").write_text(f"x{SECRET}y")

def test_line_of_a_key():
    warn(given(pair()[0]).splitlines()[7])

def test_forges_token():
    warn("brat_7_" + "x" * 43)

def test_settings_files_secret(tmp_path):
    (tmp_path / "registration.json").write_text('{"bot_token": "abcdefgh-abcdefgh"}')
    warn("abcdefgh-abcdefgh")

def test_environment():
    given_in({"TEAM_API_KEY": "ijklmnop-ijklmnop"})
    warn("ijklmnop-ijklmnop")

def test_older_commit_of_the_event_log(tmp_path):
    committed(tmp_path / "x.git", "refs/grite/wal")
"""
KEEPING = """
def test_file(tmp_path):
    (tmp_path / "bot.json").write_text(SECRET)

def test_out():
    print(SECRET)

def test_short():
    warn(given("abc"))

def test_branch(tmp_path):
    committed(tmp_path / "x.git", "refs/heads/main")

def test_other_modules_secret():
    warn("made-up-secret-of-another-test")
"""
SHARING = """
def test_shares(tmp_path_factory):
    (tmp_path_factory.mktemp("shared") / "bot.log").write_text(SECRET)
"""


def ended(pytester: pytest.Pytester, tests: str) -> pytest.RunResult:
    """Run tests under the plugin, in a process of their own."""
    pytester.makepyfile(BEFORE + tests)
    pytester.makeconftest('pytest_plugins = ["tests.world.secret_sweep"]')
    pytester.makeini(f"[pytest]\npythonpath = {TOP}\n")
    return pytester.runpytest_subprocess("-p", "no:cacheprovider")


def test_a_secret_that_comes_out_fails_its_test(pytester: pytest.Pytester) -> None:
    tests = [line for line in LEAKING.splitlines() if line.startswith("def ")]

    done = ended(pytester, LEAKING)

    done.assert_outcomes(passed=len(tests), errors=len(tests))
    done.stdout.fnmatch_lines_random(
        [
            "*ERROR at teardown of test_log_of_what_git_sends*",
            "a secret was left in",
            "the log: made-u*",
            "*/a/b/bot.log: made-u*",
            "the log in */x.git: made-u*",
        ]
    )


def test_what_is_no_log_may_hold_a_secret(pytester: pytest.Pytester) -> None:
    ended(pytester, KEEPING).assert_outcomes(passed=5)


def test_what_tests_share_is_looked_through_when_all_are_done(
    pytester: pytest.Pytester,
) -> None:
    done = ended(pytester, SHARING)

    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*/bot.log: made-u*"])
