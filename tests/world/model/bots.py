"""What agents and CI do: sessions end in all ways, checks report or do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.settings.bot_settings import ROLES
from convoy.kinds import KINDS
from convoy.log.record import fold
from convoy.model.records import EngineSpec, Settings
from convoy.model.state import State
from grite import chunk
from tests.world.model.forge import LOCK, MAIN, Bar, Died, Fuse, Result, Run
from tests.world.model.story import ACTORS, Story

PATHS: Final = ("", "paths: src/", "paths: src/a.py", "paths: docs/")
NEEDS: Final = ("", "needs: port:80")
ENGINES: Final = ("", "", "engine: docs")
T = TypeVar("T")

which = st.integers(0, 11)
"""Says which of the things there are; see `chosen`."""


def chosen(things: Sequence[T], number: int) -> T:
    return things[number % len(things)]


@st.composite
def plans(draw: st.DrawFn) -> str:
    """Write an issue with at most four open tasks, each after some of those before."""
    numbers = draw(st.sets(st.integers(1, 8), min_size=1, max_size=4))
    open_ = [0]
    lines: list[str] = []
    for number in range(1, max(numbers) + 1):
        if number not in numbers:
            lines.append(f"- [x] Task {number}")
            continue
        after = sorted(draw(st.sets(st.sampled_from(open_))) - {0})
        marks = [
            f"(after {', '.join(map(str, after))})" if after else "",
            draw(st.sampled_from(PATHS)),
            draw(st.sampled_from(NEEDS)),
            draw(st.sampled_from(ENGINES)),
        ]
        lines.append(" ".join(filter(None, (f"- [ ] Task {number}", *marks))))
        open_.append(number)
    return "\n".join(lines)


def _engines(default: int, docs: int) -> dict[str, EngineSpec]:
    return {
        "default": EngineSpec(type="shell", max_sessions=default),
        "docs": EngineSpec(type="shell", max_sessions=docs),
    }


patterns = st.sampled_from(["", "", "", "", "tdd", "writer-reviewer", "best-of"])
configurations = st.builds(
    Settings,
    engines=st.builds(_engines, st.integers(1, 4), st.integers(1, 2)),
    strategy=st.sampled_from(["rebase", "squash", "merge"]),
    require_ci=st.sampled_from([True, True, True, False]),
    checks=st.sampled_from([(), ("ci",)]),
    attempts=st.sampled_from([1, 1, 2, 3]),
    max_sessions=st.sampled_from([1, 3, 6]),
    locks=st.sampled_from(["require", "require", "warn", "off"]),
    approve=st.sampled_from(["auto", "auto", "auto", "plan"]),
    approvals=st.sampled_from([0, 0, 0, 2]),
    task_pulls=st.sampled_from([True, True, False]),
)


MISHAPS: Final = (
    *("none", "none", "dies", "dies", "misses the answer", "is raced"),
    *("is refused", "has one role", "forgets", "has a rival", "sleeps"),
)
REMEMBERING: Final = ("none", "is refused", "has one role")
MINUTES: Final = (1, 11, 45, -60)
WRITES: Final = ("dispatch", "pull", "comment", "label")
BARRED: Final = (
    *(*WRITES, "edit", "finish", "cancel"),
    *("/convoy/{convoy}/task-", "/convoy/{convoy}/base", "/attempts/{convoy}/"),
    *("/brat/queue/convoy--{convoy}--base/", "/brat/queue/main/", MAIN),
)
"""Kinds of writes, and parts of the names of refs."""


@dataclass(frozen=True)
class Mishap:
    """What happens to the bot around its next tick, and at which moment."""

    kind: str
    moment: int


mishaps = st.builds(Mishap, st.sampled_from(MISHAPS), st.integers(0, 9))


class Bots(Story):
    """Rules of bots; `react` is what other rules end with."""

    @rule(mishap=mishaps)
    def the_bot_ticks(self, mishap: Mishap) -> None:
        self.react(mishap)

    def react(self, mishap: Mishap) -> None:
        self._prepare(mishap)
        if mishap.kind not in REMEMBERING:
            self.forge.tries.clear()  # the bot may not know what it tried just now
        one = (chosen(ROLES, mishap.moment),)
        try:
            self.bot.tick(roles=one if mishap.kind == "has one role" else ROLES)
        except Died:
            self._start_anew()
        if mishap.kind not in REMEMBERING:
            self.forge.tries.clear()
        self.forge.fuse, self.forge.refused = None, ""

    @rule(what=st.sampled_from(BARRED), named=st.booleans(), number=which)
    @precondition(lambda self: self.forge.bar is None)
    def the_forge_begins_to_refuse(
        self, what: str, number: int, *, named: bool
    ) -> None:
        convoys = [convoy.name for convoy in self.forge.state.live()] or ["none"]
        convoy = chosen(convoys, number)
        whose = convoy if "{convoy}" in what else ""
        self.forge.bar = Bar(what.format(convoy=convoy), named, whose)
        self.forge.tries.clear()

    @rule()
    @precondition(lambda self: self.forge.bar is not None)
    def the_forge_refuses_no_more(self) -> None:
        self.forge.bar = None

    def _prepare(self, mishap: Mishap) -> None:
        forge, moment = self.forge, mishap.moment
        match mishap.kind:
            case "dies":
                forge.fuse = Fuse(moment)
            case "misses the answer":
                forge.fuse = Fuse(moment, "misses the answer")
            case "is raced":
                forge.fuse = Fuse(moment // 3, "is raced", self._race)
            case "is refused":
                forge.refused = chosen(WRITES, moment)
            case "forgets":
                self._start_anew()
            case "has a rival":
                self._let_the_rival_act()
            case "sleeps":
                forge.now += chosen(MINUTES, moment) * 60_000
            case _:
                pass

    def _race(self) -> None:
        if self.forge.now % 2_000:
            self.push(next(iter(self.bases()), MAIN), "good")
        else:
            self.forge.tries.clear()  # the rival does not know what was tried
            self.rival.tick()
            self.forge.tries.clear()

    def _start_anew(self) -> None:
        """Fold the log from nothing, out of its bytes; it must say what was."""
        state = State()
        for entry in self.forge.log:
            read = chunk.decode(chunk.encode(entry.events))
            assert not read.faults
            state = fold(state, entry.commit, read.events, entry.actor)
        assert state == self.forge.state
        self.bot = self.new_bot(ACTORS[0])
        assert self.bot.mirror.state == state

    def _let_the_rival_act(self) -> None:
        """Of two bots the one that looked before the other wrote changes nothing."""
        forge, rival = self.forge, self.rival
        stale = rival.mirror.refs.get(LOCK) != forge.refs.get(LOCK)
        before = self._made()
        rival.tick(look=False)
        if stale:
            assert self._made() == before, "a bot with an old view did something"
        self.rival = self.new_bot(ACTORS[1])

    def _made(self) -> object:
        forge = self.forge
        made = (len(forge.runs), len(forge.pulls), dict(forge.comments))
        return dict(forge.refs), len(forge.log), made


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
        return [run for run in self.forge.runs.values() if not run.completed]

    def end(self, run: Run, how: str) -> None:
        """End a session in one of the ways of `ENDS`."""
        run.completed = True
        if run.started.kind == "tests" and how in ("good", "clash"):
            how = "tests"
        if KINDS[run.started.kind].answer and how not in TROUBLES:
            verdict = "approve" if how in ("good", "clash") else "changes"
            choice = "choose" if how in ("good", "clash") else "refused"
            answers = {"review": verdict, "choice": choice}
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
            case "refused":
                commit = self.edited(base, line, "good")
                run.result = Result("refused", commit)
            case _:
                commit = self.edited(base, line, how)
                files = commits.changed(base, commit)
                run.result = Result("work" if files else "refused", commit, files)
