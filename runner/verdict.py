"""The witness's word on a session, from how it ended, what it said and what it left.

Pure. None of the three is believed alone: engines exit with 0 after errors, and report
done after doing nothing.
"""

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from convoy.events import Verdict
from runner.engines.row import Report
from runner.salvage import Work
from runner.supervise import Ending


class Finding(NamedTuple):
    """A conclusion and, in one sentence, its reason."""

    conclusion: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """All there is to judge a session by."""

    ending: Ending
    report: Report
    work: Work
    refusals: tuple[str, ...]
    timeout_s: float


def conclude(seen: Seen) -> Finding:
    """Return what became of the session: the first thing that went wrong."""
    for found in (_ended(seen), _said(seen), _left(seen)):
        for finding in found:
            return finding
    return Finding("success", f"Changed {_files(seen.work)}.")


def _ended(seen: Seen) -> Iterator[Finding]:
    ending = seen.ending
    if ending.cancelled:
        yield Finding("cancelled", "The job was cancelled.")
    if ending.timed_out:
        yield Finding("timed_out", f"The agent was ended after {seen.timeout_s:g} s.")
    if ending.fault:
        yield Finding("failure", ending.fault)
    if seen.report.fault:
        yield Finding("failure", seen.report.fault)
    if ending.signal is not None:
        yield Finding("failure", f"The agent was ended by {_name(ending.signal)}.")
    if ending.exit_code != 0:
        yield Finding("failure", f"The agent exited with status {ending.exit_code}.")


def _said(seen: Seen) -> Iterator[Finding]:
    match seen.report.status:
        case None:
            yield Finding("failure", "The agent ended without saying that it is done.")
        case "blocked" | "missing_tool" | "missing_data" as status:
            what = status.replace("_", " ")
            yield Finding(
                "failure", f"The agent reported {what}: {seen.report.summary}"
            )
        case "done" if not seen.work.changes and not seen.work.faults:
            yield Finding("failure", "The agent reported done but changed nothing.")
        case "noop" if seen.work.changes:
            files = _files(seen.work)
            yield Finding("failure", f"The agent reported noop but changed {files}.")
        case "noop":
            yield Finding("noop", "The agent reported that nothing is to be done.")
        case _:
            return


def _left(seen: Seen) -> Iterator[Finding]:
    for why in (*seen.work.faults, *seen.refusals):
        yield Finding("failure", why)
    if seen.ending.survivors:
        left = f"{seen.ending.survivors} processes of the agent could not be ended."
        yield Finding("failure", left)


def _files(work: Work) -> str:
    count = len(work.changes)
    return f"{count} file" if count == 1 else f"{count} files"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
