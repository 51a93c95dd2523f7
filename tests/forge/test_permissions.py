"""What the tokens of jobs may do is what their workflow asks for."""

import pytest
from ruamel.yaml import YAML

from brat.forge.resources.forge_records import Run
from tests.world.github_forge.workflow_runs import LOOP_WORKFLOW, permissions_of
from tests.world.readme import README

WORKFLOW = README.parent / "workflows/brat-jobs.yml"


def asked_for(*jobs: str) -> dict[str, str]:
    told = YAML(typ="safe").load(WORKFLOW.read_text())["jobs"]
    return {
        name.replace("-", "_"): level
        for job in jobs
        for name, level in told[job]["permissions"].items()
    }


@pytest.mark.parametrize(
    ("inputs", "jobs"), [({}, ("loop",)), ({"session": "x"}, ("task", "wake"))]
)
def test_a_jobs_token_has_what_its_workflow_asks_for(
    inputs: dict[str, str], jobs: tuple[str, ...]
) -> None:
    run = Run(
        id=1,
        repo=1,
        number=1,
        path=LOOP_WORKFLOW,
        title="brat",
        branch="main",
        head_sha="a" * 40,
        actor=1,
        inputs=inputs,
        created_at="",
        updated_at="",
    )

    assert dict(permissions_of(run) or ()) == asked_for(*jobs)
