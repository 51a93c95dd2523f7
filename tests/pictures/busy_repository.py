"""A repository in the midst of a convoy of any size, the same each time it is told.

Its log is what the rules write for this story; nothing in it depends on chance or on
the time of day. A small convoy that landed two days before comes first.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from bot.text.merge_texts import ci_is_red
from convoy.events import Command
from convoy.events.forge_actions import ActionDone
from convoy.events.people_events import ApprovePlan
from convoy.model import ids
from convoy.model.records import Settings, Usage
from convoy.model.state import State, Task
from convoy.rules.ending import AcceptWork, LoseSession, RefuseWork
from convoy.rules.landing import (
    AttemptMerge,
    ClearMerge,
    DoubtMerge,
    FailMerge,
    LandMerge,
)
from convoy.rules.plans import PlanConvoy
from convoy.rules.retries import RetryTask
from convoy.rules.starting import StartTask
from grite.remote import ensure_mirror
from grite.wal import Log
from tests.pictures.outside_the_log import TEST_OUTPUT
from tests.pictures.passkeys_plan import (
    ENGINES,
    FLAKY,
    LOST,
    RED,
    REFUSED,
    commit,
    spec,
)
from tests.world.local_log import set_head
from tests.world.rules import ACTOR, Rules, requested

BEGIN: Final = 1_783_933_200_000
"""A Monday in 2026, 9:00 UTC, unix ms."""
DAY_MS: Final = 86_400_000
EARLIER: Final = "tidy-the-settings-31"
NAME: Final = "sign-in-with-passkeys-42"
BESIDE: Final = "export-invoices-as-csv-40"
_CI_S: Final = 230
C = TypeVar("C", bound=Command)


@dataclass
class Busy:
    """The rules, the log that they write, and what is to happen when."""

    path: Path
    rules: Rules = field(default_factory=Rules)
    head: str | None = None
    _name: str = ""
    """The convoy that is told of at this moment."""
    _tips: dict[str, str] = field(default_factory=dict)
    _due: list[tuple[int, int, str, Callable[[], None]]] = field(default_factory=list)
    _order: int = 0
    _told: int = 0

    def __post_init__(self) -> None:
        ensure_mirror(self.path)
        self.log = Log(self.path)

    @property
    def now(self) -> int:
        """When the story is looked at, unix ms."""
        return self.rules.now + 20_000

    @property
    def state(self) -> State:
        return self.rules.state

    @property
    def _tip(self) -> str:
        return self._tips[self._name]

    def do(self, at: int, *commands: Command) -> None:
        """Carry commands out at a time, in one commit of the log."""
        for one in commands:
            self.rules.now = max(self.rules.now, at - 1_000)
            self.rules.do(one)
        events = self.rules.written[self._told :]
        self._told = len(self.rules.written)
        self.head = self.log.write(
            events, parent=self.head, actor=ACTOR, at_ms=self.rules.now
        )

    def show(self) -> None:
        """Let readers of the log find all that was told."""
        set_head(self.log, str(self.head), self.log.head())

    def later(self, at: int, what: Callable[[], None]) -> None:
        """Let something happen to this convoy at a time (unix ms)."""
        self._order += 1
        heapq.heappush(self._due, (at, self._order, self._name, what))

    def run(self, enough: Callable[[], bool]) -> None:
        """Let happen what is due, until it is enough or nothing is left."""
        while self._due and not enough():
            at, _, self._name, what = heapq.heappop(self._due)
            self.rules.now = max(self.rules.now, at)
            what()

    def task(self, number: int) -> Task:
        found = self.state.convoys[self._name].task(number)
        assert found is not None
        return found

    @property
    def merged(self) -> int:
        """How many tasks of the newest convoy are merged."""
        return sum(t.state == "merged" for t in self.state.convoys[self._name].tasks)

    def ask(self, at: int, name: str, tasks: int, what: str) -> None:
        """Bring a convoy to `active`."""
        self._name, self._tips[name] = name, commit(name)
        folder = "billing/" if name == BESIDE else ""
        specs = tuple(spec(number, folder) for number in range(1, tasks + 1))
        settings = Settings(
            engines=ENGINES, tasks=1000, max_sessions=64, approve="plan", attempts=2
        )
        request = requested(
            convoy=name,
            issue=int(name.rpartition("-")[2]),
            title=what,
            text=f"{what}.",
            base=self._tip,
            settings=settings,
        )
        plan = PlanConvoy(convoy=name, planner="issue", tasks=specs)
        self.do(at, request, plan)
        self.do(at + 95_000, ApprovePlan(convoy=name, by="ann", comment=7))

    # --- one task ---------------------------------------------------------------------

    def of(self, kind: Callable[..., C], number: int, **more: Any) -> C:  # noqa: ANN401  as given
        """Return a command about a task of this convoy; 0: the convoy itself."""
        return kind(convoy=self._name, task=number, **more)

    def start(self, number: int) -> None:
        attempt, now = self.task(number).started + 1, self.rules.now
        session = ids.session_name(self._name, number, attempt)
        of = partial(self.of, StartTask, number, base=self._tip, now=now)
        nonce = f"nonce{number}-{attempt}"
        start = of(session=commit(session)[:32], nonce=nonce)
        run = 70_000 + 10 * number + attempt
        self.do(now, start, ActionDone(key=ids.key("dispatch", session), number=run))
        took_s = 210 + (number * 97 + attempt * 31) % 11 * 45
        self.later(now + took_s * 1000, lambda: self._end(number, attempt))

    def _end(self, number: int, attempt: int) -> None:
        now, name = self.rules.now, self._name
        usage = Usage(
            input_tokens=21_000 + 730 * (number % 13),
            cached_tokens=160_000,
            output_tokens=5_200 + 90 * (number % 17),
            usd=round(0.21 + 0.013 * (number % 23), 2),
        )
        of = partial(self.of, number=number, attempt=attempt, usage=usage)
        if number == LOST and attempt == 1:
            why = "the session ended without a result: its machine or its witness died"
            self.do(now, of(LoseSession, cause="lost", why=why))
        elif number == REFUSED and name != BESIDE:
            why = "its acceptance command failed: pytest -q tests/test_limits.py"
            why = f"{why}\n\n{TEST_OUTPUT}"
            self.do(now, of(RefuseWork, cause="refused", why=why))
        else:
            files = (f"src/auth/part_{number}.py", f"tests/test_part_{number}.py")
            made = commit(name, number, attempt)
            ended = of(AcceptWork, commit=made, base=self._tip, files=files)
            first = self.task(number).pull is None
            key = ids.key("pull", name, number)
            pull = (ActionDone(key=key, number=200 + number),) if first else ()
            self.do(now, ended, *pull)
            self._offer(number)
        if self.task(number).state == "blocked" and attempt == 3:
            retry = self.of(RetryTask, number, by="bo")
            self.later(now + 400_000, lambda: self.do(self.rules.now, retry))

    def _offer(self, number: int) -> None:
        work, now = self.task(number).work, self.rules.now
        assert work is not None
        offer = self.of(
            AttemptMerge,
            number,
            candidate=commit("candidate", self._name, number, work.commit, now),
            base=self._last_candidate(),
            work=work.commit,
        )
        self.do(now, offer)
        self.later(now + _CI_S * 1000, lambda: self._judged(number))

    def _last_candidate(self) -> str:
        """Return the candidate that was built last; the tip if there is none."""
        tasks = self.state.convoys[self._name].tasks
        found = [each.candidate for each in tasks if each.candidate is not None]
        return max(found, key=lambda one: one.at).commit if found else self._tip

    def _judged(self, number: int) -> None:
        task, now = self.task(number), self.rules.now
        if task.candidate is None:
            return
        found = task.candidate.commit
        of = partial(self.of, number=number, candidate=found)
        checks = ("lint", "tests (3.11)", "tests (3.12)")
        if number == FLAKY and task.doubted is None:
            doubted = ("tests (3.12)",)
            self.do(now, of(DoubtMerge, is_red=True, checks=doubted, why=TEST_OUTPUT))
            self._offer(number)
        elif number == RED and self._name != BESIDE:
            self.do(now, of(FailMerge, cause="red", why=ci_is_red(found, TEST_OUTPUT)))
        else:
            if number == FLAKY:
                self.do(now, of(ClearMerge, judged=checks))
            self.do(now, of(LandMerge, judged=checks))
            self._tips[self._name] = found

    def land(self) -> None:
        """Land the whole convoy, whose tasks are merged."""
        tip, base = self._tip, self.state.convoys[self._name].base
        of = partial(self.of, number=0, candidate=tip)
        self._due.clear()
        self.do(self.rules.now + 60_000, of(AttemptMerge, base=base, work=tip))
        judged = ("lint", "tests (3.12)")
        self.do(self.rules.now + 200_000, of(LandMerge, judged=judged))

    def work(self, agents: int, enough: Callable[[], bool]) -> None:
        """Let agents work on what is ready until it is enough."""

        def go_on() -> None:
            tasks = self.state.convoys[self._name].tasks
            merged = {each.number for each in tasks if each.state == "merged"}
            for task in sorted(tasks, key=lambda one: one.number not in (RED, REFUSED)):
                is_ready = merged.issuperset(task.spec.after)
                running = [convoy.name for convoy, _ in self.state.running()]
                if running.count(self._name) >= agents:
                    break
                if task.state == "queued" and is_ready:
                    self.start(task.number)
                    self.rules.now += 3_000
            if not self.state.convoys[self._name].ended:
                self.later(self.rules.now + 15_000, go_on)

        go_on()
        self.run(enough)


def finished_repository(path: Path) -> Busy:
    """Tell of one small convoy, which landed."""
    told = Busy(path)
    told.ask(BEGIN - 2 * DAY_MS, EARLIER, 3, "Tidy the settings")
    told.work(3, lambda: told.state.convoys[EARLIER].settled)
    told.land()
    told.show()
    return told


def busy_repository(path: Path, tasks: int, others: int = 0, merged: int = 0) -> Busy:
    """Tell the story in a bare repository.

    The newest convoy has so many tasks; `merged` of them are merged, or if that is 0,
    half of them, of many 110. With `others`, a second convoy of so many goes on, too.
    """
    told = finished_repository(path)
    if others:
        told.ask(BEGIN - 400_000, BESIDE, others, "Export invoices as CSV")
        told.work(2, lambda: told.merged >= 1)
    told.ask(BEGIN, NAME, tasks, "Let people sign in with passkeys")
    wanted = min(max(2, tasks // 2), 110)

    def enough() -> bool:
        found = told.state.convoys[NAME].tasks
        done = sum(task.state == "merged" for task in found)
        if merged:
            return done >= merged
        wait = [task.state for task in found if task.number in (RED, REFUSED)]
        stopped = {*wait} == {"blocked"}
        judged = sum(task.candidate is not None for task in found)
        return done >= wanted and stopped and judged > min(2, tasks // 15)

    told.work(min(50, max(3, tasks // 5)), enough)
    told.show()
    return told
