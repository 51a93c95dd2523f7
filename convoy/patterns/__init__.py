"""Patterns: templates in YAML that become a convoy's tasks. Pure, but for brat's own.

Those of a repository and those that brat brings along, the form of a template, and what
is wrong with one, line by line; `convoy.patterns.compiling` makes tasks of it.

YAML is read as data that knows its lines, within bounds: only mappings, lists and
words. Every scalar is a text, no tag constructs anything, and there are no anchors, so
that a file is never larger than it looks. Whatever is wrong is a `PatternError`, a line
for each fault.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from convoy.kinds import KINDS
from convoy.model.records import Kind
from convoy.model.task_graph import find_cycle
from convoy.text import clean, cut, did_you_mean
from grite.errors import BratError

if TYPE_CHECKING:
    from ruamel.yaml.events import Event
    from ruamel.yaml.nodes import Node


class PatternError(BratError):
    """The pattern cannot be used; one line for each fault, `file: line: what`."""


MOST_BYTES: Final = 32_000
MOST_LINES: Final = 500
MOST_DEEP: Final = 20
_NULL: Final = "tag:yaml.org,2002:null"

YamlPlace = tuple[int | str, ...]


class YamlSource(NamedTuple):
    """What a file says, and on which line each part of it begins."""

    data: Any
    lines: Mapping[YamlPlace, int]
    """By the way to it, such as `("steps", 0, "id")`; from 1."""

    def line_of(self, place: YamlPlace) -> int:
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_yaml(text: str, name: str) -> YamlSource:
    """Return what a file says, by whomever; faults call it `name`."""
    # 40 ms to load, and few convoys come from a pattern.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text.encode(errors="replace")) > MOST_BYTES or text.count("\n") > MOST_LINES:
        raise PatternError(
            f"{name}: the file is longer than {MOST_LINES} lines or {MOST_BYTES} bytes"
        )
    try:
        _bounded(YAML(typ="safe", pure=True).parse(text), name)
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = " ".join(str(error.problem or error.context).split())
        raise PatternError(f"{name}: line {line}: this is not YAML: {what}") from error
    except (YAMLError, RecursionError, ValueError) as error:
        what = " ".join(str(error).split())
        raise PatternError(f"{name}: this is not YAML: {cut(what, 200)}") from error
    lines: dict[YamlPlace, int] = {}
    return YamlSource(_data(node, (), lines, name), lines)


def _bounded(events: "Iterable[Event]", name: str) -> None:
    """Look at the file's parts one by one, before anything is built of them."""
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > MOST_DEEP:
            line = event.start_mark.line + 1
            raise PatternError(f"{name}: line {line}: this is nested too deeply")
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            line = event.start_mark.line + 1
            raise PatternError(f"{name}: line {line}: anchors (& *) are not allowed")


def _data(
    node: "Node | None", at: YamlPlace, lines: dict[YamlPlace, int], name: str
) -> Any:  # noqa: ANN401  any YAML
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if node is None:
        return None
    lines.setdefault(at, node.start_mark.line + 1)
    match node:
        case MappingNode():
            for key, _ in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, ScalarNode):
                    raise PatternError(f"{name}: line {line}: a key must be a word")
                word = clean(key.value)
                if (*at, word) in lines:
                    what = f'"{cut(word, 60)}" appears twice'
                    raise PatternError(f"{name}: line {line}: {what}")
                lines[(*at, word)] = line
            pairs = ((clean(key.value), value) for key, value in node.value)
            return {key: _data(value, (*at, key), lines, name) for key, value in pairs}
        case SequenceNode():
            items = enumerate(node.value)
            return [_data(item, (*at, n), lines, name) for n, item in items]
        case _:  # a scalar: there is nothing else
            return None if node.tag == _NULL else clean(node.value)


PATTERN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
SLOT: Final = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\}")
"""Where an input goes."""
GIVEN: Final = frozenset({"task", "title"})
"""What every template may put in: the issue's title and text, and the title alone."""
TEMPLATE_FAULTS: Final = 20
_SLOTTED: Final = ("title", "body", "engine", "like", "repeat", "rounds")
_NEVER: Final = ((), ("",))

if TYPE_CHECKING:
    StepKind = Kind
else:  # pydantic says them all where another one is written
    StepKind = Literal[tuple(k.name for k in KINDS.values() if k.in_templates)]
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Ids = Annotated[tuple[Id, ...], Field(max_length=20)]
StepText = Annotated[str, Field(min_length=1, max_length=20_000)]
Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n]*$")]


class Form(BaseModel):
    """Unknown keys are faults; a number may be written as a text."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Input(Form):
    """What whoever uses the template may or must say."""

    description: Annotated[str, Field(max_length=300)] = ""
    default: Annotated[str, Field(max_length=2_000)] | None = None
    """What it is when nobody says it; none: it must be said."""


class Step(Form):
    """One task, or with `each` and `repeat` several."""

    id: Id
    title: Line
    body: StepText
    kind: StepKind = "work"
    needs: Ids = ()
    """Steps that must be merged before."""
    on: Ids = ()
    """The step whose work a review looks at, whose tests the code is to pass, or whose
    rivals a choice is between."""
    rounds: Annotated[str, Field(min_length=1, max_length=60)] = "2"
    """How often a review may ask for changes, 0 to 9."""
    engine: Annotated[str, Field(max_length=60)] = ""
    """The name of a configured engine; empty: `default`, or what `unlike` leaves."""
    like: Annotated[str, Field(max_length=60)] = ""
    """The step whose engine it has."""
    unlike: Ids = ()
    """Steps that should have other engines."""
    paths: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    uses: Annotated[tuple[str, ...], Field(max_length=50)] = ()
    """Such as `port:5432` or `service:mail`."""
    acceptance: Annotated[str, Field(max_length=500)] = ""
    """A shell command that exits with 0 where the step is done."""
    each: str | Annotated[tuple[Line, ...], Field(min_length=1, max_length=20)] = ()
    """Once for each of these, `{{item}}`; a text names an input that lists them."""
    repeat: Annotated[str, Field(min_length=1, max_length=60)] = "1"
    """So many times over, each time after all of the time before; at most 5."""


class Synthesis(Form):
    """What brings the legs together."""

    title: Line
    body: StepText
    kind: StepKind = "work"
    engine: Annotated[str, Field(max_length=60)] = ""
    unlike: Ids = ()
    depends_on: Ids = ()
    """Legs that it waits for; none: all."""


class Template(Form):
    name: str = ""
    version: Literal["", "1"] = ""
    description: Annotated[str, Field(max_length=500)] = ""
    type: Literal["", "workflow", "convoy"] = ""
    """brat's word for steps (`workflow`) or legs (`convoy`); nothing depends on it."""
    inputs: Annotated[Mapping[Id, Input], Field(max_length=20)] = {}
    steps: Annotated[tuple[Step, ...], Field(max_length=50)] = ()
    legs: Annotated[tuple[Step, ...], Field(max_length=50)] = ()
    synthesis: Synthesis | None = None

    @model_validator(mode="after")
    def _has_steps_or_legs(self) -> Self:
        if bool(self.steps) == bool(self.legs):
            raise ValueError("a template must have either steps or legs")
        if self.synthesis is not None and not self.legs:
            raise ValueError("only a template with legs may have a synthesis")
        return self

    @property
    def all_steps(self) -> tuple[Step, ...]:
        if self.synthesis is None:
            return (*self.steps, *self.legs)
        fields = self.synthesis.model_dump(exclude={"depends_on"})
        needs = self.synthesis.depends_on or tuple(leg.id for leg in self.legs)
        return (*self.legs, Step(id="synthesis", needs=needs, **fields))


def template(text: str, name: str, file: str) -> Template:
    """Return a checked template; faults call it `file`."""
    source = read_yaml(text, file)
    try:
        found = Template.model_validate(source.data if source.data is not None else {})
    except ValidationError as error:
        said = [
            _form_fault(source, fault) for fault in error.errors()[:TEMPLATE_FAULTS]
        ]
        raise PatternError("\n".join(f"{file}: {each}" for each in said)) from error
    faults = [
        f"{file}: line {source.line_of(place)}: {what}"
        for place, what in _faults(found, name)
    ]
    if faults:
        raise PatternError("\n".join(faults[:TEMPLATE_FAULTS]))
    return found


def _form_fault(source: YamlSource, fault: Any) -> str:  # noqa: ANN401  pydantic's own
    place: YamlPlace = ()  # what of pydantic's way is in the file: some is its own
    data = source.data
    for part in fault["loc"]:
        inside = range(len(data)) if isinstance(data, list) else data
        if isinstance(inside, dict | range) and part in inside:
            data, place = data[part], (*place, part)
    line = source.line_of(place)
    where = ".".join(map(str, place)) or "the template"
    if fault["type"] == "extra_forbidden":
        form = _FORMS.get(place[0] if place[1:] else "", Template)
        known, key = tuple(form.model_fields), str(place[-1])
        allowed = f"{', '.join(known)}{did_you_mean(key, known)}"
        return f'line {line}: unknown key "{cut(key, 60)}"; allowed: {allowed}'
    if fault["type"] == "missing":
        return f'line {line}: "{fault["loc"][-1]}" is missing'
    what = fault["msg"].removeprefix("Value error, ").rstrip(".")
    near = ""
    if fault["type"] == "literal_error" and isinstance(fault["input"], str):
        expected = re.findall(r"'([^']*)'", str(fault["ctx"]["expected"]))
        near = did_you_mean(fault["input"], expected)
    return f"line {line}: {cut(where, 80)}: {what}{near}"


_FORMS: Final[Mapping[int | str, type[Form]]] = {
    "inputs": Input,
    "steps": Step,
    "legs": Step,
    "synthesis": Synthesis,
}


def _faults(found: Template, name: str) -> Iterator[tuple[YamlPlace, str]]:
    if found.name and found.name != name:
        yield ("name",), f'the name "{cut(found.name, 60)}" must be {name}'
    for given in sorted(GIVEN & found.inputs.keys()):
        yield ("inputs", given), f'"{given}" is reserved for the issue'
    steps = found.all_steps
    ids = [step.id for step in steps]
    kinds = {step.id: step.kind for step in steps}
    for number, step in enumerate(steps):
        own = "steps" if found.steps else "legs"
        is_own = number < len(found.steps or found.legs)
        place: YamlPlace = (own, number) if is_own else ("synthesis",)
        if what := _target_fault(step, kinds):
            yield (*place, "kind"), what
        if step.id in ids[:number]:
            yield (*place, "id"), f'the id "{step.id}" appears twice'
        for key, what in _step_faults(step, found, ids):
            yield (*place, *key), what
    at = {step.id: number for number, step in enumerate(steps)}
    edges = {
        at[step.id]: {at[each] for each in (*step.needs, *step.on) if each in at}
        for step in steps
    }
    if circle := find_cycle(edges):
        names = ", ".join(steps[number].id for number in circle)
        yield (), f"the steps wait for each other in a cycle: {names}"


def _target_fault(step: Step, kinds: Mapping[str, Kind]) -> str:
    kind = KINDS[step.kind]
    if kind.target is None:
        looking = "only a step of kind review, choice or work may have the key `on`"
        return looking if step.on else ""
    if kind.target.is_optional and not step.on:
        return ""
    wanted = kind.target.kind
    is_fit = len(step.on) == 1 and kinds.get(step.on[0], wanted) == wanted
    return "" if is_fit else f"{kind.title} must name one step of kind {wanted} in `on`"


def _step_faults(
    step: Step, found: Template, ids: list[str]
) -> Iterator[tuple[YamlPlace, str]]:
    names = {
        "needs": step.needs,
        "on": step.on,
        "unlike": step.unlike,
        "like": (step.like,) if step.like and not SLOT.search(step.like) else (),
    }
    for key, named in names.items():
        for other in named:
            if other == step.id or other not in ids:
                near = did_you_mean(other, [each for each in ids if each != step.id])
                yield (key,), f'there is no other step "{cut(other, 60)}"{near}'
    if isinstance(step.each, str) and step.each not in found.inputs:
        near = did_you_mean(step.each, found.inputs)
        yield ("each",), f'there is no input "{cut(step.each, 60)}"{near}'
    item = {"item"} if step.each not in _NEVER else set()
    known = {*GIVEN, *found.inputs, *item}
    for key, text in (
        *((key, getattr(step, key)) for key in _SLOTTED),
        *(("paths", path) for path in step.paths),
    ):
        for slot in SLOT.findall(text):
            if slot not in known:
                near = did_you_mean(slot, known)
                yield (key,), f"there is no input {{{{{cut(slot, 60)}}}}}{near}"


PATTERNS_FOLDER: Final = ".brat/workflows/"
NO_PATTERN: Final = "none"
"""Whoever says so wants no pattern, whatever is configured."""
BUILT_IN: Final = (
    *("writer-reviewer", "tdd", "scout", "architect-builder", "debate", "best-of"),
    *("research", "understanding", "maintenance", "spec"),
)
"""In the order of the list; each a file of this package."""


def own_patterns(files: Collection[str]) -> dict[str, str]:
    """Return the file of each pattern among a commit's paths, by name."""
    found: dict[str, str] = {}
    for file in sorted(files):
        name, _, ending = file.removeprefix(PATTERNS_FOLDER).partition(".")
        if not file.startswith(PATTERNS_FOLDER) or ending not in ("yml", "yaml"):
            continue
        if PATTERN_NAME.fullmatch(name) and name != NO_PATTERN:
            found.setdefault(name, file)
    return found


def named_pattern(
    name: str, files: Collection[str], text_of: Callable[[str], str]
) -> Template:
    """Return a pattern by its name; a repository's own goes before brat's."""
    ours = own_patterns(files)
    if name in ours:
        return template(text_of(ours[name]), name, ours[name])
    if name in BUILT_IN:
        return built_in_pattern(name)
    known = sorted({*ours, *BUILT_IN})
    raise PatternError(
        f'there is no pattern "{cut(clean(name), 60)}"; available: {", ".join(known)}'
        f"{did_you_mean(name, known)}"
    )


def built_in_pattern(name: str) -> Template:
    return template(built_in_text(name), name, f"{name}.yml")


def built_in_text(name: str) -> str:
    file = resources.files("convoy.patterns") / "builtin" / f"{name}.yml"
    return file.read_text("utf-8")
