"""What an agent committed and its HEAD does not hold: on other branches, or stashed.

It is no part of the work, and is bundled beside it. The agent's repository may be a
trap.
"""

import os
from pathlib import Path

from convoy import gate
from convoy.model.records import Gate
from convoy.model.session_result import SIDE_REF
from convoy.text.redaction import Redaction
from grite import git
from grite.errors import BratError, Unavailable
from runner.box.surroundings import left_in
from runner.workspace.workspace import (
    Workspace,
    has_foreign_objects,
    point_ref,
    ref_value,
)

BUNDLE_LIMIT = 80_000_000
"""Bytes; a result over 100 MB is refused unread."""
PATCH_BYTES = 10_000_000
"""How much of a patch is searched for secrets; no gate lets a longer patch pass.

As much is kept of work over a limit: its smallest files.
"""
FETCH_S = 20.0
"""For each look into the agent's repository."""
_REFS_MOST = 20
_MORE_REFS = "packed-refs", "reftable", "refs/stash"
_AS_IS = "--upload-pack=git-upload-pack --strict"
"""Else git looks for another repository first, in the agent's and beside it.
https://git-scm.com/docs/git-upload-pack
"""
_LOG = ("log", "--format=%H", "-p", "--text", "-m", "--no-renames", "--no-textconv")


def agents_repository(workspace: Workspace) -> Path | None:
    """Return the agent's git directory, if it is one."""
    theirs = workspace.folder / ".git"
    head = theirs / "HEAD"
    is_odd = theirs.is_symlink() or head.is_symlink() or not head.is_file()
    return None if is_odd else theirs


def fetch(workspace: Workspace, theirs: Path, *specs: str) -> None:
    """Fetch the agent's objects, checked; raises as `git.run`."""
    asked = ("-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", _AS_IS)
    source = ("--no-write-fetch-head", "--", str(theirs), *specs)
    workspace.git(*asked, *source, most_s=FETCH_S)


def side_branches(workspace: Workspace) -> list[str]:
    """Return the refs of the agent's commits that the work does not hold."""
    theirs = agents_repository(workspace)
    if theirs is None or _has_no_refs(workspace, theirs) or has_foreign_objects(theirs):
        return []
    asked = (
        "ls-remote",
        _AS_IS,
        "--",
        str(theirs),
        "HEAD",
        "refs/heads/*",
        "refs/stash",
    )
    try:
        told = workspace.git(*asked, check=False, most_s=FETCH_S)
    except Unavailable:
        return []
    listed = git.lines(told.stdout)[:_REFS_MOST]
    pairs = [line.split("\t") for line in listed]
    seen = {workspace.base, *(at for at, ref in pairs if ref == "HEAD")}
    new = [(at, ref) for at, ref in pairs if at not in seen]
    has = ("cat-file", "-e")
    return [ref for at, ref in new if workspace.git(*has, at, check=False).status]


def bundled_beside(
    workspace: Workspace, work: str | None, rules: Gate, known: Redaction
) -> Path | None:
    """Return a bundle of the work and of what is beside it; None: there is no need.

    Nor is there one of what may show a secret. All that is beside it are the parents of
    one commit. It never raises for what the agent did.
    """
    theirs, refs = agents_repository(workspace), side_branches(workspace)
    specs = [f"+{ref}:refs/brat/sides/{number}" for number, ref in enumerate(refs)]
    if theirs is None or not specs:
        return None
    new = SIDE_REF, f"^{workspace.base}"
    patch, bundle = (workspace.store / f"beside.{end}" for end in ("patch", "bundle"))
    try:
        fetch(workspace, theirs, *specs)
        tips = [ref_value(workspace.store, each.partition(":")[2]) for each in specs]
        parents = [word for tip in tips for word in ("-p", tip)]
        made = ("commit-tree", f"{tips[0]}^{{tree}}", *parents, "-m", "Beside the work")
        commit = workspace.git(*made).stdout.decode().strip()
        point_ref(workspace.store, SIDE_REF, commit)
        workspace.git(*_LOG, f"--output={patch}", *new)
        is_fit = patch.stat().st_size <= PATCH_BYTES
        if not is_fit or gate.leaks("The patch", patch.read_bytes(), rules, known):
            return None
        heads = ("HEAD", *new) if work else new
        workspace.git("bundle", "create", "--quiet", str(bundle), *heads)
        return bundle if bundle.stat().st_size <= BUNDLE_LIMIT else None
    except (BratError, OSError):
        return None


def _has_no_refs(workspace: Workspace, theirs: Path) -> bool:
    """Whether the agent's repository is sure to have none that was not checked out.

    Most agents commit nothing, and git takes two processes to say so.
    """
    if any(os.path.lexists(theirs / each) for each in _MORE_REFS):
        return False
    at = theirs / "refs/heads"
    for part in workspace.branch.split("/"):
        if at.is_symlink() or not at.is_dir() or os.listdir(at) != [part]:  # noqa: PTH208
            return False
        at /= part
    return left_in(theirs, workspace.ref).strip() == workspace.base
