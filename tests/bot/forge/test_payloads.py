"""What the forge answers, as the bot keeps it."""

import subprocess
import sys

KEEPER = """
import gc
import sys
from bot.forge.payloads import Issue

class Holder:
    pass

gc.disable()
given = {"number": 1, "title": "x", "state": "open"}
for _ in range(50):  # they are found when the interpreter ends
    held = Holder()
    held.itself = held
    held.at = Issue(**given, updated_at="2026-01-01T00:00:00+02:00").updated_at
print(held.at.isoformat())
sys.held = held
"""


def test_a_time_that_a_cycle_holds_does_not_end_the_process_by_a_fault() -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", KEEPER],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (0, "2025-12-31T22:00:00+00:00\n")
