"""What stands against a convoy's work is said on its issue before the first task."""

from pathlib import Path
from typing import Any

import pytest

from bot.forge.github_actions import secret_names
from bot.forge.pace import RequestBudget
from bot.forge.workflows import CiStart, ci_start, lacking_rights
from bot.roles.mayor import scarce
from tests.bot.room import SHELL, Room, empty_room
from tests.world.cases import looped

EXPOSED = """\
on: push
jobs:
  test:
    environment: prod
    steps:
      - run: make test
        env: {TOKEN: "${{ secrets.NPM_TOKEN }}"}
"""
JOBS = "permissions: {contents: read}\njobs: {test: {steps: []}}\n"
PUSHED = f"# no workflow_dispatch yet\non: push\n{JOBS}"
DISPATCHED = f"on: workflow_dispatch\n{JOBS}"
OURS = (Path(__file__).parents[3] / "workflows/brat.yml").read_text()
NO_DISPATCH = OURS.replace("{ actions: write,", "{ actions: read,")
PICKY = f"on: {{push: {{paths: [docs/**]}}}}\n{JOBS}"
GATE = f'{SHELL}[refinery]\nchecks = ["CI Gate"]\n'
IN_CI = {"ci_workflow": "ci.yml"}
IN_A_JOB = {"ci_workflow": "ci.yml", "workflow": "brat.yml"}
KEYS = ("ANTHROPIC_API_KEY", "TEAM_KEY")
ENGINES = """\
[engine.default]
type = "claude-code"

[engine.tests]
type = "codex"
secret = "TEAM_KEY"

[engine.free]
type = "shell"
args = ["true"]
"""


async def asked(here: Room, sentence: str) -> list[str]:
    """Ask for a convoy; return what is said of one thing on its issue."""
    await here.write("Spell words", "@brat\n\n- [ ] one\n")
    await here.came(1)
    await here.loop.tick()
    await here.loop.tick()
    assert len(here.convoys()) == 1
    return [said for said in here.spoken() if sentence in said]


@pytest.mark.parametrize(
    ("file", "text", "config", "settings", "sentence", "told"),
    [
        (
            *("ci.yml", EXPOSED, SHELL, {}, "pull request from a fork"),
            ("ci.yml, job test: it names no permissions", "NPM", "environment prod"),
        ),
        ("ci.yml", f"on: push\n{JOBS}", SHELL, {}, "pull request from a fork", ()),
        (
            *("ci.yml", PUSHED, SHELL, IN_CI, "CI will not start"),
            ("ci.yml needs a workflow\\_dispatch trigger",),
        ),
        (
            *("ci.yml", PUSHED, GATE, {}, "No workflow in this repository reports"),
            ("`CI Gate`", "`test`"),
        ),
        (
            *("ci.yml", PICKY, GATE.replace("CI Gate", "test"), {}),
            *("starts only when certain paths change", ("check `test`",)),
        ),
        (
            *("brat.yml", NO_DISPATCH, SHELL, IN_A_JOB, "lacks permissions"),
            ("brat cannot start tasks or CI",),
        ),
    ],
)
async def test_what_workflows_lack_or_hand_over_is_said_once(
    tmp_path: Path,
    file: str,
    text: str,
    config: str,
    settings: dict[str, Any],
    sentence: str,
    told: tuple[str, ...],
) -> None:
    files = {"config.toml": config, f"../.github/workflows/{file}": text}
    async with empty_room(tmp_path, files, sole=False, **settings) as here:
        said = await asked(here, sentence)

    assert len(said) == bool(told)
    assert all(part in said[0] for part in told)


@pytest.mark.parametrize("there", [False, True])
async def test_an_engine_whose_models_key_is_nowhere_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, there: bool
) -> None:
    for name in KEYS:
        monkeypatch.delenv(f"BRAT_SECRET_{name}", raising=False)
        if there:
            monkeypatch.setenv(f"BRAT_SECRET_{name}", "made-up")
    async with empty_room(tmp_path, ENGINES, sole=False) as here:
        said = await asked(here, "Actions secret")
        settings, onlooker = here.context.settings, here.context.onlooker
        here.forge.grant(settings.repository, "brat[bot]", "read")
        names = onlooker and await secret_names(onlooker, settings.repository)

    assert names is None, "a bot that may not know says nothing"
    assert len(said) == (not there)
    if not there:
        assert (
            "- `default` looks for its key in `ANTHROPIC_API_KEY` or "
            "`CLAUDE_CODE_OAUTH_TOKEN`\n"
            "- `tests` looks for its key in `TEAM_KEY`"
        ) in said[0]
        assert "`free`" not in said[0]


BOTH = f"on: [pull_request, workflow_dispatch]\n{JOBS}"
DEPLOYS = BOTH.replace("steps", "environment: live, steps")
WRITES = BOTH.replace("read", "write")
RELEASES = f"on: [push, release, workflow_dispatch]\n{JOBS}"


@looped(
    ({"ci.yml": BOTH}, "", "make test", CiStart("ci.yml")),
    ({"ci.yml": BOTH, "x.yml": DISPATCHED}, "", "", CiStart("ci.yml")),
    ({"ci.yml": BOTH}, "x.yml", "", "no workflow file named x.yml"),
    ({"a.yml": BOTH, "b.yml": BOTH}, "", "make test", "a.yml or b.yml"),
    ({"a.yml": BOTH, "b.yml": BOTH}, "b.yml", "", CiStart("b.yml")),
    ({"x.yml": DEPLOYS}, "", "make test", CiStart(command="make test")),
    ({"x.yml": WRITES}, "", "make test", CiStart(command="make test")),
    ({"x.yml": RELEASES}, "", "make test", CiStart(command="make test")),
    ({"ci.yml": PUSHED}, "", "make test", CiStart(command="make test")),
    (
        {"ci.yml": PUSHED},
        "",
        "",
        "set the variable BRAT_CI_WORKFLOW to your CI workflow",
    ),
    ({}, "", "", CiStart()),
)
def test_ci_starts_by_the_file_that_is_meant_or_by_the_command(
    files: dict[str, str], named: str, command: str, start: CiStart | str
) -> None:
    found = ci_start(files, named, command)

    if isinstance(start, str):
        assert start in found.fault
        assert not found.file
    else:
        assert found == start


JOB = "on: issues\njobs: {{loop: {{permissions: {}, steps: []}}}}"
ALL = ["actions", "checks", "contents", "issues", "pull-requests", "statuses"]


@looped(
    (OURS, []),
    (NO_DISPATCH, ["actions"]),
    (JOB.format("write-all"), []),
    (JOB.format("read-all"), ALL),
    ("on: issues\njobs: {loop: {steps: []}}", []),  # the repository's default
    ("on: issues\njobs: {other: {permissions: {}, steps: []}}", []),
    ("", []),
)
def test_the_rights_a_job_lacks_are_read(text: str, missing: list[str]) -> None:
    assert [each.partition(":")[0] for each in lacking_rights(text)] == missing


def test_scarce_requests_are_told_with_the_time_when_there_are_more() -> None:
    few = RequestBudget(limit=1_000, left=180, resets_at=0.0)

    (said,) = scarce(few, 1_760_000_400_000)
    assert said.startswith("Jobs in this repository have 180 of 1000 hourly API")
    assert said.endswith("so brat will work more slowly until 09:00 UTC")
    assert scarce(RequestBudget(limit=1_000, left=250, resets_at=0.0), 0) == []
    assert scarce(None, 0) == []
