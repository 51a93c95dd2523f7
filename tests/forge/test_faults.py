"""A story's refusals: asked for, counted, lifted; also across processes."""

from pathlib import Path

import httpx

from brat.forge import Forge
from tests.world.extended import python
from tests.world.forge import REPO, Town, settle_in
from tests.world.github_forge.injected_faults import Faults
from tests.world.program import DEADLINE_S, serving_program

SAID = "This issue was deleted"
COMMENTS = ".*/issues/1/comments"
WORDS = {"body": "hello"}


async def statuses(here: Town, times: int) -> list[int]:
    asked = [await here.ask("POST", "issues/1/comments", WORDS) for _ in range(times)]
    return [answer.status_code for answer in asked]


async def test_the_nth_and_no_other_can_be_refused(here: Town) -> None:
    await here.issue()
    here.faults.refuse("POST", COMMENTS, 410, SAID, 2, first=2)

    assert await statuses(here, 4) == [201, 410, 410, 201]
    assert [one.status for one in here.faults.met()] == [0, 410, 410, 0]


async def test_calls_can_be_met_and_let_through(here: Town) -> None:
    await here.issue()
    here.faults.refuse("POST", ".*", 403, SAID, 0)

    assert await statuses(here, 2) == [201, 201]
    assert len(here.faults.met()) == 2
    assert here.faults.refused() == []


def test_a_forge_of_its_own_process_refuses_too(
    forge: Forge, source: Path, tmp_path: Path
) -> None:
    token = settle_in(forge, source)["alice"]
    forge.close()
    faults = Faults(tmp_path / "forge")
    faults.refuse("POST", f"/repos/{REPO}/issues", 422, SAID)

    headers = {"Authorization": f"Bearer {token}"}
    with (
        serving_program(tmp_path / "forge", python=python(tmp_path)) as program,
        httpx.Client(trust_env=False, headers=headers, timeout=DEADLINE_S) as client,
    ):
        url = f"{program.url}/api/v3/repos/{REPO}/issues"
        assert client.post(url, json={"title": "x"}).status_code == 422
        faults.lift()
        assert client.post(url, json={"title": "x"}).status_code == 201
    assert len(faults.refused()) == 1
