"""What can start CI on a candidate is read from the workflow, not searched for."""

from bot.forge.workflows import (
    _check_names,
    lack_of_ci,
    left_out_by_paths,
    left_out_of_queue,
    unreportable,
    ways_to_start,
)
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

JOBS = "\njobs:\n  test:\n    steps: []\n"


@looped(
    ("on: workflow_dispatch", {"dispatch"}),
    ("on: [pull_request, workflow_dispatch]", {"dispatch"}),
    ("on:\n- workflow_dispatch", {"dispatch"}),
    ("on: {workflow_dispatch: }", {"dispatch"}),
    ("on: {'workflow_dispatch': {}, push: {branches: [main]}}", {"dispatch"}),
    ("'on': workflow_dispatch", {"dispatch"}),
    ('"on": [push]', {"push"}),
    ("%YAML 1.1\n---\non: push", {"push"}),
    ("\ufeffon: push", {"push"}),
    ("x: &a [push]\non: *a", {"push"}),
    ("on: [push, workflow_dispatch]", {"push", "dispatch"}),
    ("on: {push: {branches: [main, 'brat/queue/**']}}", {"push"}),
    ("on: {push: {branches: 'brat/**'}}", {"push"}),
    ("on: {push: {branches-ignore: [main]}}", {"push"}),
    ("on: {push: {paths: ['src/**']}}", {"push"}),
    (
        "on: {workflow_dispatch: {inputs: {a: {required: true, default: x}}}}",
        {"dispatch"},
    ),
    ("on: {workflow_dispatch: {inputs: {a: {required: false}}}}", {"dispatch"}),
)
def test_a_trigger_is_found_in_each_form(on: str, found: set[str]) -> None:
    assert ways_to_start(on + JOBS) == found


@looped(
    "# no workflow_dispatch yet\non: pull_request",
    "name: workflow_dispatch\non: pull_request",
    "on: pull_request # workflow_dispatch, push",
    "on: {workflow_call: }\nenv: {on: workflow_dispatch}",
    "on: {pull_request: {branches: ['brat/queue/**', push]}}",
    "on: {push: {branches: [main]}}\nenv: {IT: brat/queue}",
    "on: {push: {branches: ['**', '!brat/**']}}",
    *("on: {push: {branches-ignore: ['brat/**']}}", "on: {push: {tags: ['v*']}}"),
    "on: {workflow_dispatch: {inputs: {tag: {required: true}}}}",
    "on: {workflow_dispatch: {inputs: {tag: {required: true, default: ''}}}}",
    *("on: workflow_dispatches", "on:", "on: 3", "on: push\non: push", "on: [push"),
    "on: push\n---\non: push",
)
def test_nothing_else_is_taken_for_one(on: str) -> None:
    assert ways_to_start(on + JOBS) == frozenset()
    for jobs in ("", "jobs:", "jobs: {}", "jobs: []"):
        assert ways_to_start(f"on: push\n{jobs}\n") == frozenset()


def test_a_jobs_push_starts_nothing_and_a_server_dispatches_nothing() -> None:
    pushed, dispatched = {"a.yml": "on: push" + JOBS}, {"b.yml": "on: x" + JOBS}
    dispatched["c.yml"] = "on: workflow_dispatch" + JOBS

    assert lack_of_ci(pushed, by_job=False) is None
    assert lack_of_ci(dispatched, by_job=True) is None
    for files, by_job in ((pushed, True), (dispatched, False), ({}, True), ({}, False)):
        assert lack_of_ci(files, by_job=by_job) is not None


def test_a_required_check_is_looked_for_among_the_jobs_that_can_report_it() -> None:
    jobs = """on: push
jobs:
  test: {strategy: {matrix: {os: [a, b]}}}
  build: {name: "Build (${{ matrix.os }})", strategy: {matrix: {os: [a]}}}
  gate: {name: Type Check & Test}
  shared: {uses: ./.github/workflows/own.yml}
"""
    for required, lacking in (
        (("test (a)", "Build (a)", "Type Check & Test", "shared / lint"), ()),
        (("test", "gate", "CI Gate"), ("test", "gate", "CI Gate")),
    ):
        assert unreportable({"ci.yml": jobs}, required)[0] == lacking
    have = ("test (…)", "Build (…)", "Type Check & Test", "shared / …")
    assert unreportable({"ci.yml": jobs}, ())[1] == have
    assert unreportable({"none.yml": "on: push"}, ("test",)) == ((), ())
    picky = "{push: {paths-ignore: [docs/**]}}"
    whole = {"ci.yml": jobs.replace("push", picky, 1)}
    gate = ("Type Check & Test", "none")
    assert left_out_by_paths(whole, gate) == gate[:1]
    beside = {"all.yml": "on: push\njobs: {a: {name: Type Check & Test}}"}
    started = {"ci.yml": whole["ci.yml"].replace("}}", "}, workflow_dispatch: }", 1)}
    for files in (whole | beside, started, {"ci.yml": jobs}):
        assert left_out_by_paths(files, gate) == ()


def test_a_job_named_by_many_expressions_holds_nobody_up() -> None:
    name = "a${{ x }}" * 40
    files = {"ci.yml": f"on: push\njobs:\n  test:\n    name: {name}b\n"}

    assert unreportable(files, ("a" * 100,))[0] == ("a" * 100,)
    assert unreportable(files, ("a" * 100 + "b",))[0] == ()


@looped("a${{ ", "${{ a")
def test_an_expression_without_end_is_read_in_one_pass(piece: str) -> None:
    def read(pieces: int) -> None:
        _check_names("test", {"name": piece * pieces})

    assert growth(read, 2_000) < LINEAR


@looped(
    ("push", ()),
    ("[push, merge_group]", ()),
    ("{push: {branches: [gh-readonly-queue/**]}}", ()),
    ("{push: {branches: [main, brat/queue/**]}, merge_group: }", ()),
    ("{push: {branches: [main, brat/queue/**]}}", ("ci",)),
    ("{pull_request: }", ("ci",)),
)
def test_what_does_not_run_in_the_merge_queue_is_named(
    on: str, lacking: tuple[str, ...]
) -> None:
    files = {"ci.yml": f"on: {on}\njobs: {{ci: {{steps: []}}}}"}

    assert left_out_of_queue(files, ("ci", "elsewhere")) == lacking


@looped(
    ("main", "'brat/queue/**'", ()),
    ("main", "'brat/queue/main/**'", ("brat/queue/convoy--any--base/0",)),
    ("master", "'brat/queue/c*/**'", ("brat/queue/master/0",)),
    ("master", "'brat/queue/master/**', 'brat/queue/convoy--**'", ()),
    ("release/1", "'brat/queue/release--1/**', 'brat/queue/convoy--**'", ()),
    ("release/1", "'brat/queue/*/*'", ()),
)
def test_the_candidates_of_tasks_and_of_the_convoy_are_both_judged(
    target: str, patterns: str, missing: tuple[str, ...]
) -> None:
    files = {"ci.yml": f"on: {{push: {{branches: [{patterns}]}}}}{JOBS}"}

    lacks = lack_of_ci(files, by_job=False, target=target)
    assert (lacks is None) == (not missing)
    assert all(lacks and each in lacks[0] for each in missing)
