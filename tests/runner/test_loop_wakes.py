"""What starts a job of brat.yml, as act reads its condition; nothing is run."""

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.world.act.running import ACT
from tests.world.cases import looped
from tests.world.program import ran

LOOP = Path(__file__).parents[2] / "workflows/brat-jobs.yml"
APP = "--var=BRAT_APP_ID=1"


def wakes(
    folder: Path, event: str, payload: dict[str, Any], *given: str, job: str = "loop"
) -> bool:
    """Say whether an event gets past the condition of the job."""
    condition = YAML(typ="safe").load(LOOP)["jobs"][job]["if"]
    asked = {"if": condition, "runs-on": "ubuntu-latest", "steps": [{"run": "true"}]}
    machine = "--platform=ubuntu-latest=-self-hosted"
    printed = dry_run(folder, {job: asked}, event, payload, machine, *given)
    return f"[brat-jobs/{job}]" in printed


def dry_run(
    folder: Path, jobs: object, event: str, payload: dict[str, Any], *given: str
) -> str:
    """Return what act prints of a workflow with these jobs, which it does not run."""
    told = YAML(typ="safe").load(LOOP)
    told |= {"jobs": jobs, "on": {event: None, "workflow_dispatch": None}}
    text = StringIO()
    YAML().dump(told, text)
    (folder / "loop.yml").write_text(text.getvalue())
    (folder / "event.json").write_text(json.dumps(payload))
    (folder / ".git").mkdir()
    done = ran(
        [
            *(str(ACT), event, "--dryrun", "--workflows", "loop.yml"),
            *("--eventpath", "event.json", "--pull=false", "--no-cache-server", *given),
        ],
        cwd=folder,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
        check=True,
    )
    return done.stdout


PERSON = {"sender": {"type": "User"}}


def opened(body: str | None) -> dict[str, Any]:
    return {"action": "opened", "issue": {"body": body}, **PERSON}


def commented(body: str, action: str = "created") -> dict[str, Any]:
    return {"action": action, "comment": {"body": body}, **PERSON}


def closed(label: str) -> dict[str, Any]:
    return {"issue": {"body": "", "labels": [{"name": label}]}}


def ci_ended(branch: str) -> dict[str, Any]:
    return {"action": "completed", "workflow_run": {"head_branch": branch}}


def status(state: str, branch: str) -> dict[str, Any]:
    return {"state": state, "branches": [{"name": branch}], "context": "ci"}


CLOSED, REOPENED = {"action": "closed"}, {"action": "reopened"}
LABELED = {"action": "labeled", "label": {"name": "brat"}}
OTHERWISE = {"action": "labeled", "label": {"name": "bug"}}
TRIED = "brat/queue/main/c0ffee"
WAKES = [  # a person names the bot, closes what is ours, or CI has judged what it built
    ("issues", opened("Please, @GitHub-Actions, do it"), ()),
    ("issues", opened("@brat-of-alice do it"), (APP,)),
    ("issues", opened("@helper do it"), (APP, "--var=BRAT_APP_NAME=helper")),
    ("issues", opened("label") | LABELED, ()),
    ("issues", closed("brat") | CLOSED, ()),
    ("issues", closed("brat") | REOPENED, ()),
    ("issue_comment", commented("@brat do it"), (APP,)),
    ("issue_comment", commented("/brat start"), (APP,)),
    ("workflow_run", ci_ended(TRIED), ()),
    ("workflow_run", ci_ended("convoy/say-words-1/task-2"), ()),
    ("status", status("success", TRIED), ()),
    ("status", status("failure", TRIED), ()),
]
SLEEPS = [
    ("issues", opened("Nobody is named"), ()),
    ("issues", opened(None), ()),
    ("issues", opened("@brat do it"), ()),  # no App: that is somebody else
    ("issues", opened("@github-actions") | OTHERWISE, ()),
    ("issues", closed("bug") | CLOSED, ()),
    ("issues", closed("bug") | REOPENED, ()),
    ("issue_comment", commented("well done"), (APP,)),
    ("issue_comment", commented("@brat do it", action="edited"), (APP,)),
    ("issue_comment", commented("@brat do it") | {"sender": {"type": "Bot"}}, (APP,)),
    ("workflow_run", ci_ended("main"), ()),
    ("workflow_run", ci_ended("feature/brat/queue/x"), ()),
    ("status", status("pending", TRIED), ()),
    ("status", status("success", "main"), ()),
]


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    ("does", "told"),
    [*((True, each) for each in WAKES), *((False, each) for each in SLEEPS)],
)
def test_what_is_for_the_bot_wakes_it_and_nothing_else_does(
    does: bool,  # noqa: FBT001  a parameter of the table
    told: tuple[str, dict[str, Any], tuple[str, ...]],
    tmp_path: Path,
) -> None:
    event, payload, given = told

    assert wakes(tmp_path, event, payload, *given) is does


@pytest.mark.needs("act")
@looped(
    ("convoy/say-words-1/base", "octo/app", ["wake"]),
    ("feature", "octo/app", []),
    ("convoy/say-words-1/base", "mallory/app", []),
)
def test_a_review_of_our_work_has_the_loop_started_on_the_default_branch(
    head: str, of: str, started: list[str], tmp_path: Path
) -> None:
    """A review's run is of its pull request's ref, which may not read the log's key."""
    pull = {"head": {"ref": head, "repo": {"full_name": of}}}
    here = {"full_name": "octo/app", "default_branch": "main"}
    told = {"action": "submitted", "pull_request": pull, "repository": here}
    env = "--env=GITHUB_REPOSITORY=octo/app"
    found = []
    for job in ("loop", "wake"):
        folder = tmp_path / f"{job}/{of}/{head}".replace("/", "-")
        folder.mkdir()
        if wakes(folder, "pull_request_review", told, env, job=job):
            found.append(job)
    assert found == started


@pytest.mark.needs("act")
@looped(
    ("brat-jobs.yml", "loop", "BRAT_LOOP_RUNS_ON", "ubuntu-24.04"),
    ("brat-jobs.yml", "ci", "BRAT_RUNS_ON", "ubuntu-latest"),
    ("brat-jobs.yml", "wake", "BRAT_LOOP_RUNS_ON", "ubuntu-24.04"),
    ("brat-task.yml", "task", "BRAT_RUNS_ON", "ubuntu-24.04"),
    ("brat-task-live.yml", "task", "BRAT_RUNS_ON", "ubuntu-24.04"),
    ("brat-wake.yml", "wake", "BRAT_LOOP_RUNS_ON", "ubuntu-24.04"),
)
def test_a_variable_names_the_machine_by_one_label_or_a_list_of_them(
    file: str, job: str, variable: str, otherwise: str, tmp_path: Path
) -> None:
    told = YAML(typ="safe").load(LOOP.with_name(file))["jobs"][job]
    for number, (value, label) in enumerate(
        {"": otherwise, "fleet": "fleet", '["self-hosted", "gpu"]': "gpu"}.items()
    ):
        folder = tmp_path / f"{file}-{job}-{number}"
        folder.mkdir()
        given = (f"--var={variable}={value}", f"--platform={label}=-self-hosted")
        asked = {"runs-on": told["runs-on"], "steps": [{"run": "true"}]}
        assert "Success" in dry_run(
            folder, {job: asked}, "workflow_dispatch", {}, *given
        )
