"""What starts a job of brat.yml, as act reads its condition; nothing is run."""

import json
import os
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.world.program import ran

LOOP = Path(__file__).parents[2] / "workflows/brat-jobs.yml"
ACT = Path(sys.executable).with_name("act")
APP = "--var=BRAT_APP_ID=1"


def wakes(folder: Path, event: str, payload: dict[str, Any], *given: str) -> bool:
    """Say whether an event gets past the condition of the job."""
    told = YAML(typ="safe").load(LOOP)
    told["jobs"] = {
        "loop": {
            "if": told["jobs"]["loop"]["if"],
            "runs-on": "ubuntu-latest",
            "steps": [{"run": "true"}],
        }
    }
    told["on"] = {event: None, "workflow_dispatch": None}
    text = StringIO()
    YAML().dump(told, text)
    (folder / "loop.yml").write_text(text.getvalue())
    (folder / "event.json").write_text(json.dumps(payload))
    (folder / ".git").mkdir()
    done = ran(
        [
            *(str(ACT), event, "--dryrun", "--workflows", "loop.yml"),
            *("--eventpath", "event.json", "--pull=false", "--no-cache-server"),
            *("--platform", "ubuntu-latest=-self-hosted", *given),
        ],
        cwd=folder,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
        check=True,
    )
    return "[brat-jobs/loop]" in done.stdout


def opened(body: str | None) -> dict[str, Any]:
    return {"action": "opened", "issue": {"body": body}, "sender": {"type": "User"}}


def commented(body: str, action: str = "created", by: str = "User") -> dict[str, Any]:
    comment = {"body": body}
    return {"action": action, "comment": comment, "sender": {"type": by}}


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    ("payload", "given"),
    [
        (opened("Please, @GitHub-Actions, do it"), ()),
        (opened("@brat-of-alice do it"), (APP,)),
        (opened("@helper do it"), (APP, "--var=BRAT_APP_NAME=helper")),
        (opened("label") | {"action": "labeled", "label": {"name": "brat"}}, ()),
    ],
)
def test_an_issue_that_names_the_bot_wakes_it(
    payload: dict[str, Any], given: tuple[str, ...], tmp_path: Path
) -> None:
    assert wakes(tmp_path, "issues", payload, *given)


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    "payload",
    [
        opened("Nobody is named"),
        opened(None),
        opened("@brat do it"),  # no App: that is somebody else
        opened("@github-actions") | {"action": "labeled", "label": {"name": "bug"}},
    ],
)
def test_other_issues_do_not(payload: dict[str, Any], tmp_path: Path) -> None:
    assert not wakes(tmp_path, "issues", payload)


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    ("payload", "woken"),
    [
        (commented("@brat do it"), True),
        (commented("/brat start"), True),
        (commented("well done"), False),
        (commented("@brat do it", action="edited"), False),
        (commented("@brat do it", by="Bot"), False),
    ],
)
def test_a_persons_new_comment_that_names_the_bot_wakes_it(
    payload: dict[str, Any],
    woken: bool,  # noqa: FBT001  a table
    tmp_path: Path,
) -> None:
    assert wakes(tmp_path, "issue_comment", payload, APP) is woken


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    ("branch", "woken"),
    [
        ("brat/queue/main/c0ffee", True),
        ("convoy/say-words-1/task-2", True),
        ("main", False),
        ("feature/brat/queue/x", False),
    ],
)
def test_the_end_of_ci_wakes_it_for_what_brat_built_alone(
    branch: str,
    woken: bool,  # noqa: FBT001  a table
    tmp_path: Path,
) -> None:
    told = {"action": "completed", "workflow_run": {"head_branch": branch}}

    assert wakes(tmp_path, "workflow_run", told) is woken


@pytest.mark.needs("act")
@pytest.mark.parametrize(
    ("state", "branch", "woken"),
    [
        ("success", "brat/queue/main/c0ffee", True),
        ("failure", "brat/queue/main/c0ffee", True),
        ("pending", "brat/queue/main/c0ffee", False),
        ("success", "main", False),
    ],
)
def test_a_verdict_by_commit_status_wakes_it(
    state: str,
    branch: str,
    woken: bool,  # noqa: FBT001  a table
    tmp_path: Path,
) -> None:
    told = {"state": state, "branches": [{"name": branch}], "context": "ci"}

    assert wakes(tmp_path, "status", told) is woken


@pytest.mark.needs("act")
@pytest.mark.parametrize("action", ["closed", "reopened"])
@pytest.mark.parametrize("label", ["brat", "bug"])
def test_closing_and_reopening_wake_it_where_the_issue_is_ours(
    action: str, label: str, tmp_path: Path
) -> None:
    issue = {"body": "", "labels": [{"name": label}]}

    woken = wakes(tmp_path, "issues", {"action": action, "issue": issue})

    assert woken is (label == "brat")


def test_an_idle_repository_costs_four_jobs_a_day() -> None:
    """Every other trigger is somebody's doing; brat-wake.yml is off without work."""
    on = YAML(typ="safe").load(LOOP.with_name("brat.yml"))["on"]

    (net,) = on["schedule"]
    assert net["cron"] == "22 */6 * * *"
