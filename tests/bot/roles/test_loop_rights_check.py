"""What a job's loop cannot do: said on the issue before the first task."""

from pathlib import Path

import pytest

from bot.forge.pace import RequestBudget
from bot.forge.workflows import lacking_rights
from bot.roles.mayor import scarce
from tests.bot.lobby import lobby
from tests.bot.roles.test_ci_exposure_check import CONFIG, commit
from tests.world.cases import looped

OURS = (Path(__file__).parents[3] / "workflows/brat.yml").read_text()
NO_DISPATCH = OURS.replace("{ actions: write,", "{ actions: read,")
JOB = "jobs: {{loop: {{permissions: {}, steps: []}}}}"


@looped(
    ("text", "missing"),
    [
        (OURS, []),
        (NO_DISPATCH, ["actions"]),
        (f"on: issues\n{JOB.format('write-all')}", []),
        (
            f"on: issues\n{JOB.format('read-all')}",
            ["actions", "checks", "contents", "issues", "pull-requests"],
        ),
        ("on: issues\njobs: {loop: {steps: []}}", []),  # the repository's default
        ("on: issues\njobs: {other: {permissions: {}, steps: []}}", []),
        ("", []),
    ],
)
def test_what_lacks_is_read_from_the_file(text: str, missing: list[str]) -> None:
    assert [each.partition(":")[0] for each in lacking_rights(text)] == missing


@pytest.mark.parametrize(("text", "times"), [(NO_DISPATCH, 1), (OURS, 0)])
async def test_a_missing_permission_is_named_once(
    text: str, times: int, tmp_path: Path
) -> None:
    async with lobby(
        tmp_path,
        config=CONFIG,
        sole=False,
        ci_workflow="ci.yml",
        workflow="brat.yml",
    ) as here:
        commit(here, ".github/workflows/brat.yml", text, tmp_path / "checkout")

        await here.write("Spell words", "@brat\n\n- [ ] one\n")
        await here.delivered(1)
        await here.loop.tick()
        await here.loop.tick()

        said = [each for each in here.said() if "lacks permissions" in each]
        assert len(said) == times
        assert all("brat cannot start tasks or CI" in each for each in said)


def test_scarce_requests_are_told_with_the_time_when_there_are_more() -> None:
    few = RequestBudget(limit=1_000, left=180, resets_at=0.0)

    (said,) = scarce(few, 1_760_000_400_000)
    assert said.startswith("180 of the 1000 hourly requests of this repository's jobs")
    assert said.endswith("so brat works slowly until 09:00 UTC")
    assert scarce(RequestBudget(limit=1_000, left=250, resets_at=0.0), 0) == []
    assert scarce(None, 0) == []
