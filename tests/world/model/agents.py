"""What agents and CI do: sessions end in all ways, checks report or do not."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from convoy.kinds import KINDS
from tests.world.model.bots import Bots, Mishap, mishaps
from tests.world.model.forge import Result, Run

ENDS: Final = (
    *("good", "good", "clash", "same", "bad"),
    *("refused", "nothing", "nothing", "lost", "outage"),
)
TROUBLES: Final = ("refused", "nothing", "lost", "outage")
"""What may go wrong with a session that is to report."""
VERDICTS: Final = ("truth", "truth", "red", "late", "stopped")


class Agents(Bots):
    """Rules of what runs elsewhere; what is never ended runs into its deadline."""

    @rule(hows=st.lists(st.sampled_from(ENDS), min_size=1, max_size=3), mishap=mishaps)
    def sessions_end(self, hows: list[str], mishap: Mishap) -> None:
        for run, how in zip(self.running(), hows, strict=False):
            self.end(run, how)
        self.react(mishap)

    @rule(
        how=st.sampled_from(["good", "good", "clash", "clash", "same"]), mishap=mishaps
    )
    def all_sessions_end_alike(self, how: str, mishap: Mishap) -> None:
        for run in self.running():
            self.end(run, how)
        self.react(mishap)

    @rule(
        hows=st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=4), mishap=mishaps
    )
    def checks_report(self, hows: list[str], mishap: Mishap) -> None:
        for commit, how in zip(self.unjudged(), hows, strict=False):
            self.judge(commit, how)
        self.react(mishap)

    @rule(mishap=mishaps)
    def all_checks_tell_the_truth(self, mishap: Mishap) -> None:
        for commit in self.unjudged():
            self.judge(commit, "truth")
        self.react(mishap)

    def running(self) -> list[Run]:
        """Return the runs that have not ended."""
        return [run for run in self.forge.runs.values() if not run.completed]

    def end(self, run: Run, how: str) -> None:
        """End a session in one of the ways of `ENDS`."""
        run.completed = True
        if run.started.kind == "tests" and how in ("good", "clash"):
            how = "tests"
        if KINDS[run.started.kind].answer and how not in TROUBLES:
            verdict = "approve" if how in ("good", "clash") else "changes"
            choice = "choose" if how in ("good", "clash") else "refused"
            split = "split" if how in ("good", "clash") else "refused"
            answers = {"review": verdict, "choice": choice, "plan": split}
            how = answers.get(run.started.kind, "report")
        base, line = run.started.base, f"work:{run.session}"
        commits = self.forge.commits
        match how:
            case "report":
                tried = run.started.kind == "scout"
                commit = self.edited(base, line, "bad") if tried else ""
                run.result = Result("report", commit)
            case "approve" | "changes" | "choose" | "nothing" | "lost" | "outage":
                run.result = Result(how)
            case "split":
                run.result = Result("split")
            case "refused":
                commit = self.edited(base, line, "good")
                run.result = Result("refused", commit, splits=True)
            case _:
                commit = self.edited(base, line, how)
                files = commits.changed(base, commit)
                run.result = Result("work" if files else "refused", commit, files)
        self.saw(f"session {how}")
