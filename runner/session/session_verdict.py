"""The witness's verdict on a session, from its end, its words and its work.

Pure. None of the three is believed alone: engines exit with 0 after errors, and report
done after doing nothing. Work that is too large, or that the gate refuses, does not
land.
"""

import signal
from collections.abc import Iterator

from msgspec import Struct

from convoy.events.session_events import TaskStarted
from convoy.kinds import KINDS
from convoy.model.records import Verdict
from convoy.model.session_result import Outcome, Trouble
from convoy.text import counted, full_stop
from grite.errors import is_disk_full
from runner.box.supervisor import Ending
from runner.engines.output_reader import Report
from runner.workspace.attempt_commits import Work, gate_refusals, too_large


class Finding(Struct, frozen=True):
    outcome: Outcome
    why: str
    conclusion: Verdict = "failure"


class Seen(Struct, frozen=True):
    started: TaskStarted
    ending: Ending = Ending()
    report: Report = Report(None)
    work: Work = Work()
    answer: str = ""
    unaccepted: str | None = None
    """Why the acceptance command rejects the work, a sentence; empty: it does not;
    None: it was not run."""
    unprepared: str = ""
    """Why the workspace could not be prepared, a sentence; empty: it was prepared."""

    @property
    def goes_on(self) -> bool:
        """Whether the session began with half-done work of an earlier attempt."""
        return self.started.salvaged > 0

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why the patch gate would not let the work land, a sentence each."""
        return gate_refusals(self.work, self.started)


_MEANING: dict[Trouble, str] = {
    "credentials": "The model's vendor refused the key",
    "budget": "The budget is spent",
    "rate_limited": "The vendor's rate limit was reached",
    "vendor_down": "The model's vendor does not answer",
    "failed": "The engine failed",
}


def conclude(seen: Seen) -> Finding:
    """Return the verdict on a session: the first thing that went wrong.

    If an answer is asked for, a plan or a report, no change is.
    """
    for finding in _ended(seen):
        return finding
    if not (asked := KINDS[seen.started.kind].answer):
        return next(_worked(seen))
    if seen.report.status == "done" and seen.answer:
        return Finding("exited", f"The agent answered with a {asked}.", "success")
    said = (seen.report.status or "none").replace("_", " ")
    why = f"The agent produced no {asked} (status: {said}): {seen.report.summary}"
    return Finding("nothing", why)


def _ended(seen: Seen) -> Iterator[Finding]:
    ending, trouble, spec = seen.ending, seen.report.trouble, seen.started.engine
    if seen.unprepared:
        yield Finding("setup", seen.unprepared)
    if ending.cancelled:
        yield Finding("cancelled", "The job was cancelled.", "cancelled")
    if ending.fault:
        yield Finding(trouble.kind if trouble else "unstarted", ending.fault)
    if trouble is not None:
        late = ending.timed_out or ending.silent
        why = f"{_MEANING[trouble.kind]}: {trouble.message.rstrip('.')}."
        yield Finding(trouble.kind, why, "timed_out" if late else "failure")
    if ending.timed_out:
        why = f"The agent was stopped after {spec.timeout_s:g} s."
        yield Finding("deadline", why, "timed_out")
    if ending.silent:
        why = f"The agent was stopped: it printed nothing for {spec.silence_s:g} s."
        yield Finding("hung", why, "timed_out")
    if ending.signal is not None:
        names = {each.value: each.name for each in signal.Signals}
        name = names.get(ending.signal, f"signal {ending.signal}")
        yield Finding("crashed", f"The agent was killed by {name}{_last(seen)}")
    if ending.exit_code != 0:
        why = f"The agent exited with status {ending.exit_code}{_last(seen)}"
        yield Finding("crashed", why)


def _last(seen: Seen) -> str:
    """Return the end of a sentence, with what the agent printed last."""
    return full_stop(f": {seen.report.last}" if seen.report.last else "")


def _worked(seen: Seen) -> Iterator[Finding]:
    ended: Outcome = "uncommitted" if seen.work.leftover else "exited"
    match seen.report.status:
        case None:
            yield Finding(ended, "The agent exited without saying that it was done.")
        case "blocked" | "missing_tool" | "missing_data" as status:
            lacks = {"blocked": "a blocker", "missing_tool": "a missing tool"}
            what = lacks.get(status, "missing data")
            why = f"The agent reported {what}: {seen.report.summary}"
            yield Finding(ended, why)
        case "done" if not (seen.work.changes or seen.work.faults or seen.goes_on):
            why = f"The agent said that it was done, but changed nothing{_last(seen)}"
            yield Finding("nothing", " ".join((why, *seen.work.left_out)))
        case "noop" if seen.work.changes:
            files = counted(len(seen.work.changes), "file")
            why = f"The agent said there was nothing to do, but it changed {files}."
            yield Finding(ended, why)
        case "noop" if seen.goes_on:
            why = "The agent said there was nothing to do, but unfinished work remains."
            yield Finding(ended, why)
        case "noop" if not seen.unaccepted:
            why = "The agent said that there was nothing to do."
            yield Finding(ended, why, "noop")
        case _:
            pass
    if found := too_large(seen.work, seen.started):
        yield Finding("oversized", " ".join(found))
    for why in (*seen.work.faults, *seen.refusals):
        yield Finding("setup" if is_disk_full(why) else ended, why)
    if seen.ending.survivors:
        left = f"{seen.ending.survivors} of the agent's processes could not be killed."
        yield Finding(ended, left)
    if seen.unaccepted:
        yield Finding(ended, seen.unaccepted)
    changed = counted(len(seen.work.changes), "more file" if seen.goes_on else "file")
    yield Finding(ended, f"Changed {changed}.", "success")
