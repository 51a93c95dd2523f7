"""The loop that runs once as a job: what it is told, and when it stays."""

import json
from pathlib import Path

import pytest

from bot.door.inbox import Remark, StartRequest
from bot.oneshot import kept_of
from bot.settings.oneshot_settings import loops_actor, read_inputs
from grite.errors import BratError
from tests.world.cases import looped

TOLD = {
    "RUNNER_TEMP": "/nowhere",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_REPOSITORY": "octo/hello",
    "BRAT_TOKEN": "t0ken",
    "BRAT_LOG_KEY": "-----BEGIN OPENSSH PRIVATE KEY-----",
}


def test_a_job_of_github_is_paced_as_github_asks() -> None:
    settings = read_inputs(TOLD).settings

    assert (settings.token, settings.workflow, settings.label) == (
        *("t0ken", "brat.yml", "brat"),
    )
    assert (settings.push_gap_s, settings.write_gap_s) == (20, 1)


@pytest.mark.parametrize("server", ["http://127.0.0.1:8080", "http://localhost:1"])
def test_a_forge_on_this_machine_has_no_limits(server: str) -> None:
    settings = read_inputs(TOLD | {"GITHUB_SERVER_URL": server}).settings

    assert (settings.push_gap_s, settings.write_gap_s) == (0, 0)


def test_an_app_goes_before_the_jobs_own_token() -> None:
    inputs = read_inputs(TOLD | {"BRAT_APP_ID": "12", "BRAT_APP_KEY": "-----BEGIN"})

    assert (inputs.settings.app_id, inputs.settings.token) == ("12", "")
    assert inputs.settings.private_key_file == Path("/nowhere/brat-loop/app.pem")


@looped(
    ("change", "said"),
    [
        ({"BRAT_TOKEN": ""}, "there is no token"),
        ({"BRAT_LOG_KEY": "", "BRAT_ALLOWED_SIGNERS": "brat x"}, "type `brat setup`"),
        ({"BRAT_APP_ID": "1"}, "the App's id and its private key"),
        ({"GITHUB_REPOSITORY": ""}, "GITHUB_REPOSITORY is not set"),
        ({"GITHUB_REPOSITORY": "a b"}, "repository"),
        ({"BRAT_WORKFLOW": "../x.yml"}, "workflow"),
        ({"BRAT_AFTER": "1; rm"}, "BRAT_AFTER is '1; rm'"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(
    change: dict[str, str], said: str
) -> None:
    with pytest.raises(BratError, match=said) as raised:
        read_inputs(TOLD | change)

    assert "\n" not in str(raised.value)


def test_no_secret_is_in_what_an_error_or_a_log_may_show() -> None:
    inputs = read_inputs(TOLD | {"BRAT_APP_ID": "12", "BRAT_APP_KEY": "s3cret"})

    assert "s3cret" not in repr(inputs)
    assert "t0ken" not in repr(read_inputs(TOLD))


def test_all_loops_of_a_repository_are_one_actor() -> None:
    assert (
        loops_actor("Octo/Hello")
        == loops_actor("octo/hello")
        != loops_actor("octo/other")
    )
    assert len(bytes.fromhex(loops_actor("octo/hello"))) == 16


def event(folder: Path, name: str, **told: object) -> StartRequest | object | None:
    file = folder / "event.json"
    issue = {"number": 7, "title": "Fix it", "body": "All.", "state": "open"}
    sender = {"login": "ann", "id": 3, "type": "User"}
    file.write_text(json.dumps({"issue": issue, "sender": sender, **told}))
    env = {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}
    return kept_of(read_inputs(TOLD | env), "github-actions[bot]")


def test_a_label_asks_with_the_text_that_the_event_froze(tmp_path: Path) -> None:
    kept = event(tmp_path, "issues", action="labeled", label={"name": "brat"})

    assert isinstance(kept, StartRequest)
    assert (kept.issue, kept.text, kept.by) == (7, "All.", "ann")


def test_a_comment_may_hold_commands(tmp_path: Path) -> None:
    comment = {"id": 5, "body": "/brat pause", "user": {"login": "ann"}}
    kept = event(tmp_path, "issue_comment", action="created", comment=comment)

    assert isinstance(kept, Remark)
    assert (kept.comment, kept.text) == (5, "/brat pause")


def test_a_new_issue_may_name_the_account_of_the_job(tmp_path: Path) -> None:
    issue = {"number": 7, "title": "Fix it", "body": "@github-actions go"}
    kept = event(tmp_path, "issues", action="opened", issue=issue)

    assert isinstance(kept, StartRequest)
    assert kept.trigger == "mention"


@pytest.mark.parametrize("name", ["schedule", "workflow_dispatch", "workflow_run"])
def test_what_only_wakes_asks_for_nothing(tmp_path: Path, name: str) -> None:
    assert event(tmp_path, name, schedule="7 * * * *", inputs=None) is None


def test_no_event_file_asks_for_nothing() -> None:
    assert kept_of(read_inputs(TOLD), "github-actions[bot]") is None
