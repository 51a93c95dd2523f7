"""What can start CI on a candidate, and what it hands to agents' code, as files say."""

from collections.abc import Callable

import httpx

from bot.forge.github_actions import open_environments
from bot.forge.rest import Rest
from bot.forge.workflows import (
    DefaultRight,
    _check_names,
    exposures,
    lack_of_ci,
    left_out_by_paths,
    left_out_of_queue,
    picks_branch,
    unreportable,
    ways_to_start,
)
from brat.repository.workflow_files import EVERY, text_of
from tests.world.cases import looped
from tests.world.forge import REPO, Town
from tests.world.patience import LINEAR, growth

JOBS = "\njobs:\n  test:\n    steps: []\n"


@looped(
    ("on: workflow_dispatch", {"dispatch"}),
    ("on:\n- workflow_dispatch", {"dispatch"}),
    ("on: {workflow_dispatch: }", {"dispatch"}),
    ("on: {'workflow_dispatch': {}, push: {branches: [main]}}", {"dispatch"}),
    ("'on': workflow_dispatch", {"dispatch"}),
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


@looped(
    lambda pieces: _check_names("test", {"name": "a${{ " * pieces}),
    lambda pieces: _check_names("test", {"name": "${{ a" * pieces}),
    lambda pieces: picks_branch(["[a" * pieces], "main"),
)
def test_what_is_made_to_be_slow_is_read_in_one_pass(
    read: Callable[[int], object],
) -> None:
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


# --- what an agent's code could reach by CI is found in the workflow files ------------

SAFE = """
on:
  push:
    branches: [main, "brat/queue/**"]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: make test
        env:
          TOKEN: ${{ secrets.GITHUB_TOKEN }}
"""


def said(
    text: str,
    default: DefaultRight = "read",
    environments: frozenset[str] | None = frozenset({"prod"}),
) -> list[str]:
    found = exposures({"ci.yml": text}, default, environments)
    return [one.said.removeprefix("ci.yml, job test: ") for one in found]


CONCURRENT = SAFE.replace("on:", "concurrency: {group: 'x-${{ github.ref }}'}\non:", 1)


@looped(SAFE, CONCURRENT, "", "[", "on: push", "jobs: [a]", "\0")
def test_what_hands_over_nothing_or_is_no_workflow_is_no_fault(text: str) -> None:
    assert said(text, "write") == []


WRITES = "agents' code gets a token that can write"
READS = "agents' code can read the secrets that the job uses "
CALL = "\n  call:\n    uses: ./.github/workflows/x.yml\n    secrets: inherit"
USES = "agents' code can use the environment prod"
CANCELS = "ci.yml: all branches share a concurrency group, which cancels CI"


@looped(
    ("contents: read", "contents: write", WRITES),
    ("\n  contents: read", " write-all", WRITES),
    ("secrets.GITHUB_TOKEN", "secrets.NPM_TOKEN", f"{READS}(NPM_TOKEN)"),
    ("secrets.GITHUB_TOKEN", "secrets [ 'NPM_TOKEN' ]", f"{READS}(NPM_TOKEN)"),
    ("secrets.GITHUB_TOKEN", "toJSON(secrets)", f"{READS}(all)"),
    ("    runs-on", "    environment: prod\n    runs-on", USES),
    ("    runs-on", "    environment: {name: prod, url: x}\n    runs-on", USES),
    ("jobs:", f"jobs:{CALL}", f"ci.yml, job call: {READS}(all)"),
    ("jobs:", "concurrency: ci\njobs:", CANCELS),
    ("    runs-on", "    concurrency: {group: a}\n    runs-on", CANCELS),
    (
        "  pull_request:",
        "  pull_request_target:",
        "ci.yml runs on pull_request_target and exposes",
    ),
)
def test_each_thing_that_is_handed_over_is_a_fault(
    was: str, becomes: str, fault: str
) -> None:
    (found,) = said(SAFE.replace(was, becomes, 1))

    assert found.startswith(fault)


@looped(
    ("read", []),
    ("write", [WRITES]),
    ("", ["it names no permissions, so its token may be able to write"]),
)
def test_without_permissions_the_repositorys_default_counts(
    default: DefaultRight, fault: list[str]
) -> None:
    text = SAFE.replace("permissions:\n  contents: read\n", "")

    assert said(text, default) == fault


def test_a_job_whose_environment_keeps_our_branches_out_must_not_run_there() -> None:
    text = SAFE.replace("    runs-on", "    environment: prod\n    runs-on")
    main_only = text.replace("    runs-on", "    if: x\n    runs-on")

    fault = ["it fails on brat/queue/**, which its environment keeps out"]
    assert said(text, environments=frozenset()) == fault
    assert not said(main_only, environments=frozenset()) + said(text, environments=None)


RUNS = (
    *("on: push", "on: [push]", "on: {push: }", "on: {push: {branches: ['**']}}"),
    *("on: {push: {branches: ['*/*/base']}}", "on: {push: {branches-ignore: [main]}}"),
    *("on: {push: {paths: ['src/**']}}", "on: pull_request", "on: create"),
)
NEVER_RUNS = (
    *("on: {push: {branches: [main]}}", "on: {push: {branches: ['*']}}"),
    "on: {push: {branches: ['**', '!brat/**', '!convoy/**']}}",
    "on: {push: {branches-ignore: ['brat/**', 'convoy/**']}}",
    *("on: {push: {tags: ['v*']}}", "on: {release: }", "on: workflow_dispatch"),
    "on: {schedule: [{cron: '1 1 * * *'}]}",
)


@looped(*RUNS, *NEVER_RUNS)
def test_what_may_run_on_what_an_agent_wrote_is_known(on: str) -> None:
    text = f"{on}\npermissions: write-all\njobs: {{test: {{steps: []}}}}\n"

    assert len(said(text)) == (on in RUNS)


def test_a_release_that_reads_a_cache_beside_ci_is_a_fault() -> None:
    cached = SAFE + "      - uses: actions/cache@v4\n"
    release = (
        "on: release\npermissions: {contents: write}\n"
        "jobs: {out: {steps: [{uses: actions/setup-node@v4, with: {cache: npm}}]}}\n"
    )

    (found,) = exposures({"ci.yml": cached, "release.yml": release}, "read", None)

    assert (
        found.said == "release.yml builds releases with a cache that ci.yml can change"
    )
    assert not exposures({"ci.yml": SAFE, "release.yml": release}, "read", None)


def doubled(levels: int, key: str = "") -> str:
    """Return so many anchors of a map, each of which has nine of the one before."""
    lines = ["x0: &a0 {k: v}"]
    for level in range(levels):
        nine = ", ".join([f"*a{level}"] * 9)
        lines.append(f"x{level + 1}: &a{level + 1} {{{key or 'k'}: [{nine}]}}")
    return "\n".join(lines)


@looped(
    (doubled(9), "its aliases expand to more than 100000 values"),
    (doubled(9, "<<"), "its aliases expand to more than 100000 values"),
    ("x: &a {k: [*a]}", "its aliases expand to more than 100000 values"),
    ("#" * 200_000, "it exceeds the limit of 200000 characters"),
    ("x: " + "[" * 60_000, ""),
    (doubled(2), ""),
)
def test_a_workflow_that_takes_too_long_to_read_is_named(text: str, why: str) -> None:
    found = said(f"{SAFE}\n{text}")

    assert found == ([f"ci.yml was not checked: {why}"] if why else [])


def test_our_own_workflows_run_nothing_on_pushes() -> None:
    assert exposures({name: text_of(name) for name in EVERY}, "read", None) == ()


@looped(
    ("brat/**", "brat/queue/main/0", True),
    ("brat/*", "brat/queue/main/0", False),
    ("convoy/*/task-[0-9]", "convoy/any/task-1", True),
    ("main", "convoy/any/base", False),
    ("release.1", "releasex1", False),
    ("v[0-9]+", "v", False),
    ("v[0-9]+", "v10", True),
    ("mains?", "main", True),
    ("+", "main", False),
    ("**a" * 20, "brat/queue/" + "a" * 60 + "/0", False),
    ("**a" * 20 + "**", "brat/queue/" + "a" * 60 + "/0", True),
)
def test_branch_patterns_mean_what_they_mean_on_github(
    pattern: str, branch: str, *, fits: bool
) -> None:
    assert picks_branch([pattern], branch) == fits


# --- which environments of Actions let agents' branches in, asked of a forge ----------

CUSTOM = {"protected_branches": False, "custom_branch_policies": True}
PROTECTED = {"protected_branches": True, "custom_branch_policies": False}


async def made(town: Town, name: str, policy: object, *patterns: str) -> None:
    asked = {"deployment_branch_policy": policy}
    answer = await town.ask("PUT", f"environments/{name}", asked, by="alice")
    assert answer.status_code == 200, answer.text
    for pattern in patterns:
        where = f"environments/{name}/deployment-branch-policies"
        answer = await town.ask("POST", where, {"name": pattern}, by="alice")
        assert answer.status_code == 200, answer.text


async def test_an_environment_is_open_unless_its_policy_keeps_our_branches_out(
    town: Town, client: httpx.AsyncClient
) -> None:
    await made(town, "free", None)
    await made(town, "main-only", CUSTOM, "main", "release/*")
    await made(town, "ours", CUSTOM, "main", "brat/*/**")
    await made(town, "convoys", CUSTOM, "convoy/**")
    await made(town, "protected", PROTECTED)
    names = ("free", "main-only", "ours", "convoys", "protected", "new")

    rest = Rest(client, api_url=f"{town.url}/api/v3", token=town.tokens["bot"])
    seen = await open_environments(rest, REPO, names)
    hidden = await open_environments(rest, "alice/hidden", ("prod",))

    assert seen == frozenset({"free", "ours", "convoys", "new"})
    assert hidden == {"prod"}, "what the forge hides counts as open"
