"""Tasks that all edit one file, which nobody declared, on the loop in miniature."""

from convoy.model.records import EngineSpec, Settings
from convoy.model.state import Convoy
from tests.convoy.test_machine import Machine

SETTINGS = Settings(
    engines={"default": EngineSpec(type="shell", args=("true",))}, strategy="squash"
)


class World(Machine):
    def saw(self, what: str) -> None:
        self.forge.seen[what] += 1


def planned(tasks: int) -> World:
    """Ask for a convoy of tasks that declare nothing, and let all of them start."""
    world = World()
    world.request("\n".join(f"- [ ] Task {n}" for n in range(1, tasks + 1)), SETTINGS)
    for _ in range(4):
        world.bot.tick()
    assert len(world.running()) == tasks
    return world


def convoy(world: World) -> Convoy:
    return next(iter(world.forge.state.convoys.values()))


def test_a_herd_lands_with_two_sessions_each_at_most_and_nobody_is_asked() -> None:
    world = planned(5)
    for _ in range(40):
        for run in world.running():
            world.end(run, "clash" if run.started.attempt == 1 else "good")
        world.bot.tick()
        for commit in world.unjudged():
            world.judge(commit, "truth")
        world.bot.tick()
        world.promises.hold()

    assert convoy(world).state == "complete"
    assert [task.state for task in convoy(world).tasks] == ["merged"] * 5
    assert sum(task.started for task in convoy(world).tasks) <= 9
    assert max(task.spent for task in convoy(world).tasks) == 1


def test_who_touches_nothing_of_a_conflict_does_not_stand_behind_it() -> None:
    world = planned(4)
    for run, how in zip(
        world.running(), ("clash", "clash", "good", "good"), strict=True
    ):
        world.end(run, how)
    world.bot.tick()

    assert {task.number for task in convoy(world).tasks if task.candidate} == {1, 3, 4}
