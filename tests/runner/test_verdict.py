"""The witness's word: nobody is believed alone."""

import msgspec
import pytest
from msgspec.structs import replace

from convoy.gate import PathChange
from convoy.model.records import EngineSpec
from convoy.model.session_result import WALL_NAMES, Walls, missing_walls
from runner.box.agent_box import read_report
from runner.box.supervisor import Ending
from runner.engines.engine_events import Error
from runner.engines.output_reader import Report
from runner.session.session_verdict import Seen, conclude
from runner.workspace.attempt_commits import Work
from tests.runner.job import started
from tests.world.cases import looped

WELL = Ending(exit_code=0, seconds=1.0)
DONE, NOOP = Report("done"), Report("noop")
SPENT = Error(kind="budget", message="Out of credit.")
NOTHING = Work()
ONE = Work("c" * 40, (PathChange("a", "000000", "100644"),))
LEFTOVER = replace(ONE, leftover=True)
REFUSED = replace(ONE, leaks=("Too large.", "Protected."))


NOTHING_SAID = "The agent said that it was done, but changed nothing"
NOTHING_TO_DO = "The agent said there was nothing to do, but"
KILLED, EXITED = "The agent was killed by", "The agent exited"


def judged(
    ending: Ending = WELL,
    report: Report = DONE,
    work: Work = ONE,
    *,
    goes_on: bool = False,
) -> tuple[str, str, str]:
    spec = EngineSpec(type="shell", timeout_s=5)
    task = started(engine=spec, salvaged=int(goes_on))
    found = conclude(Seen(task, ending, report, work))
    return found.conclusion, found.outcome, found.why


@looped(
    (judged(), "success", "exited", "Changed 1 file."),
    (judged(work=LEFTOVER), "success", "uncommitted", "Changed 1 file."),
    (judged(goes_on=True), "success", "exited", "Changed 1 more file."),
    (
        judged(work=NOTHING, goes_on=True),
        *("success", "exited", "Changed 0 more files."),
    ),
    (
        judged(report=NOOP, work=NOTHING, goes_on=True),
        *("failure", "exited", f"{NOTHING_TO_DO} unfinished work remains."),
    ),
    (
        judged(report=NOOP, work=NOTHING),
        *("noop", "exited", "The agent said that there was nothing to do."),
    ),
    (judged(report=NOOP), "failure", "exited", f"{NOTHING_TO_DO} it changed 1 file."),
    (judged(work=NOTHING), "failure", "nothing", f"{NOTHING_SAID}."),
    (
        judged(report=Report("done", last="As asked."), work=NOTHING),
        *("failure", "nothing", f"{NOTHING_SAID}: As asked."),
    ),
    (
        judged(report=Report("missing_tool", "no cargo")),
        *("failure", "exited", "The agent reported a missing tool: no cargo"),
    ),
    (
        judged(report=Report(None)),
        *("failure", "exited", f"{EXITED} without saying that it was done."),
    ),
    (
        judged(report=Report("done", trouble=SPENT)),
        *("failure", "budget", "The budget is spent: Out of credit."),
    ),
    (judged(Ending(exit_code=1)), "failure", "crashed", f"{EXITED} with status 1."),
    (judged(Ending(exit_code=143)), "failure", "crashed", f"{EXITED} with status 143."),
    (judged(Ending(signal=9)), "failure", "crashed", f"{KILLED} SIGKILL."),
    (judged(Ending(signal=35)), "failure", "crashed", f"{KILLED} signal 35."),
    (
        judged(Ending(exit_code=0, timed_out=True)),
        *("timed_out", "deadline", "The agent was stopped after 5 s."),
    ),
    (
        judged(Ending(signal=15, cancelled=True)),
        *("cancelled", "cancelled", "The job was cancelled."),
    ),
    (
        judged(Ending(exit_code=0, survivors=2)),
        *("failure", "exited", "2 of the agent's processes could not be killed."),
    ),
    (judged(work=REFUSED), "failure", "exited", "Too large."),
    (judged(work=Work(faults=("Lost.",))), "failure", "exited", "Lost."),
)
def test_what_went_wrong_first_is_the_reason(
    found: tuple[str, str, str], conclusion: str, outcome: str, why: str
) -> None:
    assert found == (conclusion, outcome, why)


def test_a_report_names_the_walls_that_stand() -> None:
    said = read_report("files=namespaces user=uid syscalls=seccomp")

    assert said.why == ""
    assert said.walls == Walls(files="namespaces", user="uid", syscalls="seccomp")
    assert missing_walls(said.walls, closed=True) == ("processes", "network")
    assert missing_walls(said.walls, closed=False) == ("processes",)
    with pytest.raises(msgspec.ValidationError):
        read_report("files=paper")
    for text, why in (
        ("!no namespaces: Denied", "no namespaces: Denied"),
        ("", "the sandbox ended before"),
    ):
        said = read_report(text)
        assert said.why.startswith(why)
        assert missing_walls(said.walls, closed=True) == WALL_NAMES
