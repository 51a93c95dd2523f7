"""A model's plan: read, checked, and ordered where tasks would collide.

The answer is untrusted text. All its faults are reported at once, a sentence each, so
that the model can fix them: whatever reads it raises `Unfit`. Every task gets an
engine: what each is good at is known by configuration, by its type, and by the log.

Three things imply an order, though the planner did not say so: a file that one task
makes and another names, tests and documents of what another task changes, and a path
that two tasks share. Work on different paths otherwise runs at once, also where one
imports the other: docs/decisions/0040 says why.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice, product
from posixpath import basename, dirname
from typing import Annotated, Final, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import EngineSpec, TaskSpec
from convoy.model.state import Convoy, State, Task
from convoy.model.task_graph import (
    Area,
    area_of,
    declared_need,
    declared_path,
    find_cycle,
    waits,
)
from convoy.planner import own_words, tasklist
from convoy.planner.ground import Ground
from convoy.text import Unfit, clean, cut, json_answer
from convoy.text.redaction import redacted
from grite.resource import overlaps

PLAN_FAULTS: Final = 20
Words = Annotated[str, Field(min_length=1, max_length=tasklist.INSTRUCTIONS_CHARS)]
Names = Annotated[tuple[str, ...], Field(max_length=50)]


class AnswerForm(BaseModel):
    """What an agent writes: nothing unknown, nothing changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


F = TypeVar("F", bound=AnswerForm)


def read_form(text: str, form: type[F], what: str, most: int) -> F:
    """Return the answer that an agent wrote, its words as they are.

    It is the last JSON object of the text. Faults call it `what`; at most so many are
    told.
    """
    try:
        return form.model_validate(json_answer(text, what))
    except ValidationError as error:
        faults = error.errors()
        if len(faults) > 1:  # a plan whose tasks are all faulty is not an empty plan
            faults = [each for each in faults if each["type"] != "too_short"] or faults
        told: list[str] = []
        for fault in faults[:most]:
            match fault["loc"]:
                case ("tasks", int(place), *rest):
                    where = ".".join(map(str, rest)) or "it"
                    where = f"Task {place + 1}: {where}"
                case rest:
                    where = ".".join(map(str, rest)) or f"The {what}"
            told.append(f"{cut(clean(where), 80)}: {fault['msg'].rstrip('.')}.")
        raise Unfit(*told) from error


class PlanStep(AnswerForm):
    """One task, as the model writes it."""

    title: Annotated[str, Field(min_length=1, max_length=tasklist.TITLE_MOST)]
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
    acceptance: Annotated[str, Field(max_length=tasklist.ACCEPTANCE_CHARS)] = ""
    """A shell command that exits with 0 when the task is done, such as the tests of
    what it changes; without the network. Empty: none fits."""
    why: Annotated[str, Field(max_length=300)] = ""
    """Why it is a task of its own, and why this engine."""


class PlanAnswer(AnswerForm):
    """A whole plan, as the model writes it."""

    tasks: Annotated[tuple[PlanStep, ...], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class House(Ground):
    """What a plan has to fit: the commit that its tasks start from, and limits."""

    engines: Collection[str]
    limit: int
    """The most tasks allowed."""


def read_plan(text: str, house: House, first: int = 1) -> tuple[TaskSpec, ...]:
    """Return an answer's tasks; no two of them that may run at once share a path.

    In the answer they count from 1, here from `first`.
    """
    answer = read_form(text, PlanAnswer, "plan", PLAN_FAULTS)
    if faults := tuple(_faults(answer, house)):
        raise Unfit(*faults[:PLAN_FAULTS])
    steps = [*enumerate(answer.tasks, first)]
    made = {n: tuple(map(declared_path, step.creates)) for n, step in steps}
    tasks = tuple(_spec(number, step, first - 1) for number, step in steps)
    return ordered(tasks, house, made)


def _faults(answer: PlanAnswer, house: House) -> Iterator[str]:
    count = len(answer.tasks)
    if count > house.limit:
        yield f"The plan has {count} tasks; at most {house.limit} are allowed."
    made = {path for step in answer.tasks for path in step.creates}
    for number, step in enumerate(answer.tasks, 1):
        for fault in _step_faults(number, step, house, made, count):
            yield f"Task {number}: {fault}."
    if circle := find_cycle({n: step.after for n, step in enumerate(answer.tasks, 1)}):
        yield (
            f"The tasks wait for each other in a cycle: {', '.join(map(str, circle))}."
        )


def _step_faults(
    number: int, step: PlanStep, house: House, made: Collection[str], count: int
) -> Iterator[str]:
    for read, texts in (
        (declared_path, (*step.paths, *step.creates)),
        (declared_need, step.needs),
    ):
        for text in texts:
            try:
                read(text)
            except ValueError as error:
                yield str(error)
    for path in step.paths:
        is_made = any(overlaps(f"path:{path}", f"path:{each}") for each in made)
        if not is_made and not house.has(path):
            yield f'the path "{cut(path, 80)}" does not exist, and no task creates it'
    if "\n" in step.acceptance.strip():
        yield "its acceptance command has more than one line"
    for other in step.after:
        if other == number or not 1 <= other <= count:
            yield f"it cannot wait for task {other}"
    if step.engine not in house.engines:
        yield tasklist.no_engine(step.engine, house.engines)


def _spec(number: int, step: PlanStep, by: int) -> TaskSpec:
    paths = (declared_path(path) for path in (*step.paths, *step.creates))
    return TaskSpec(
        number=number,
        title=cut(" ".join(_words(step.title).split()), tasklist.TITLE_MOST)
        or "Untitled",
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


WARNED: Final = 5
"""How many imports between tasks that may run at once are mentioned."""
_TEST: Final = re.compile(
    r"(?:test_)?(?P<bare>[^.]+?)(?:_test|_spec|Tests?|\.test|\.spec)?\.\w+"
)

Edge = tuple[int, int, str, bool]
"""The waiting task, the task before it, the reason, and whether the waiting task would
otherwise have nothing to do."""


def ordered(
    tasks: tuple[TaskSpec, ...], ground: Ground, made: Mapping[int, tuple[str, ...]]
) -> tuple[TaskSpec, ...]:
    """Let tasks wait for what they build on; those that share a path never run at once.

    The listed order holds among those that share a path: tests or documents wait for
    what they describe only where that does not turn it round. Tasks that already wait
    for each other, directly or through others, are left alone. An edge is added only
    where neither waits for the other, so no circle arises.

    `made` has the files and folders that each task makes.
    """
    done: dict[int, TaskSpec] = {task.number: task for task in tasks}
    implied = (_made(tasks, ground, made), _shared(tasks), _described(tasks, ground))
    for one, on, why, needs in chain(*implied):
        if not waits(done, one, on) and not waits(done, on, one):
            done[one] = done[one].waiting(on, why, overlap=not needs)
    return tuple(done.values())


def imports_beside(tasks: tuple[TaskSpec, ...], ground: Ground) -> tuple[str, ...]:
    """Return remarks for the plan's readers: imports between tasks that run at once."""
    specs = {task.number: task for task in tasks}
    touching = _Touching(tasks)
    found = (
        f"task {task.number} may run in parallel with task {other}: {why}"
        for task in tasks
        for other, why in touching.imported(ground.declared(task), ground).items()
        if not waits(specs, task.number, other) and not waits(specs, other, task.number)
    )
    return tuple(islice(found, WARNED))


def _made(
    tasks: tuple[TaskSpec, ...], ground: Ground, made: Mapping[int, tuple[str, ...]]
) -> Iterator[Edge]:
    """Let tasks that name a new file wait for the task that creates it."""
    makers = [(number, path) for number, paths in made.items() for path in paths]
    for task, (maker, path) in product(tasks, makers):
        own = made.get(task.number, ())
        wanted = [p for p in task.paths if p not in own and not ground.has(p)]
        if maker != task.number and any(_meet(path, each) for each in wanted):
            yield task.number, maker, f"task {maker} creates {path}", True


def _described(tasks: tuple[TaskSpec, ...], ground: Ground) -> Iterator[Edge]:
    touching = _Touching([task for task in tasks if area_of_task(task) == "code"])
    for task in tasks:
        found: dict[int, str] = {}
        if area_of_task(task) == "tests":
            found = touching.named_like(task.paths)
            found |= touching.imported(ground.within(task), ground)
        elif area_of_task(task) == "docs":
            found = touching.told_of(ground.within(task), ground)
        for other, why in sorted(found.items()):
            yield task.number, other, why, False


def _shared(tasks: tuple[TaskSpec, ...]) -> Iterator[Edge]:
    """Let the later of two tasks that share a path wait for the earlier."""
    for later in tasks:
        for earlier in tasks:
            if earlier.number >= later.number:
                break
            both = product(earlier.paths, later.paths)
            if path := next((a for a, b in both if _meet(a, b)), ""):
                yield later.number, earlier.number, f"both touch {path}", False


def _meet(one: str, other: str) -> bool:
    return overlaps(f"path:{one}", f"path:{other}")


class _Touching:
    """Finds the tasks that change what other files refer to."""

    def __init__(self, tasks: Iterable[TaskSpec]) -> None:
        self._paths: dict[str, list[int]] = {}
        self._places: dict[str, list[int]] = {}
        self._stems: dict[str, list[tuple[int, str]]] = {}
        for task in tasks:
            for path in task.paths:
                place = path.rstrip("/")
                self._paths.setdefault(path, []).append(task.number)
                self._places.setdefault(place, []).append(task.number)
                if path.endswith(".go"):  # Go's imports name a folder
                    self._places.setdefault(dirname(path), []).append(task.number)
                stem = basename(place).partition(".")[0]
                self._stems.setdefault(stem, []).append((task.number, path))

    def imported(self, files: Iterable[str], ground: Ground) -> dict[int, str]:
        """Return the tasks that change what the files import, and which file does."""
        found: dict[int, str] = {}
        for file, name in ((f, n) for f in files for n in sorted(ground.imports(f))):
            parts = name.rstrip("/").split("/")
            above = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
            for number in chain.from_iterable(self._places.get(p, ()) for p in above):
                why = f"{file} imports {name}, which task {number} changes"
                found.setdefault(number, why)
        return found

    def told_of(self, files: Iterable[str], ground: Ground) -> dict[int, str]:
        """Return the tasks that change what the documents name, and which does."""
        found: dict[int, str] = {}
        for file, (path, numbers) in product(files, self._paths.items()):
            text = ground.read(file)
            end = "" if path.endswith("/") else r"(?![\w-]|\.\w)"
            named = rf"(?<![\w./-]){re.escape(path)}{end}"
            if path in text and re.search(named, text):
                for number in numbers:
                    why = f"{file} mentions {path}, which task {number} changes"
                    found.setdefault(number, why)
        return found

    def named_like(self, tests: Iterable[str]) -> dict[int, str]:
        """Return the tasks that change a file whose name one of the tests has."""
        found: dict[int, str] = {}
        for test in tests:
            named = _TEST.fullmatch(basename(test))
            for number, path in self._stems.get(named["bare"], ()) if named else ():
                why = f"{test} is named after {path}, which task {number} changes"
                found.setdefault(number, why)
        return found


def area_of_task(task: TaskSpec) -> Area:
    """Return a task's area, by its paths; code if they are unknown."""
    return area_of(task.paths) if task.paths else "code"


def engine_records(state: State, engine: EngineSpec) -> dict[str, str]:
    """Return how engines of its type and model did, by the tasks' area, in words."""
    found: dict[str, list[Task]] = defaultdict(list)
    for task in state.past_tasks(engine):
        found[area_of_task(task.spec)].append(task)
    records: dict[str, str] = {}
    for area, tasks in sorted(found.items()):
        first = sum(task.state == "merged" and task.started == 1 for task in tasks)
        minutes = sum(task.worked_ms for task in tasks) / len(tasks) / 60_000
        used = [task.used for task in tasks]
        usd = [each.usd for each in used if each.usd > 0 and not each.unpriced_tokens]
        cost = f", ${sum(usd) / len(usd):.2f}" if usd else ""
        tried = f"{first} of {len(tasks)} merged on the first attempt"
        records[area] = f"{tried}, {minutes:.1f} min{cost} per task"
    return records


WHOLE_CHARS: Final = 6_000
"""How much of the whole task each part is told."""
_ITEM: Final = re.compile(r"^ {0,3}(?:[-*+]|\d{1,3}[.)]) +(?:\[ \] +)?", re.MULTILINE)


def parts_in(convoy: Convoy, whole: TaskSpec, text: str) -> tuple[TaskSpec, ...]:
    """Return the parts of a task that a person lists, in their order.

    Raises:
        PlanError: one asks for what cannot be.
    """
    told = (
        f"It is part of the former task {whole.number}. Other tasks do the rest. The "
        f"former task was:\n\n{cut(own_words(whole), WHOLE_CHARS)}"
    )
    _, *items = _ITEM.split(text)
    found: list[TaskSpec] = []
    for item in items:
        spec = tasklist.added(convoy, item.strip(), [each.number for each in found])
        part = replace(
            spec,
            instructions=f"{spec.instructions}\n\n{told}",
            after=tuple(sorted({*spec.after, *whole.after} - {whole.number})),
            waits=(*spec.waits, *whole.waits),
            needs=tuple(dict.fromkeys((*spec.needs, *whole.needs))),
            part_of=whole.number,
        )
        found.append(part)
    return ordered(tuple(found), Ground(files=()), {})


def strength(state: State, engine: EngineSpec) -> str:
    """Return what an engine is, is good at, and has done so far, for who plans."""
    model = f", {engine.model}" if engine.model else ""
    known = ENGINE_TYPES.get(engine.type)
    good = engine.good_at or (known.good_at if known else "")
    at = f": good at {good.rstrip('.')}." if good else "."
    past = "; ".join(f"{k}: {r}" for k, r in engine_records(state, engine).items())
    so_far = f" So far: {past}." if past else ""
    return f"({engine.type}{model}){at}{so_far}"
