"""The hand-off: this attempt's `task.started`, read from one commit of the log.

It counts if it is signed by a key that may sign the log. Those are in the variable
BRAT_ALLOWED_SIGNERS, which nobody changes by a push. If it is empty, they are in
`.brat/allowed_signers` at the commit of this very run, which must be one of the default
branch: on any other branch, whoever may push could have written them. Where neither is
there, the log is open: it counts as far as those who may push are trusted.
"""

import shutil
from pathlib import Path
from typing import Final

import msgspec

from convoy.events.session_events import TaskStarted
from convoy.log import VERSION, event_json
from convoy.model import ids
from grite import git, outbound, signatures
from grite.chunk import read_commit
from grite.errors import BratError, Corrupt, GitFailed
from grite.event import CommentAdded, Event
from grite.signatures import ENTRY, SIGNERS_FILE, Authority
from runner.inputs.job_inputs import BadInput, Inputs, default_branch
from runner.workspace.workspace import cannot_fetch, create_bare, fetch


class NobodySigned(BadInput):
    """Nobody whose word counts here handed this session over; trying again is vain."""


_HEADS: Final = "refs/heads/"
_SET: Final = (
    "set the repository variable BRAT_ALLOWED_SIGNERS to the bot's allowed-signers "
    f"line, or commit that line as {SIGNERS_FILE} on the default branch"
)


def _authority(inputs: Inputs, repo: Path) -> Authority:
    """Return who may hand off to this job; the file may be fetched into `repo`."""
    where = "BRAT_ALLOWED_SIGNERS"
    text = inputs.signers
    if not text.strip():
        committed, where = _committed(inputs, repo), SIGNERS_FILE
        if committed is None:
            anybody = signatures.open_signer(inputs.repository_id)
            return Authority(inputs.repository_id, anybody)
        text = committed
    try:
        found = signatures.parse_signers(text)
    except BratError as error:
        raise NobodySigned(f"{where}: {error}.") from error
    if not found.signers:
        raise NobodySigned(f"{where} does not allow any key to sign hand-offs: {_SET}.")
    return Authority(inputs.repository_id, found)


def _committed(inputs: Inputs, repo: Path) -> str | None:
    """Return the file on the default branch, at this run's commit; None: no file.

    Then nobody made a key for this repository, and its log is open. The event that
    started this run names that branch.
    """
    branch = default_branch(inputs)
    if not branch:
        raise NobodySigned(
            "The event in GITHUB_EVENT_PATH does not name the default branch, so "
            f"{SIGNERS_FILE} cannot be read: set the variable BRAT_ALLOWED_SIGNERS."
        )
    if inputs.ref != _HEADS + branch or not inputs.head:
        raise NobodySigned(
            f"This run is for {inputs.ref or 'no branch'}, but hand-offs are accepted "
            f"only on {_HEADS}{branch}, where {SIGNERS_FILE} lists who may sign them."
        )
    try:
        _git(inputs, repo, "fetch", *_LEAN, "--", inputs.url, inputs.head)
        listed = _git(inputs, repo, "ls-tree", "-z", inputs.head, SIGNERS_FILE)
        if not listed:
            return None
        return _git(inputs, repo, "cat-file", "blob", f"{inputs.head}:{SIGNERS_FILE}")
    except GitFailed as error:
        raise BadInput(
            f"Cannot read {SIGNERS_FILE} at {inputs.head}: {error}."
        ) from error


_LEAN: Final = (
    *("--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1"),
    "--filter=blob:none",  # the one file is fetched when it is read
)


def _git(inputs: Inputs, repo: Path, *args: str) -> str:
    env = outbound.here().for_git()
    if inputs.token:
        env |= git.authorization(inputs.token)
    done = git.run(args, cwd=repo, env=env)
    return done.stdout[: signatures.MOST_SIGNERS_BYTES].decode(errors="replace")


SKEW_S: Final = 300
"""How far the bot's clock and this machine's may differ."""
_decoder: Final = msgspec.json.Decoder(TaskStarted)


def handed_off(inputs: Inputs, scratch: Path, now: int) -> TaskStarted:
    """Read the log's commit and return the attempt that it hands to this session.

    A copy of the log lies in `scratch` meanwhile; `now` is unix ms.

    Raises `BadInput`: nobody who may signed it, or it is too old, or something else.
    """

    def check_signed(raw: bytes) -> None:
        if fault := authority.fault(raw, ENTRY):
            raise NobodySigned(f"Commit {inputs.log} is not this job's task: {fault}.")

    log = copy = scratch / "log.git"
    try:
        if inputs.forge and inputs.signers.strip():  # else signers are fetched into it
            log = inputs.forge
        else:
            create_bare(copy, "log")
            fetch(inputs, copy, inputs.log)
        authority = _authority(inputs, log)
        events = read_commit(log, inputs.log, check_signed)
    except GitFailed as error:
        raise cannot_fetch(inputs, (inputs.log,), error) from error
    except Corrupt as error:
        raise BadInput(
            f"BRAT_LOG names a commit that is not a hand-off: {error}."
        ) from error
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    for event in events:
        started = _started(event)
        if started and inputs.session == ids.session_name(
            started.convoy, started.task, started.attempt
        ):
            # Later the session would be over: it may be an old hand-off, replayed.
            longest_s = started.engine.timeout_s + started.limits.setup_s + SKEW_S
            late_s = (now - event.ts) // 1000 - longest_s
            if late_s > 0:
                raise BadInput(
                    f"The hand-off of this attempt, commit {inputs.log} of the log, "
                    f"expired {late_s} s ago."
                )
            return started
    raise BadInput(
        f"Commit {inputs.log} of the log does not start session {inputs.session}."
    )


def _started(event: Event) -> TaskStarted | None:
    if not isinstance(event.kind, CommentAdded):
        return None
    try:
        started = _decoder.decode(event_json(event.kind.body) or "")
    except (msgspec.DecodeError, RecursionError):
        return None  # a comment, or another event
    is_there = event.issue == ids.issue_of(started.convoy, started.task)
    return started if is_there and started.v == VERSION else None
