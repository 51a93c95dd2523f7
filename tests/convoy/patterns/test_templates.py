"""What a template may say, and what people are told of one that may not be used."""

from pathlib import Path

import pytest

from convoy import patterns
from convoy.model.records import EngineSpec
from convoy.patterns.compiling import Compiled, Use, compiled
from tests.world.cases import looped

ENGINES = {
    "default": EngineSpec(type="claude-code"),
    "docs": EngineSpec(type="codex"),
    "third": EngineSpec(type="gemini"),
}
FILE = ".brat/workflows/mine.yml"
STEP = """\
steps:
  - id: one
    title: "{{title}}"
    body: |
      {{task}}
"""
BOTH = """\
  - {id: a, title: a, body: a, needs: [b]}
  - {id: b, title: b, body: b, needs: [a]}
"""
NEEDED = {
    "maintenance": {"places": "api/, web/"},
    "spec": {"file": "docs/spec.md"},
    "architect-builder": {"parts": "api, ui"},
    "research": {"questions": "speed, cost"},
    "understanding": {"parts": "api/, web/"},
    "best-of": {"engines": "default, docs"},
}
"""What the patterns of brat's own cannot do without."""


def using(
    name: str, inputs: dict[str, str], engines: dict[str, EngineSpec] = ENGINES
) -> Use:
    return Use(
        name=name,
        title="Do it",
        text="All of it.",
        inputs=inputs,
        engines=engines,
        limit=20,
    )


def made(
    text: str, engines: dict[str, EngineSpec] = ENGINES, **inputs: str
) -> Compiled:
    return compiled(
        patterns.template(text, "mine", FILE), using("mine", inputs, engines)
    )


def fault(text: str, **inputs: str) -> str:
    with pytest.raises(patterns.PatternError) as caught:
        made(text, ENGINES, **inputs)
    return str(caught.value)


def test_a_step_is_a_task_with_the_issue_and_its_inputs_in_it() -> None:
    [task] = made(STEP).tasks

    assert (task.number, task.title, task.engine) == (1, "Do it", "default")
    assert task.instructions == "Do it\n\nAll of it."
    assert task.why == "Step one of the pattern mine."

    text = f"inputs: {{more: {{}}}}\n{STEP}      {{{{more}}}}\n"
    [task] = made(text, more="{{title}} \x1b[31mred").tasks
    assert task.instructions.endswith("{{title}} red"), "an input is no template"

    text = """\
steps:
  - {id: last, title: Last, body: x, needs: [first]}
  - {id: first, title: First, body: x, paths: ["a.py"], uses: ["port:80"]}
"""
    first, last = made(text).tasks  # numbered as they wait
    assert (first.title, first.paths, first.needs) == ("First", ("a.py",), ("port:80",))
    assert (last.title, last.after) == ("Last", (1,))


def test_legs_are_unrolled_and_their_synthesis_waits_for_all() -> None:
    text = """\
inputs:
  parts: {description: what there is}
legs:
  - {id: leg, each: parts, title: "Do {{ item }}", body: "{{item}} of {{parts}}"}
synthesis: {title: Join, body: x}
"""
    one, two, last = made(text, parts="api, ui").tasks

    assert [one.title, two.title, last.title] == ["Do api", "Do ui", "Join"]
    assert two.instructions == "ui of api, ui"
    assert last.after == (1, 2)


def test_what_is_repeated_waits_for_all_of_the_time_before() -> None:
    text = """\
inputs:
  rounds: {default: 2}
steps:
  - {id: say, each: [a, b], title: "{{item}}", body: x, repeat: "{{rounds}}"}
  - {id: end, title: End, body: x, needs: [say]}
"""
    tasks = made(text).tasks

    assert [task.title for task in tasks[:3]] == [
        "a (1 of 2)",
        "b (1 of 2)",
        "a (2 of 2)",
    ]
    assert [task.after for task in tasks] == [(), (), (1, 2), (1, 2), (3, 4)]
    assert len(made(text, rounds="1").tasks) == 3
    assert 'repeat must be a number from 1 to 5, not "nine"' in fault(
        text, rounds="nine"
    )


def test_an_unlike_step_gets_another_engine_and_says_when_there_is_none() -> None:
    text = """\
inputs: {other: {default: ""}}
steps:
  - {id: write, title: Write, body: x}
  - {id: look, title: Look, body: x, unlike: [write], engine: "{{other}}"}
  - {id: again, title: Again, body: x, like: look}
"""
    found = made(text)
    assert [task.engine for task in found.tasks] == ["default", "docs", "docs"]
    assert found.warnings == ()

    alone = {"default": ENGINES["default"], "twin": EngineSpec(type="claude-code")}
    same = "the steps write and look use the same engine, default"
    assert made(text, alone).warnings == (same,)
    assert made(text, other="default").warnings == (same,)
    assert "there is no engine" in fault(text, other="dosc")
    assert "did you mean docs?" in fault(text, other="dosc")


@looped(
    ("steps:\n  - id: a\n   b: c\n", f"{FILE}: line 3: this is not YAML: "),
    ("a: 1\na: 2\n", f'{FILE}: line 2: "a" appears twice'),
    ("a: &x 1\nb: *x\n", f"{FILE}: line 1: anchors (& *) are not allowed"),
    ("a: 1\n---\nb: 1\n", "this is not YAML: "),
    (STEP + "    kind: review\n", "line 6: a review must name one step of kind"),
    (STEP + "    kind: review\n    on: [oen]\n", 'no other step "oen"'),
    (STEP + "    on: [one]\n", "line 2: a step of work must name one step of kind"),
    ("[" * 3_000, f"{FILE}: line 1: this is nested too deeply"),
    ("a: \x00", f"{FILE}: this is not YAML: "),
    ("# x\n" * (patterns.MOST_LINES + 1), f"{FILE}: the file is longer than 500 lines"),
    ("[1, 2]: x\n", f"{FILE}: line 1: a key must be a word"),
    ("", f"{FILE}: line 1: the template: a template must have either steps or legs"),
    ("just words", f"{FILE}: line 1: the template: "),
    ("name: other\n" + STEP, f'{FILE}: line 1: the name "other" must be'),
    (
        STEP + "    engin: x\n",
        f'{FILE}: line 6: unknown key "engin"; allowed: id, title, body,',
    ),
    (STEP + "    engin: x\n", "did you mean engine?"),
    (STEP + "stepps: []\n", 'line 6: unknown key "stepps"'),
    (STEP + "    kind: wrok\n", "did you mean work?"),
    ("steps:\n  - id: a\n    body: x\n", f'{FILE}: line 2: "title" is missing'),
    (STEP + "    needs: [tow]\n", f'{FILE}: line 6: there is no other step "tow"'),
    (STEP + "    needs: [one]\n", 'there is no other step "one"'),
    (STEP + "      {{tsak}}\n", f"{FILE}: line 4: there is no input {{{{tsak}}}}"),
    (STEP + "      {{tsak}}\n", "did you mean task?"),
    (STEP + "      {{item}}\n", "there is no input {{item}}"),
    (STEP + "    each: parts\n", 'line 6: there is no input "parts"'),
    (
        "inputs: {task: {}}\n" + STEP,
        f'{FILE}: line 1: "task" is reserved for the issue',
    ),
    (STEP + STEP.removeprefix("steps:\n"), 'line 6: the id "one" appears twice'),
    (f"steps:\n{BOTH}", "the steps wait for each other in a cycle: a, b, a"),
    # what would never start
    (
        STEP + "    each: [a, b, c, d, e]\n    repeat: 5\n",
        "the pattern mine creates 25 tasks here, but only 20 are allowed",
    ),
    (STEP + "    paths: [../x]\n", 'must not contain ".."'),
    (STEP + "    uses: [tcp]\n", "must be port:NUMBER"),
)
def test_a_faulty_template_is_told_by_its_line(text: str, told: str) -> None:
    assert told in fault(text)


def test_inputs_that_lack_are_not_known_or_make_too_many_tasks_are_told() -> None:
    text = "inputs: {file: {description: the page}}\n" + STEP

    assert fault(text) == "the pattern mine needs file=… (the page)"
    assert "has no input fiel; did you mean file?" in fault(text, fiel="x")
    assert "has no input fiel; it has none" in fault(STEP, fiel="x")
    assert fault(STEP, title="x") == "title is taken from the issue and cannot be set"

    text = "inputs: {places: {}}\n" + STEP + "    each: places\n"
    assert len(made(text, places=",".join("abcdefghijklmnopqrst")).tasks) == 20
    said = fault(text, places=",".join("abcdefghijklmnopqrstu"))
    assert said == "the input places must list 1 to 20 items, separated by commas"


def test_a_pattern_is_found_by_its_name_and_the_repositorys_own_goes_first() -> None:
    files = (FILE, ".brat/workflows/spec.yaml", ".brat/workflows/none.yml", "x.yml")
    assert patterns.own_patterns(files) == {
        "mine": FILE,
        "spec": ".brat/workflows/spec.yaml",
    }
    assert patterns.named_pattern("spec", files, lambda _: STEP).steps[0].id == "one"

    with pytest.raises(patterns.PatternError, match="mean mine"):
        patterns.named_pattern("mien", files, lambda _: STEP)


@looped(*patterns.BUILT_IN)
def test_every_pattern_that_is_offered_makes_a_plan(name: str) -> None:
    found = patterns.built_in_pattern(name)
    assert found.description
    assert all(each.description for each in found.inputs.values())
    plan = compiled(found, using(name, NEEDED.get(name, {})))
    assert plan.tasks
    assert plan.warnings == ()

    page = (Path(__file__).parents[3] / "docs/workflows.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    assert len(made(example, module="a.py").tasks) == 2
