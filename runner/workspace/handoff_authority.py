"""Whose hand-off counts: the keys that may sign the log, as this job is told them.

They are those in the variable BRAT_ALLOWED_SIGNERS, which nobody changes by a push. If
it is empty, they are in `.brat/allowed_signers` at the commit of this very run, which
must be one of the default branch: on any other branch, whoever may push could have
written them.
"""

import json
from pathlib import Path
from typing import Final

from grite import git, outbound, signatures
from grite.errors import BratError, GitFailed
from grite.signatures import SIGNERS_FILE, AllowedSigners, Authority
from runner.inputs.job_inputs import BadInput, Inputs


class NobodySigned(BadInput):
    """Nobody whose word counts here handed this session over; trying again is vain."""


_HEADS: Final = "refs/heads/"
_SET: Final = (
    "set the repository variable BRAT_ALLOWED_SIGNERS to the line of the bot's key, or "
    f"commit it as {SIGNERS_FILE} on the default branch"
)


def authority(inputs: Inputs, repo: Path) -> Authority:
    """Return who may hand off to this job: whose signature, for this repository.

    Args:
        inputs: the job's inputs.
        repo: the signers' file may be fetched into it.

    Raises:
        NobodySigned: nobody is allowed to sign.
    """
    return Authority(inputs.repository_id, _signers(inputs, repo))


def _signers(inputs: Inputs, repo: Path) -> AllowedSigners:
    where = "BRAT_ALLOWED_SIGNERS"
    text = inputs.signers
    if not text.strip():
        text, where = _committed(inputs, repo), SIGNERS_FILE
    try:
        found = signatures.parse_signers(text)
    except BratError as error:
        raise NobodySigned(f"{where}: {error}.") from error
    if not found.signers:
        raise NobodySigned(f"{where} allows no key to sign hand-offs: {_SET}.")
    return found


def _committed(inputs: Inputs, repo: Path) -> str:
    """Return the file on the default branch, at the commit of this run."""
    branch = _default_branch(inputs)
    if inputs.ref != _HEADS + branch or not inputs.head:
        raise NobodySigned(
            f"This run is of {inputs.ref or 'no branch'}, and hand-offs are taken on "
            f"{_HEADS}{branch} alone, where {SIGNERS_FILE} says who may sign them."
        )
    try:
        _git(inputs, repo, "fetch", *_LEAN, "--", inputs.url, inputs.head)
        listed = _git(inputs, repo, "ls-tree", "-z", inputs.head, SIGNERS_FILE)
        if not listed:
            raise NobodySigned(f"Nobody is allowed to sign hand-offs here: {_SET}.")
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


def _default_branch(inputs: Inputs) -> str:
    """Return the default branch as the event that started this run names it."""
    try:
        text = inputs.event.read_text() if inputs.event else ""
        return str(json.loads(text)["repository"]["default_branch"])
    except (OSError, ValueError, LookupError, TypeError):
        raise NobodySigned(
            "GITHUB_EVENT_PATH names no event with the default branch, on which "
            f"{SIGNERS_FILE} would count: "
            "set the variable BRAT_ALLOWED_SIGNERS instead."
        ) from None
