"""A commit that the bot did not sign hands nothing over, whoever dispatched the run.

The attack: whoever may push and dispatch (a token with `actions: write` is enough)
names a commit of their own as the hand-off. Its engine is a shell that gets a key of
the job by naming it as its secret, and writes it backwards: nothing is redacted.
"""

import json
import time
from pathlib import Path

import pytest

from convoy.events.session_events import TaskStarted
from convoy.model.records import EngineSpec
from grite.signatures import SIGNERS_FILE, Writer, signer_line
from tests.runner.job import REPOSITORY_ID, Forge, Left, git
from tests.world.given_secrets import given
from tests.world.log_keys import LOG_KEY, OTHER_KEY

ENGINE_KEY = given("sk-made-up-key-of-the-engine")
OURS = signer_line(LOG_KEY.public, "the bot's")
THEIRS = signer_line(OTHER_KEY.public, "an attacker's")


def theft(forge: Forge) -> TaskStarted:
    engine = EngineSpec(
        type="shell",
        args=("sh", "-c", 'echo "stolen: $(echo $OPENAI_API_KEY | rev)"'),
        secret="OPENAI_API_KEY",
        timeout_s=600,
    )
    return forge.started(engine=engine)


def tried(forge: Forge, log: str, **changes: str | None) -> Left:
    told = {"OPENAI_API_KEY": ENGINE_KEY, **changes}
    return forge.left_by(forge.begin(log, **told))


def refused(left: Left, why: str) -> None:
    assert left.status == 2, left.out
    assert left.err.startswith("brat: ")
    assert why in left.err
    assert left.err.count("\n") == 1
    assert not (left.folder / "result.json").exists()
    assert ENGINE_KEY[::-1] not in left.out


def commit(forge: Forge, files: dict[str, str], branch: str = "main") -> str:
    seed = forge.root / "seed"
    git("checkout", "-q", "-B", branch, cwd=seed)
    for name, text in files.items():
        (seed / name).parent.mkdir(exist_ok=True)
        (seed / name).write_text(text)
    git("add", "-A", cwd=seed)
    git("commit", "-q", "-m", "More", cwd=seed)
    git("push", "-q", str(forge.bare), branch, cwd=seed)
    return git("rev-parse", "HEAD", cwd=seed)


def on(forge: Forge, head: str, branch: str = "main") -> dict[str, str | None]:
    """Return what a run on a branch is told, without the variable."""
    event = forge.root / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "main"}}))
    return {
        "BRAT_ALLOWED_SIGNERS": None,
        "GITHUB_SHA": head,
        "GITHUB_REF": f"refs/heads/{branch}",
        "GITHUB_EVENT_PATH": str(event),
    }


def test_a_commit_that_nobody_signed_hands_nothing_over(forge: Forge) -> None:
    forge.writer = None
    log = forge.hand_off(theft(forge))
    git("update-ref", "-d", "refs/grite/wal", cwd=forge.bare)  # it dangles

    refused(tried(forge, log), "is not this job's task: it is not signed")


def test_what_the_bot_signed_is_taken_though_no_ref_names_it(forge: Forge) -> None:
    log = forge.hand_off(theft(forge))
    git("update-ref", "-d", "refs/grite/wal", cwd=forge.bare)

    left = tried(forge, log)

    assert left.status in {0, 1}
    assert "stolen: " in left.said


@pytest.mark.parametrize(
    ("writer", "why"),
    [
        (OTHER_KEY.writer(REPOSITORY_ID), "the key that signed it is not allowed"),
        (LOG_KEY.writer("4712"), "it is for another repository, not 4711"),
    ],
    ids=["another key", "another repository"],
)
def test_another_key_or_repository_hands_nothing_over(
    forge: Forge, writer: Writer, why: str
) -> None:
    forge.writer = writer

    refused(tried(forge, forge.hand_off(theft(forge))), why)


def test_who_turns_a_hand_off_away_leaves_the_reason_alone(forge: Forge) -> None:
    forge.writer = OTHER_KEY.writer(REPOSITORY_ID)

    left = tried(forge, forge.hand_off(theft(forge)))

    assert [each.name for each in left.folder.iterdir()] == ["turned-away.json"]
    told = json.loads((left.folder / "turned-away.json").read_text())
    assert (told["v"], told["session"]) == (1, "fix-login-7/2/1")
    assert "the key that signed it is not allowed" in told["why"]


def test_another_attempt_is_not_handed_over(forge: Forge) -> None:
    log = forge.hand_off(theft(forge))

    left = tried(forge, log, BRAT_SESSION="fix-login-7/2/2")

    refused(left, "does not start session fix-login-7/2/2")


def test_a_candidate_is_no_hand_off(forge: Forge) -> None:
    refused(tried(forge, forge.base), "is not this job's task: it is not signed")


def test_a_hand_off_is_not_taken_again_after_its_deadline(forge: Forge) -> None:
    started = theft(forge)
    longest_s = started.engine.timeout_s + started.limits.setup_s
    at_ms = time.time_ns() // 1_000_000 - (longest_s + 360) * 1000

    left = tried(forge, forge.hand_off(started, at_ms))

    refused(left, "of the log, expired 6")


def test_without_allowed_signers_the_open_key_counts_and_no_other(forge: Forge) -> None:
    log = forge.hand_off(theft(forge))

    refused(tried(forge, log, **on(forge, forge.base)), "is not this job's task")


def test_the_file_on_the_default_branch_counts(forge: Forge) -> None:
    head = commit(forge, {SIGNERS_FILE: f"# ours\n{OURS}"})
    log = forge.hand_off(theft(forge))

    assert "stolen: " in tried(forge, log, **on(forge, head)).said


def test_a_file_on_another_branch_counts_for_nothing(forge: Forge) -> None:
    head = commit(forge, {SIGNERS_FILE: THEIRS}, "evil")
    forge.writer = OTHER_KEY.writer(REPOSITORY_ID)
    log = forge.hand_off(theft(forge))

    left = tried(forge, log, **on(forge, head, "evil"))

    refused(left, "hand-offs are accepted only on refs/heads/main")


def test_the_variable_counts_more_than_the_file(forge: Forge) -> None:
    head = commit(forge, {SIGNERS_FILE: THEIRS})
    forge.writer = OTHER_KEY.writer(REPOSITORY_ID)
    log = forge.hand_off(theft(forge))

    left = tried(forge, log, **{**on(forge, head), "BRAT_ALLOWED_SIGNERS": OURS})

    refused(left, "the key that signed it is not allowed")


def test_a_line_that_is_wrong_is_named(forge: Forge) -> None:
    log = forge.hand_off(theft(forge))

    left = tried(forge, log, BRAT_ALLOWED_SIGNERS="brat ssh-rsa AAAA")

    refused(left, "BRAT_ALLOWED_SIGNERS: line 1 of the allowed signers: ")


def test_without_the_event_the_file_counts_for_nothing(
    forge: Forge, tmp_path: Path
) -> None:
    head = commit(forge, {SIGNERS_FILE: OURS})
    log = forge.hand_off(theft(forge))
    told = {**on(forge, head), "GITHUB_EVENT_PATH": str(tmp_path / "none")}

    refused(
        tried(forge, log, **told), "GITHUB_EVENT_PATH does not name the default branch"
    )
