"""Any mix of what people, agents, CI and dying bots do keeps every promise.

The world is in `tests/world/model`: refs, log and forge in memory, and a bot that is
the loop in miniature. What must hold is in `tests/world/model/promises.py`.
"""

import sys
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import HealthCheck, given, seed, settings as profile, strategies as st
from hypothesis.stateful import initialize, invariant, run_state_machine_as_test

from bot.loop.staging import owed
from convoy.events import Refusal, decided
from convoy.kinds import attending
from convoy.kinds.rivals import choice_of
from convoy.kinds.task_kinds import coder
from convoy.model.records import EngineSpec, Settings
from convoy.model.state import Convoy
from convoy.rules.landing import open_candidates
from tests.world.model.bots import (
    WRITES,
    Agents,
    Mishap,
    configurations,
    patterns,
    plans,
)
from tests.world.model.people import Gestures

SEASONS: Final = ("", "commands", "deeds", "commands and deeds")
QUIET_ROUNDS: Final = 2
HOUR_MS: Final = 3_600_000
MINUTES_MS: Final = 120_000
FEW_SEEDS: Final = range(1, 3)
"""Several short walks meet more than a long one: each has its own habits."""
SEEDS: Final = range(FEW_SEEDS.stop, 9)
SHORT: Final = profile(
    max_examples=20,
    stateful_step_count=60,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


class Machine(Gestures, Agents):
    """What must hold, and the end."""

    @initialize(
        text=plans(),
        settings=configurations,
        pattern=patterns,
        season=st.sampled_from(SEASONS),
    )
    def the_first_convoy_is_asked_for(
        self, text: str, settings: Settings, pattern: str, season: str
    ) -> None:
        self.season = season
        self.request(text, settings, pattern)
        self.bot.tick()

    # --- what must hold -------------------------------------------------------------

    @invariant()
    def every_promise_holds(self) -> None:
        self.promises.hold()

    @invariant()
    def what_was_done_is_not_done_again(self) -> None:
        for command in self.done:
            decision = decided(command, self.forge.state)
            assert isinstance(decision, Refusal), f"once more: {command}"

    # --- the end --------------------------------------------------------------------

    def teardown(self) -> None:
        if sys.exception() is None:
            self.forge.now += 100 * HOUR_MS  # however often the clock went back
            bar = self.forge.bar
            if bar is not None and bar.convoy:
                self.others_end(bar.convoy)
            self.forge.bar = None
            self.drain()

    def others_end(self, refused: str) -> None:
        """Let all go well but what is refused: all other convoys come to an end."""
        for _ in range(60):
            self.go_well()
            live = [c for c in self.forge.state.live() if c.name != refused]
            if all(c.state == "paused" or _waits_for_a_person(c) for c in live):
                return
        raise AssertionError(f"they wait for {refused}: {owed(self.bot.context)}")

    def drain(self) -> None:
        """Let all go well from now on: everything must come to an end."""
        quiet = 0
        for _ in range(100):
            quiet = 0 if self.go_well() else quiet + 1
            if quiet == QUIET_ROUNDS:
                return self.is_over()
        raise AssertionError(f"never quiet: {owed(self.bot.context)}")

    def go_well(self) -> bool:
        """Let an hour pass in which all goes well; return whether anything was done.

        What is refused is tried once in it, and what goes well goes on after that.
        """
        self.forge.now += HOUR_MS
        self.approves(0)
        self.answers_for_a_push(0)
        self.lets_the_queue_go_on(1)
        busy = self.let_go() | self.bot.tick()
        self.forge.now += MINUTES_MS
        busy |= self.bot.tick()
        for run in self.running():
            self.end(run, "good")
            busy = True
        for commit in self.unjudged():
            self.judge(commit, "truth")
            busy = True
        self.promises.hold()
        return busy

    def is_over(self) -> None:
        """Check that nothing is left over, and nobody waits without a reason."""
        state = self.forge.state
        for convoy in state.convoys.values():
            stands = convoy.ended or convoy.state == "paused"
            assert stands or _waits_for_a_person(convoy), f"it hangs: {convoy}"
        stalled = {c.name for c in state.live() if c.sync.stalled}
        assert {intent.convoy for intent in state.intents.values()} <= stalled
        assert {lease.holder for lease in state.leases.values()} <= {"ann"}
        judged = {c.commit for convoy in state.live() for c in open_candidates(convoy)}
        assert {*self.forge.queued()} <= judged, "a queue branch is left over"


def _waits_for_a_person(convoy: Convoy) -> bool:
    """Whether all that is not settled is blocked, or needs what is."""
    if convoy.sync.stalled and convoy.settled:
        return True
    stuck = {
        task.number
        for task in convoy.tasks
        if task.state == "blocked" or (task.taken_out and not task.settled)
    }
    for task in (*convoy.tasks, *convoy.tasks):
        needed = {*task.spec.after, *task.spec.on}
        held = {each.number for each, _ in attending(convoy, task)}
        code = coder(convoy, task) if task.spec.kind == "tests" else None
        held |= {code.number} if code else set()
        choice = choice_of(convoy, task.number)
        held |= {choice.number} if choice else set()
        waits = {"queued": needed, "needs-review": held}
        if stuck & waits.get(task.state, set()):
            stuck.add(task.number)
    return bool(stuck) and all(t.settled or t.number in stuck for t in convoy.tasks)


def walk(seeds: range) -> None:
    for number in seeds:
        one = seed(number)(type("Walk", (Machine,), {}))
        run_state_machine_as_test(one, settings=SHORT)


@pytest.mark.timeout(7_200)
def test_any_mix_of_what_can_happen_keeps_every_promise() -> None:
    walk(FEW_SEEDS)


@pytest.mark.layer("landing")
@pytest.mark.timeout(7_200)
def test_more_mixes_keep_every_promise() -> None:
    walk(SEEDS)


@pytest.mark.layer("deep")
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("part", range(4))  # side by side
def test_many_more_mixes_keep_every_promise(part: int) -> None:
    longer = profile(SHORT, max_examples=500, stateful_step_count=100)
    run_state_machine_as_test(Machine, settings=longer)


NONE = Mishap("none", 0)


def played(
    season: str, text: str = "- [ ] Task 1"
) -> Callable[[Callable[[Machine], None]], Callable[[], None]]:
    """Let Hypothesis run a story to its end, whose steps draw from it."""
    settings = Settings(engines={"default": EngineSpec(type="shell", max_sessions=8)})

    def decorate(story: Callable[[Machine], None]) -> Callable[[], None]:
        @profile(max_examples=1, database=None, deadline=None)
        @given(st.none())
        def once(_: None) -> None:
            machine = Machine()
            machine.the_first_convoy_is_asked_for(
                text=text, settings=settings, pattern="", season=season
            )
            story(machine)
            machine.every_promise_holds()
            machine.teardown()

        return once

    return decorate


def ticks(machine: Machine, *mishaps: Mishap) -> None:
    for mishap in mishaps:
        machine.the_bot_ticks(mishap=mishap)


@played("commands", text="- [ ] Task 1\n- [ ] Task 2")
def test_two_refs_refused_together_are_not_tried_at_once(machine: Machine) -> None:
    refs = "/convoy/{convoy}/task-"
    machine.the_forge_begins_to_refuse(named=True, number=0, what=refs)

    machine.all_sessions_end_alike(how="good", mishap=NONE)


@played("commands")
def test_what_a_comment_tells_of_labels_is_tried_with_it(machine: Machine) -> None:
    machine.work_is_to_be_reviewed(number=0)
    machine.the_forge_begins_to_refuse(named=True, number=0, what="label")
    machine.somebody_drops(number=0, state="needs-review")
    ticks(machine, NONE, NONE, NONE)
    assert [*machine.forge.state.set_aside] == ["show/convoy-1/labels"]
    machine.the_forge_refuses_no_more()
    machine.the_forge_begins_to_refuse(named=True, number=0, what="edit")

    ticks(machine, Mishap("sleeps", 0))

    assert [*machine.forge.state.set_aside] == ["show/convoy-1/comment"]


@played("deeds")
def test_more_lands_of_work_merged_before_it_was_noted(machine: Machine) -> None:
    ticks(machine, NONE)
    machine.all_sessions_end_alike(how="good", mishap=Mishap("dies", 3))
    (pull,) = machine.forge.pulls
    machine.somebody_does_it_by_hand(number=0, what="merges_by_hand")
    ticks(machine, NONE)
    machine.somebody_does_it_by_hand(number=0, what="pushes_to_a_task")

    ticks(machine, NONE)

    ((_, task),) = machine.tasks("needs-review")
    assert (pull.state, task.pull) == ("merged", pull.number)


@played("commands")
def test_a_comment_refused_with_labels_is_not_tried_at_once(machine: Machine) -> None:
    machine.all_sessions_end_alike(how="good", mishap=NONE)
    ticks(machine, NONE, NONE, NONE)
    machine.the_forge_begins_to_refuse(named=True, number=0, what="edit")
    machine.somebody_drops(number=0, state="needs-review")
    ticks(machine, Mishap("is refused", WRITES.index("label")))
    aside = {f"show/convoy-1/{part}" for part in ("labels", "comment")}
    assert {*machine.forge.state.set_aside} == aside

    ticks(machine, Mishap("sleeps", 0), NONE, NONE)


@played("commands and deeds")
def test_a_pull_closed_before_it_was_noted_does_not_land(machine: Machine) -> None:
    machine.all_sessions_end_alike(how="good", mishap=NONE)
    machine.all_checks_tell_the_truth(mishap=Mishap("dies", 3))
    machine.closes_a_pull(number=0)

    machine.all_checks_tell_the_truth(mishap=NONE)

    assert [pull.state for pull in machine.forge.pulls] == ["merged", "shut"]
    (convoy,) = machine.forge.state.convoys.values()
    assert convoy.taken_out is not None
