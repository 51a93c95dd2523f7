"""A template with its inputs, made into a convoy's tasks. Pure.

`each` and `repeat` are unrolled here, before anything runs: what comes out is a plan
like any other.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from convoy.kinds import KINDS, kind_of
from convoy.model.records import EngineSpec, TaskSpec
from convoy.model.task_graph import declared_need, declared_path
from convoy.patterns import GIVEN, SLOT, PatternError, Step, Template
from convoy.planner.tasklist import INSTRUCTIONS_CHARS, TITLE_MOST, no_engine
from convoy.text import clean, counted, cut, did_you_mean
from convoy.text.redaction import redacted

MOST_ITEMS: Final = 20
MOST_TIMES: Final = 5
MOST_ROUNDS: Final = 9


class Use(Struct, frozen=True, kw_only=True):
    name: str
    """Of the pattern."""
    title: str
    text: str
    """The issue's."""
    inputs: Mapping[str, str]
    """As they were said."""
    engines: Mapping[str, EngineSpec]
    limit: int
    """The most tasks there may be."""
    require_ci: bool = True


class Compiled(Struct, frozen=True):
    tasks: tuple[TaskSpec, ...]
    warnings: tuple[str, ...] = ()
    """Each the rest of a sentence."""


def compiled(template: Template, use: Use) -> Compiled:
    making = _Making(use, values(template, use))
    left = {step.id: step for step in template.all_steps}
    while left:  # each behind those it names, in the file's order where it can be
        able = [s for s in left.values() if not left.keys() & {*s.needs, *s.on}]
        free = (step for step in able if not left.keys() & {*step.unlike})
        making.add(left.pop(next(free, able[0]).id))
    if len(making.tasks) > use.limit:
        raise PatternError(
            f"the pattern {use.name} creates {len(making.tasks)} tasks here, but "
            f"only {use.limit} are allowed"
        )
    wants = filter(None, (kind_of(task).needs_ci for task in making.tasks))
    if not use.require_ci and (why := next(wants, "")):
        raise PatternError(
            f"the pattern {use.name} needs CI {why}, but `require_ci` is off"
        )
    return Compiled(tuple(making.tasks), tuple(dict.fromkeys(making.warnings)))


def values(template: Template, use: Use) -> dict[str, str]:
    """Return what each slot holds; what was said is cleaned, and nothing is cut."""
    known = template.inputs
    for name in use.inputs:
        if name in GIVEN:
            raise PatternError(f"{name} is taken from the issue and cannot be set")
        if name not in known:
            there = f"; its inputs are {', '.join(known)}" if known else "; it has none"
            near = did_you_mean(name, known)
            raise PatternError(
                f"the pattern {use.name} has no input {cut(clean(name), 60)}"
                f"{near or there}"
            )
    said = {name: redacted(clean(text)) for name, text in use.inputs.items()}
    for name, each in known.items():
        if name not in said and each.default is None:
            why = f" ({each.description})" if each.description else ""
            raise PatternError(f"the pattern {use.name} needs {name}=…{why}")
    whole = f"{use.title}\n\n{use.text}".strip()
    defaults = {name: each.default or "" for name, each in known.items()}
    return {**defaults, **said, "task": whole, "title": use.title}


@dataclass
class _Making:
    """Tasks as they are made, step by step."""

    use: Use
    values: dict[str, str]
    tasks: list[TaskSpec] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    last: dict[str, tuple[int, ...]] = field(default_factory=lambda: defaultdict(tuple))
    """The tasks whose end is the end of each step."""
    engines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, step: Step) -> None:
        """Make the tasks of a step whose needs are made already."""
        before: tuple[int, ...] = ()
        items = self._items(step)
        times = self._number(step, "repeat", step.repeat, 1, MOST_TIMES)
        for time in range(1, times + 1):
            made: list[int] = []
            for item in items or (None,):
                values = self.values if item is None else {**self.values, "item": item}
                after = {number for name in step.needs for number in self.last[name]}
                title = " ".join(_filled(step.title, values).split())
                declared = (_filled(path, values).strip() for path in step.paths)
                try:
                    paths = tuple(
                        dict.fromkeys(map(declared_path, filter(None, declared)))
                    )
                    needs = tuple(map(declared_need, step.uses))
                except ValueError as error:
                    raise PatternError(f"step {step.id}: {error}") from error
                if times > 1:
                    title = f"{cut(title, TITLE_MOST - 20)} ({time} of {times})"
                task = TaskSpec(
                    number=len(self.tasks) + 1,
                    title=cut(title, TITLE_MOST) or step.id,
                    instructions=cut(
                        _filled(step.body, values).strip(), INSTRUCTIONS_CHARS
                    ),
                    kind=step.kind,
                    after=tuple(sorted({*after, *before})),
                    paths=paths,
                    needs=needs,
                    engine=self._engine(step, values),
                    acceptance=" ".join(_filled(step.acceptance, values).split()),
                    on=self._on(step),
                    rounds=self._number(step, "rounds", step.rounds, 0, MOST_ROUNDS),
                    why=f"Step {step.id} of the pattern {self.use.name}.",
                )
                self.tasks.append(task)
                self.engines[step.id].append(task.engine)
                made.append(task.number)
            before = tuple(made)
        self.last[step.id] = before

    def _items(self, step: Step) -> tuple[str, ...]:
        if isinstance(step.each, tuple):
            return step.each
        said = self.values[step.each]
        items = tuple(filter(None, (each.strip() for each in said.split(","))))
        if not 1 <= len(items) <= MOST_ITEMS:
            raise PatternError(
                f"the input {step.each} must list 1 to {MOST_ITEMS} items, separated "
                "by commas"
            )
        return items

    def _number(self, step: Step, key: str, text: str, low: int, high: int) -> int:
        said = _filled(text, self.values).strip()
        if not said.isdecimal() or not low <= int(said[:9]) <= high:
            raise PatternError(
                f"step {step.id}: {key} must be a number from {low} to {high}, not "
                f'"{cut(said, 60)}"'
            )
        return int(said)

    def _on(self, step: Step) -> tuple[int, ...]:
        """Return what it looks at; warn where there is little to choose between."""
        numbers = tuple(n for name in step.on for n in self.last[name])
        target = KINDS[step.kind].target
        most = target.most if target is not None else 1
        if most == 1:
            if step.on and len(numbers) != 1:
                several = f"step {step.on[0]} creates several"
                raise PatternError(f"step {step.id} needs one task, but {several}")
            return numbers
        if len(numbers) > most:
            raise PatternError(f"at most {most} rivals are allowed, not {len(numbers)}")
        names = [self.tasks[number - 1].engine for number in numbers]
        known = {_identity(self.use.engines[name]): name for name in reversed(names)}
        if len(names) == 1:
            told = f"only {names[0]} competes, so there is nothing to choose from"
            self.warnings.append(told)
        elif len(known) < len(names):
            who = ", ".join(sorted(set(known.values())))
            told = f"use only {counted(len(known), 'engine')}: {who}"
            self.warnings.append(f"{len(names)} attempts {told}")
        return numbers

    def _engine(self, step: Step, values: Mapping[str, str]) -> str:
        if step.like:
            return self._of(_filled(step.like, values).strip(), step)[0]
        known = self.use.engines
        name = _filled(step.engine, values).strip()
        if name and name not in known:
            raise PatternError(f"step {step.id}: {no_engine(name, known)}")
        others = {other: self._of(other, step) for other in step.unlike}
        taken = {_identity(known[name]) for all_ in others.values() for name in all_}
        if not name:  # one that nobody has; `default` where it does not matter
            engines = sorted(known.items())
            free = (each for each, spec in engines if _identity(spec) not in taken)
            name = next(free, "default") if taken else "default"
        for other, theirs in others.items():
            if _identity(known[name]) in {_identity(known[each]) for each in theirs}:
                self.warnings.append(
                    f"the steps {other} and {step.id} use the same engine, {name}"
                )
        return name

    def _of(self, other: str, step: Step) -> list[str]:
        found = self.engines.get(other)
        if not found:
            near = did_you_mean(other, self.engines)
            raise PatternError(
                f'step {step.id}: there is no step "{cut(other, 60)}" before it{near}'
            )
        return found


def _identity(engine: EngineSpec) -> tuple[str, ...]:
    """Return what makes two engines the same: program and model, or the command."""
    if engine.type == "shell":
        return (engine.type, *engine.args)
    return (engine.type, engine.model or "")


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its slots filled, once: what comes in is no template."""
    return SLOT.sub(lambda slot: values.get(slot[1], slot[0]), text)
