"""What tests of the rules ask of a log in memory: why not, and what is due."""

from typing import cast

from msgspec.structs import replace

from convoy.answers import Question, Repository
from convoy.events import Command, Refusal
from convoy.model import ids
from convoy.model.state import State, TaskState
from convoy.owed import Action, Begin, Patience
from convoy.owed.owed import owed_actions
from convoy.rules.observed import Observed
from convoy.rules.verdict import Checks
from tests.world.rules import NAME, Rules, sha, spec

BASE = ids.HEADS + ids.base_branch(NAME)
GREEN = Checks(verdict="green", names=("ci",))


def why(refused: object) -> str:
    assert isinstance(refused, Refusal)
    return refused.why


def refused(rules: Rules, command: Command) -> str:
    """Submit a command that is to be refused; return why it is."""
    return why(rules.ask(command))


def due(
    rules: Rules, refs: dict[str, str] | None = None, now: int = 0, **seen: object
) -> tuple[Action, ...]:
    """Return what is due where this is seen; unless told, the branch is at its base."""
    refs = {BASE: sha("0")} if refs is None else refs
    observed = Observed(refs=refs, **seen)  # type: ignore[arg-type]
    return owed_actions(rules.state, observed, Patience(), now or rules.now)


def begins(rules: Rules, refs: dict[str, str] | None = None) -> list[Begin]:
    return [each for each in due(rules, refs) if isinstance(each, Begin)]


def in_review(*numbers: int, **options: object) -> Rules:
    """Return rules with work of these tasks: of task n, commit nnn... in n.py."""
    rules = Rules().planned(*map(spec, numbers), **options)
    for number in numbers:
        rules.started(number).accepted(number, sha(str(number)), f"{number}.py")
    return rules


def with_task(state: State, number: int, becomes: TaskState) -> State:
    """Return a state that no story leads to."""
    convoy = state.convoys[NAME]
    tasks = tuple(
        replace(task, state=becomes) if task.number == number else task
        for task in convoy.tasks
    )
    return replace(state, convoys=state.convoys.having(replace(convoy, tasks=tasks)))


class _Patches(dict[str, str]):
    def diff(self, _base: str, commit: str, _room: int) -> str:
        return self[commit]


def question(rules: Rules, task: int, patches: dict[str, str]) -> Question:
    """Return what a task's session asks for; a patch of each commit is known."""
    return Question(
        state=rules.state,
        convoy=rules.convoy,
        task=rules.task(task),
        session="",
        repository=cast("Repository", _Patches(patches)),
    )
