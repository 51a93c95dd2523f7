"""What the pictures show beside the log: what sessions printed, what CI says now."""

from typing import Final

from bot.dashboard.dashboard_source import Changes, FileChange
from convoy.model.state import State
from convoy.rules.verdict import Checks
from tests.pictures.passkeys_plan import RED, REFUSED

TEST_OUTPUT: Final = """FAILED tests/test_limits.py::test_ten_attempts_lock_an_account
tests/test_limits.py:41: in test_ten_attempts_lock_an_account
    assert account.locked_until is not None
E   assert None is not None
1 failed, 218 passed in 9.84s"""
SAID: Final = """Reading src/auth/limits.py
Reading tests/test_limits.py
The counter is kept per process, so two workers never see the same account.
\x1b[2m$ pytest -q tests/test_limits.py\x1b[0m
\x1b[31mFAILED\x1b[0m tests/test_limits.py::test_ten_attempts_lock_an_account
\x1b[31m\x1b[1m1 failed\x1b[22m, \x1b[32m6 passed\x1b[31m in 1.02s\x1b[0m
I cannot lock an account without a store that all workers share.
"""


def printed(number: int, attempt: int) -> str:
    """Return what a session of the newest convoy printed."""
    if number in (REFUSED, RED):
        return SAID
    return (
        f"Reading src/auth/part_{number}.py\n"
        f"$ pytest -q tests/test_part_{number}.py\n"
        f"\x1b[32m{3 + attempt} passed\x1b[0m in 0.{number % 90 + 10}s\n"
        f"Editing src/auth/part_{number}.py\n"
    )


def changes(_base: str, _commit: str) -> Changes:
    """Return what a picture shows of any commit."""
    lines = (
        ("@", 0, "@@ -38,5 +38,6 @@ class Attempts:"),
        (" ", 38, "    def count(self, account: Account) -> int:"),
        ("-", 39, "        return self._counts[account.id]"),
        ("+", 39, "        with self._lock:"),
        ("+", 40, "            return self._counts.get(account.id, 0)"),
        (" ", 41, ""),
        (" ", 42, "    def reset(self, account: Account) -> None:"),
    )
    more = (
        ("@", 0, "@@ -0,0 +1,3 @@"),
        ("+", 1, "def test_ten_attempts_lock_an_account(account):"),
        ("+", 2, "    fail(account, times=10)"),
        ("+", 3, "    assert account.locked_until is not None"),
    )
    limits = FileChange(
        path="src/auth/limits.py", was="", added=2, removed=1, lines=lines
    )
    test = FileChange(
        path="tests/test_limits.py", was="", added=3, removed=0, lines=more
    )
    return Changes((limits, test), 2, 5, 1)


def checks(state: State) -> dict[str, Checks]:
    """Return what CI was seen to say of the candidates that are open."""
    tasks = [task for convoy in state.live() for task in convoy.tasks]
    found = [each.candidate for each in tasks if each.candidate is not None]
    names = ("lint", "tests (3.11)", "tests (3.12)")
    return {
        one.commit: Checks(
            verdict="green" if place % 3 == 1 else "pending",
            names=names if place % 3 == 1 else names[: 1 + place % 2],
            more=place % 3 != 1,
            since=one.at + 60_000,
        )
        for place, one in enumerate(sorted(found, key=lambda one: one.at))
    }
