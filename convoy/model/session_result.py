"""What a session says of itself: its end, tokens and money, walls, and notes. Pure.

All of it are claims that reach the bot in result.json. The most that a false outcome
gains is a free retry, and the number of those is limited. Figures are kept in bounds,
so that no sum is ever negative, endless or too large for the log. What an agent leaves
for others may be what it was talked into: it is cut and cleaned on its way into the log
and remains data for whoever reads it. A wall is what the kernel holds, not what a
program was asked to do.
"""

import hashlib
from itertools import accumulate
from typing import Final, Literal, get_args

from msgspec import MsgspecError, Struct, json
from msgspec.structs import asdict

from convoy.model.records import Estimate, Price, Report, Usage
from convoy.text import clean, counted, cut, rough
from convoy.text.redaction import redacted

Trouble = Literal["credentials", "budget", "rate_limited", "vendor_down", "failed"]
"""What an engine can meet: a key that is not taken, no money or turns left, too many
requests, a vendor that does not answer, and anything else."""

SIDE_REF: Final = "refs/brat/aside"
"""What work.bundle calls the commit that holds what is beside the work."""

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
    Trouble,
]
"""How a session ended.

`exited`: cleanly; `uncommitted`: cleanly, and the witness committed what the agent had
left; `nothing`: it reported done and left nothing; `oversized`: it left more than may
land or be kept; `deadline`: it was ended while it
worked; `hung`: it was ended after it had long said nothing; `crashed`: by a signal or
an exit status that nothing explains; `cancelled`: the job was; `unstarted`: its program
was not there; `setup`: `.brat/setup.sh` failed before it was started, or the disk was
full; all others: the trouble that it met."""

OUTAGES: Final[frozenset[Outcome]] = frozenset({"rate_limited", "vendor_down"})
"""The vendor's troubles, not the task's: they cost no attempt."""
FOR_A_PERSON: Final[frozenset[Outcome]] = frozenset(
    {"credentials", "budget", "setup", "unstarted", "oversized"}
)
"""Outcomes after which another attempt would do no better."""

CUT_OFF: Final[frozenset[Outcome]] = frozenset(
    {"deadline", "hung", "crashed", "cancelled", *get_args(Trouble)}
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


_MILLION: Final = 1_000_000


def priced(used: Usage, said_usd: float | None, price: Price | None) -> Usage:
    """Return one session's tokens with their cost.

    Where the engine does not say it (None) it is reckoned by the price; without one
    they stay without a price.
    """
    used = used.bounded
    if said_usd is None and price is None:
        return used + Usage(unpriced_tokens=used.tokens)
    if said_usd is None and price is not None:
        cached = price.input if price.cached is None else price.cached
        said_usd = (
            used.input_tokens * price.input
            + used.cached_tokens * cached
            + used.output_tokens * price.output
        ) / _MILLION
    return used + Usage(usd=said_usd or 0.0)


class _UsageLine(Struct, frozen=True):
    """A line of usage.jsonl: what was used since the last such line."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


def usage_noted(lines: bytes) -> tuple[Usage, float | None]:
    """Return the tokens in usage.jsonl, and the money where it names any.

    Lines that do not parse, such as a truncated last one, are left out.
    """
    total, usd = Usage(), None
    for line in lines.splitlines():
        try:
            said = json.decode(line, type=_UsageLine)
        except MsgspecError:
            continue
        figures = asdict(said)
        said_usd = figures.pop("usd")
        total += Usage(**figures).bounded
        if said_usd is not None:
            usd = (Usage(usd=usd or 0.0) + Usage(usd=said_usd).bounded).usd
    return total, usd


_DIME: Final = 0.1


def usage_in_words(usage: Usage) -> str:
    """Return tokens and money in a few words; empty when neither is known."""
    if not usage.tokens and not usage.usd:
        return ""
    came = usage.input_tokens + usage.cached_tokens
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    said = f"{came:,} tokens in{cached}, {usage.output_tokens:,} out"
    cost = dollars(usage.usd)
    if usage.unpriced_tokens:
        more = f"{cost}, plus {usage.unpriced_tokens:,} tokens of unknown price"
        cost = more if usage.usd else "price unknown"
    return f"{said}, {cost}"


def estimate_words(found: Estimate | None) -> str:
    """Return what a plan may take in a few words; empty: nothing is known."""
    if found is None:
        return ""
    usd = dollars(found.usd) if found.usd is not None else ""
    length = f"{rough(found.seconds)} in sessions" if found.seconds is not None else ""
    by = (
        f"the median of {counted(found.tasks, 'earlier task')} with these engines"
        if found.tasks
        else "estimated from the prices of these engines"
    )
    return f"about {' and '.join(filter(None, (usd, length)))} ({by})"


def dollars(usd: float) -> str:
    """Return dollars and cents, and below a dime hundredths of a cent too."""
    return f"${usd:,.4f}" if 0 < usd < _DIME else f"${usd:,.2f}"


Wall = Literal["", "namespaces", "landlock", "seccomp", "uid"]
"""What a wall is made of; empty: there is none."""


class Walls(Struct, frozen=True, kw_only=True):
    """Which wall stood for each thing that an agent is kept from."""

    files: Wall = ""
    """All files are read-only or absent, but for the checkout, its home and its tmp."""
    processes: Wall = ""
    """It neither sees nor signals nor traces a process that it did not start."""
    network: Wall = ""
    """It reaches the hosts of its list and nothing else."""
    user: Wall = ""
    """`uid`: another user than the witness's; `namespaces`: the same, without rights
    outside of its own namespace."""
    syscalls: Wall = ""
    """It cannot call what the kernel offers to administrators and debuggers."""


WALL_NAMES: Final = Walls.__struct_fields__


def missing_walls(walls: Walls, *, closed: bool) -> tuple[str, ...]:
    """Return the names of the walls that did not stand.

    The network's is missed only where it was to be closed.
    """
    asked = (name for name in WALL_NAMES if closed or name != "network")
    return tuple(name for name in asked if not getattr(walls, name))


def walls_in_words(walls: Walls) -> str:
    """Return each wall and what it is made of, `files: landlock, network: none`."""
    made = asdict(walls).items()
    return ", ".join(f"{name}: {wall or 'none'}" for name, wall in made)


LINES_MOST: Final = 10
"""The most lines of one kind that one attempt may leave."""
LINE_CHARS: Final = 400
SCRATCHPAD_CHARS: Final = 4_000
"""The most lines of a convoy's scratchpad; beyond it the oldest go."""
HANDED_CHARS: Final = 12_000
"""How much of a report each task that waits for it is given."""


class Left(Struct, frozen=True, kw_only=True):
    """What one attempt's agent leaves for others, in lines."""

    notes: tuple[str, ...] = ()
    """Lines for the tasks that build on its own."""
    shared: tuple[str, ...] = ()
    """Lines for every agent of the convoy."""
    declined: tuple[str, ...] = ()
    """Numbers of review threads that it did not follow, each with the reason."""


NOTHING_LEFT: Final = Left()


def bounded_notes(left: Left) -> Left:
    """Return what an agent left, cleaned and cut; safe to do twice.

    Of each kind the first lines stay, without duplicates and apparent secrets.
    """
    bounded: dict[str, tuple[str, ...]] = {}
    for name, said in asdict(left).items():
        plain = (" ".join(redacted(clean(line)).split()) for line in said)
        lines = dict.fromkeys(cut(line, LINE_CHARS) for line in plain if line)
        bounded[name] = tuple(lines)[:LINES_MOST]
    return Left(**bounded)


def scratchpad_with(
    scratchpad: tuple[str, ...], lines: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the scratchpad with lines added and the oldest dropped if it is full."""
    both = (*(line for line in scratchpad if line not in lines), *lines)
    lengths = accumulate(map(len, reversed(both)))
    return both[sum(length > SCRATCHPAD_CHARS for length in lengths) :]


def report_for_others(report: Report) -> str:
    """Return a report, cut to what other agents are given of it."""
    parts = [report.summary]
    for finding in report.findings:
        where = f" ({', '.join(finding.paths)})" if finding.paths else ""
        detail = f": {finding.detail}" if finding.detail else ""
        parts.append(f"- {finding.title}{where}{detail}")
    if report.recommendation:
        parts.append(f"Recommendation: {report.recommendation}")
    parts += (f"Open: {each}" for each in report.open)
    return cut("\n".join(parts), HANDED_CHARS)
