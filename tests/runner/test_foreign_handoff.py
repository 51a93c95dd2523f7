"""A commit that the bot did not sign hands nothing over, whoever dispatched the run.

The attack: whoever may push and dispatch (a token with `actions: write` is enough)
names a commit of their own as the hand-off. Its engine is a shell that gets a key of
the job by naming it as its secret, and writes it backwards: nothing is redacted.
"""

import json
import time

import pytest
from msgspec.structs import replace

from convoy.events.session_events import TaskStarted
from convoy.log import body_of
from convoy.model import ids
from convoy.model.records import EngineSpec
from grite.event import CommentAdded, Event
from grite.signatures import SIGNERS_FILE, signer_line
from runner.inputs import job_inputs
from runner.inputs.job_inputs import BadInput
from runner.workspace.handoff import handed_off
from tests.runner.job import REPOSITORY_ID, Forge, git
from tests.world.cases import looped
from tests.world.given_secrets import given
from tests.world.log_keys import LOG_KEY, OTHER_KEY, Key, signed_commit

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


def taken(forge: Forge, log: str, **changes: str | None) -> TaskStarted:
    """Return what a commit hands over to a job that is told so."""
    scratch = forge.root / "scratch"
    scratch.mkdir(exist_ok=True)
    inputs = job_inputs.read_inputs(forge.environment(log, **changes))
    return handed_off(inputs, scratch, time.time_ns() // 1_000_000)


def refused(forge: Forge, log: str, why: str, **changes: str | None) -> None:
    with pytest.raises(BadInput) as caught:
        taken(forge, log, **changes)
    assert why in str(caught.value)


def on(forge: Forge, signers: str = "", branch: str = "main") -> dict[str, str | None]:
    """Return what a run on a branch with such a file is told, without the variable."""
    if signers:
        forge.commit_on_main({SIGNERS_FILE: signers})
    event = forge.root / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "main"}}))
    return {
        "BRAT_ALLOWED_SIGNERS": None,
        "GITHUB_SHA": forge.base,
        "GITHUB_REF": f"refs/heads/{branch}",
        "GITHUB_EVENT_PATH": str(event),
    }


def test_a_commit_that_nobody_signed_hands_nothing_over(forge: Forge) -> None:
    forge.writer = None
    log = forge.hand_off(theft(forge))
    git("update-ref", "-d", "refs/grite/wal", cwd=forge.bare)  # it dangles

    left = forge.left_by(forge.begin(log, OPENAI_API_KEY=ENGINE_KEY))

    assert left.status == 2, left.out
    assert left.err.startswith("brat: ")
    assert "is not this job's task: it is not signed" in left.err
    assert left.err.count("\n") == 1
    assert ENGINE_KEY[::-1] not in left.out
    assert [each.name for each in left.folder.iterdir()] == ["turned-away.json"]
    told = json.loads((left.folder / "turned-away.json").read_text())
    assert (told["v"], told["session"]) == (1, "fix-login-7/2/1")
    assert "it is not signed" in told["why"]


def test_what_the_bot_signed_is_taken_though_no_ref_names_it(forge: Forge) -> None:
    log = forge.hand_off(theft(forge))
    git("update-ref", "-d", "refs/grite/wal", cwd=forge.bare)

    left = forge.left_by(forge.begin(log, OPENAI_API_KEY=ENGINE_KEY))

    assert left.status in {0, 1}
    assert "stolen: " in left.said


def test_another_key_repository_or_session_hands_nothing_over(forge: Forge) -> None:
    refused(forge, forge.base, "is not this job's task: it is not signed")
    for changes in ({"attempt": 2}, {"task": 3}, {"convoy": "fix-login-8"}):
        log = forge.hand_off(replace(theft(forge), **changes))
        refused(forge, log, "of the log does not start session fix-login-7/2/1")
    body = CommentAdded(body_of(theft(forge), "It starts."))
    event = Event(ids.issue_of("fix-login-7", 3), b"a" * 16, 1, body)
    refused(forge, forge.log([event]), "does not start session fix-login-7/2/1")
    assert forge.writer is not None
    log = signed_commit(forge.bare, {"x": b"no chunk"}, None, forge.writer)
    refused(forge, log, "BRAT_LOG names a commit that is not a hand-off: ")
    for writer, why in (
        (OTHER_KEY.writer(REPOSITORY_ID), "the key that signed it is not allowed"),
        (LOG_KEY.writer("4712"), "it is for another repository, not 4711"),
    ):
        forge.writer = writer
        refused(forge, forge.hand_off(theft(forge)), why)


def test_a_hand_off_is_not_taken_again_after_its_deadline(forge: Forge) -> None:
    started = theft(forge)
    longest_s = started.engine.timeout_s + started.limits.setup_s
    at_ms = time.time_ns() // 1_000_000 - (longest_s + 360) * 1000

    refused(forge, forge.hand_off(started, at_ms), "of the log, expired 6")


VARIABLE = "BRAT_ALLOWED_SIGNERS"


@looped(
    # without allowed signers the open key counts and no other
    ("", "main", LOG_KEY, {}, "is not this job's task"),
    # a line that is wrong is named
    ("", "main", LOG_KEY, {VARIABLE: "brat ssh-rsa AAAA"}, f"{VARIABLE}: line 1 of "),
    # a file on another branch counts for nothing
    (THEIRS, "evil", OTHER_KEY, {}, "are accepted only on refs/heads/main"),
    # the variable counts more than the file
    ("", "main", OTHER_KEY, {VARIABLE: OURS}, "the key that signed it is not allowed"),
    # on the default branch the file counts
    (f"# ours\n{OURS}", "main", LOG_KEY, {}, ""),
    # without the event it counts for nothing
    (
        *("", "main", LOG_KEY, {"GITHUB_EVENT_PATH": "/nowhere"}),
        "GITHUB_EVENT_PATH does not name the default branch",
    ),
)
def test_only_an_allowed_signer_of_the_default_branch_or_the_variable_counts(
    file: str, branch: str, key: Key, changes: dict[str, str], why: str, forge: Forge
) -> None:
    told = on(forge, file, branch) | changes
    forge.writer = key.writer(REPOSITORY_ID)
    log = forge.hand_off(theft(forge))

    if why:
        refused(forge, log, why, **told)
    else:
        assert taken(forge, log, **told) == theft(forge)
