"""CI that a job's loop cannot start: said on the issue before the first task."""

from pathlib import Path

import pytest

from bot.forge.workflows import CiStart, ci_start, dispatch_fault
from tests.bot.lobby import lobby
from tests.bot.roles.test_ci_exposure_check import CONFIG, commit
from tests.world.cases import looped

JOBS = "permissions: {contents: read}\njobs: {test: {steps: []}}\n"
PUSHED = f"# no workflow_dispatch yet\non: push\n{JOBS}"
DISPATCHED = f"on: workflow_dispatch\n{JOBS}"


@pytest.mark.parametrize(("text", "times"), [(PUSHED, 1), (DISPATCHED, 0)])
async def test_a_file_that_cannot_be_dispatched_is_named_once(
    text: str, times: int, tmp_path: Path
) -> None:
    async with lobby(tmp_path, config=CONFIG, sole=False, ci_workflow="ci.yml") as here:
        commit(here, ".github/workflows/ci.yml", text, tmp_path / "checkout")

        await here.write("Spell words", "@brat\n\n- [ ] one\n")
        await here.delivered(1)
        await here.loop.tick()
        await here.loop.tick()

        said = [each for each in here.said() if "CI will not start" in each]
        assert len(said) == times
        assert all("ci.yml has no trigger workflow\\_dispatch" in s for s in said)


@pytest.mark.parametrize(("required", "times"), [("test", 0), ("CI Gate", 1)])
async def test_a_required_check_that_no_workflow_reports_is_named_once(
    required: str, times: int, tmp_path: Path
) -> None:
    config = f'{CONFIG}[refinery]\nchecks = ["{required}"]\n'
    async with lobby(tmp_path, config=config, sole=False) as here:
        commit(here, ".github/workflows/ci.yml", PUSHED, tmp_path / "checkout")

        await here.write("Spell words", "@brat\n\n- [ ] one\n")
        await here.delivered(1)
        await here.loop.tick()
        await here.loop.tick()

        said = [each for each in here.said() if "No workflow here reports" in each]
        assert len(said) == times
        assert all("`CI Gate`" in each and "`test`" in each for each in said)


@looped(
    ("files", "named", "fault"),
    [
        ({"ci.yml": DISPATCHED}, "ci.yml", False),
        ({"ci.yml": PUSHED}, "ci.yml", True),
        ({"ci.yml": DISPATCHED}, "test.yml", True),
        ({"ci.yml": PUSHED}, "", True),
        ({"release.yml": f"on: release\n{JOBS}"}, "", False),  # CI is elsewhere
        ({}, "", False),
    ],
)
def test_what_is_named_has_to_be_there_and_to_start(
    files: dict[str, str], named: str, *, fault: bool
) -> None:
    assert bool(dispatch_fault(files, named)) is fault


BOTH = f"on: [pull_request, workflow_dispatch]\n{JOBS}"
DEPLOYS = BOTH.replace("steps", "environment: live, steps")
WRITES = BOTH.replace("read", "write")
RELEASES = f"on: [push, release, workflow_dispatch]\n{JOBS}"


@looped(
    ("files", "named", "command", "start"),
    [
        ({"ci.yml": BOTH}, "", "make test", CiStart("ci.yml")),
        ({"ci.yml": BOTH, "x.yml": DISPATCHED}, "", "", CiStart("ci.yml")),
        ({"ci.yml": BOTH}, "x.yml", "", "no workflow file x.yml"),
        ({"a.yml": BOTH, "b.yml": BOTH}, "", "make test", "of a.yml, b.yml"),
        ({"a.yml": BOTH, "b.yml": BOTH}, "b.yml", "", CiStart("b.yml")),
        ({"x.yml": DEPLOYS}, "", "make test", CiStart(command="make test")),
        ({"x.yml": WRITES}, "", "make test", CiStart(command="make test")),
        ({"x.yml": RELEASES}, "", "make test", CiStart(command="make test")),
        ({"ci.yml": PUSHED}, "", "make test", CiStart(command="make test")),
        ({"ci.yml": PUSHED}, "", "", "the variable BRAT_CI_WORKFLOW does not say"),
        ({}, "", "", CiStart()),
    ],
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
