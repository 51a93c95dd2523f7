"""What an agent's code could reach by CI is found in the workflow files."""

import httpx

from bot.forge.github_actions import open_environments
from bot.forge.rest import Rest
from bot.forge.workflows import DefaultRight, exposures, picks_branch
from brat.repository.workflow_files import EVERY, text_of
from tests.world.cases import looped
from tests.world.forge import DEADLINE_S, REPO, Town
from tests.world.patience import LINEAR, growth

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


def test_a_branch_pattern_made_to_be_slow_is_read_in_one_pass() -> None:
    def read(pieces: int) -> None:
        picks_branch(["[a" * pieces], "main")

    assert growth(read, 2_000) < LINEAR


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
    town: Town,
) -> None:
    await made(town, "free", None)
    await made(town, "main-only", CUSTOM, "main", "release/*")
    await made(town, "ours", CUSTOM, "main", "brat/*/**")
    await made(town, "convoys", CUSTOM, "convoy/**")
    await made(town, "protected", PROTECTED)
    names = ("free", "main-only", "ours", "convoys", "protected", "new")

    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client:
        rest = Rest(client, api_url=f"{town.url}/api/v3", token=town.tokens["bot"])
        seen = await open_environments(rest, REPO, names)
        hidden = await open_environments(rest, "alice/hidden", ("prod",))

    assert seen == frozenset({"free", "ours", "convoys", "new"})
    assert hidden == {"prod"}, "what the forge hides counts as open"
