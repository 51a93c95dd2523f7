"""A model's plan: read, checked, and ordered where tasks would collide.

The answer is untrusted text. All its faults are reported at once, a sentence each, so
that the model can fix them.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.model.records import TaskSpec
from convoy.model.resources import declared_need, declared_path
from convoy.model.task_graph import find_cycle
from convoy.planner.edges import ordered
from convoy.planner.ground import Ground
from convoy.planner.tasklist import ACCEPTANCE_CHARS, INSTRUCTIONS_CHARS, TITLE_CHARS
from convoy.text.json_block import Unfit, json_in
from convoy.text.nearest import did_you_mean
from convoy.text.plaintext import clean, cut
from convoy.text.redaction import redacted
from grite.resource import overlaps

FAULTS: Final = 20
"""How many faults are reported at once."""
Words = Annotated[str, Field(min_length=1, max_length=INSTRUCTIONS_CHARS)]
Names = Annotated[tuple[str, ...], Field(max_length=50)]


class Unusable(Unfit):
    """The answer is not a plan; `faults` says why, a sentence each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


class Step(BaseModel):
    """One task, as the model writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, Field(min_length=1, max_length=TITLE_CHARS)]
    instructions: Words
    """Its instructions, complete in themselves: the agent sees nothing else of the
    issue."""
    paths: Names = ()
    """Existing files and folders that it changes; a folder ends in a slash."""
    creates: Names = ()
    """Files and folders that it creates."""
    after: Annotated[tuple[int, ...], Field(max_length=50)] = ()
    """Positions, from 1, of the tasks whose work it builds on."""
    needs: Names = ()
    """Resources such as `port:5432` or `service:mail`."""
    engine: str = "default"
    acceptance: Annotated[str, Field(max_length=ACCEPTANCE_CHARS)] = ""
    """A shell command that exits with 0 when the task is done, such as the tests of
    what it changes; without the network. Empty: none fits."""
    why: Annotated[str, Field(max_length=300)] = ""
    """Why it is a task of its own, and why this engine."""


class Answer(BaseModel):
    """A whole plan, as the model writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tasks: Annotated[tuple[Step, ...], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class House:
    """What a plan has to fit."""

    files: Collection[str]
    """Every path of the commit that the tasks start from."""
    engines: Collection[str]
    limit: int
    """The most tasks allowed."""
    text: Callable[[str], str] = lambda _path: ""
    """Gives the text of one of the files; empty: it is not text, or too long."""

    @cached_property
    def ground(self) -> Ground:
        """The commit, and how its files refer to each other."""
        return Ground(files=tuple(self.files), text=self.text)


def read(text: str, house: House, first: int = 1) -> tuple[TaskSpec, ...]:
    """Return an answer's tasks; no two of them that may run at once share a path.

    Args:
        text: what the model wrote, with its plan as the last JSON object.
        house: what the plan must fit.
        first: the number of its first task; in the answer they count from 1.

    Raises:
        Unusable: it is no plan, or one that cannot be carried out.
    """
    answer = _parsed(text)
    faults = tuple(_faults(answer, house))
    if faults:
        raise Unusable(faults[:FAULTS])
    steps = [*enumerate(answer.tasks, first)]
    made = {n: tuple(map(declared_path, step.creates)) for n, step in steps}
    tasks = tuple(_spec(number, step, first - 1) for number, step in steps)
    return ordered(tasks, house.ground, made)


# --- reading --------------------------------------------------------------------------


def _parsed(text: str) -> Answer:
    try:
        return Answer.model_validate(json_in(text, "plan"), strict=False)
    except ValidationError as error:
        faults = error.errors()
        if len(faults) > 1:  # a plan whose tasks are all faulty is not an empty plan
            faults = [each for each in faults if each["type"] != "too_short"] or faults
        raise Unusable(tuple(map(_said, faults[:FAULTS]))) from error
    except Unfit as error:
        raise Unusable((str(error),)) from error


def _said(fault: Any) -> str:  # noqa: ANN401  pydantic's own
    match fault["loc"]:
        case ("tasks", int(place), *rest):
            where = ".".join(map(str, rest)) or "it"
            where = f"Task {place + 1}: {where}"
        case rest:
            where = ".".join(map(str, rest)) or "The plan"
    return f"{cut(clean(where), 80)}: {fault['msg'].rstrip('.')}."


# --- checking -------------------------------------------------------------------------


def _faults(answer: Answer, house: House) -> Iterator[str]:
    count = len(answer.tasks)
    if count > house.limit:
        yield f"The plan has {count} tasks and {house.limit} are allowed."
    made = {path for step in answer.tasks for path in step.creates}
    for number, step in enumerate(answer.tasks, 1):
        for fault in _step_faults(number, step, house, made, count):
            yield f"Task {number}: {fault}."
    if circle := find_cycle({n: step.after for n, step in enumerate(answer.tasks, 1)}):
        yield f"The tasks wait in a circle: {', '.join(map(str, circle))}."


def _step_faults(
    number: int, step: Step, house: House, made: Collection[str], count: int
) -> Iterator[str]:
    declared = (
        *((declared_path, path) for path in (*step.paths, *step.creates)),
        *((declared_need, need) for need in step.needs),
    )
    yield from filter(None, (_fault(reader, text) for reader, text in declared))
    for path in step.paths:
        if not _is_there(path, house, made):
            yield f'the path "{cut(path, 80)}" is not there, and no task creates it'
    if "\n" in step.acceptance.strip():
        yield "its acceptance command has more than one line"
    yield from _reference_faults(number, step, house, count)


def _reference_faults(
    number: int, step: Step, house: House, count: int
) -> Iterator[str]:
    for other in step.after:
        if other == number or not 1 <= other <= count:
            yield f"it cannot wait for task {other}"
    if step.engine not in house.engines:
        names = ", ".join(sorted(house.engines))
        near = did_you_mean(step.engine, house.engines)
        yield f'there is no engine "{cut(step.engine, 60)}"; there are {names}{near}'


def _fault(declared: Any, text: str) -> str:  # noqa: ANN401  either of two readers
    try:
        declared(text)
    except ValueError as error:
        return str(error)
    return ""


def _is_there(path: str, house: House, made: Collection[str]) -> bool:
    if house.ground.has(path):
        return True
    return any(overlaps(f"path:{path}", f"path:{each}") for each in made)


def _spec(number: int, step: Step, by: int) -> TaskSpec:
    paths = (declared_path(path) for path in (*step.paths, *step.creates))
    return TaskSpec(
        number=number,
        title=cut(" ".join(_words(step.title).split()), TITLE_CHARS) or "Untitled",
        instructions=_words(step.instructions),
        after=tuple(sorted({position + by for position in step.after})),
        paths=tuple(dict.fromkeys(paths)),
        needs=tuple(dict.fromkeys(map(declared_need, step.needs))),
        engine=step.engine,
        acceptance=clean(step.acceptance).strip(),
        why=" ".join(_words(step.why).split()),
    )


def _words(text: str) -> str:
    return redacted(clean(text))
