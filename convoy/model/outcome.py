"""How a session can end, and what follows from it for its task. Pure.

The outcome is the witness's claim and reaches the bot in result.json. The most that a
false one gains is a free retry, and the number of those is limited.
"""

import hashlib
from typing import Final, Literal

Trouble = Literal["credentials", "budget", "rate_limited", "vendor_down", "failed"]
"""What an engine can meet: a key that is not taken, no money or turns left, too many
requests, a vendor that does not answer, and anything else."""

Outcome = Literal[
    "exited",
    "uncommitted",
    "nothing",
    "oversized",
    "deadline",
    "hung",
    "crashed",
    "cancelled",
    "unstarted",
    "setup",
    "credentials",
    "budget",
    "rate_limited",
    "vendor_down",
    "failed",
]
"""How a session ended.

`exited`: cleanly; `uncommitted`: cleanly, and the witness committed what the agent had
left; `nothing`: it reported done and left nothing; `oversized`: it left more than may
land or be kept; `deadline`: it was ended while it
worked; `hung`: it was ended after it had long said nothing; `crashed`: by a signal or
an exit status that nothing explains; `cancelled`: the job was; `unstarted`: its program
was not there; `setup`: `.brat/setup.sh` failed before it was started; all others: the
trouble that it met."""

OUTAGES: Final[frozenset[Outcome]] = frozenset({"rate_limited", "vendor_down"})
"""The vendor's troubles, not the task's: they cost no attempt."""
FOR_A_PERSON: Final[frozenset[Outcome]] = frozenset(
    {"credentials", "budget", "setup", "unstarted", "oversized"}
)
"""Outcomes after which another attempt would do no better."""

CUT_OFF: Final[frozenset[Outcome]] = frozenset(
    {
        *("deadline", "hung", "crashed", "cancelled", "failed"),
        *("credentials", "budget", "rate_limited", "vendor_down"),
    }
)
"""Outcomes that interrupt the work: the next attempt goes on from what is there."""

OUTAGES_MOST: Final = 20
"""How many outages in a row before a person is asked: some seven hours."""
FIRST_WAIT_S: Final = 30
LONGEST_WAIT_S: Final = 3_600
LONGEST_ASKED_S: Final = 24 * 3_600


def wait_ms(session: str, outages: int, asked_s: float) -> int:
    """Return how long a task waits after an outage.

    Exponential with full jitter, drawn from the session's own random name, so that the
    same log always says the same.
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/

    Args:
        session: the actor of the attempt that met it.
        outages: how many the task has met in a row, this one included.
        asked_s: what the vendor asked for; it is waited for in full first.
    """
    most_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(outages - 1, 16))
    drawn = hashlib.sha256(f"{session}/{outages}".encode()).digest()
    share = int.from_bytes(drawn[:8]) / 2**64
    asked_s = min(max(0.0, asked_s), LONGEST_ASKED_S)
    return int(1000 * (asked_s + most_s * share))
