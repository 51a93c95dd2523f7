"""How landed work comes into the person's checkout: the command to type, if any.

The command never makes a merge: it moves the branch forward, or puts the person's own
commits on top of what has landed. Nothing here writes to the checkout.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pygit2

from brat.repository import registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.registration import Registration
from grite import git
from grite.errors import Unavailable


@dataclass(frozen=True)
class Apart:
    """What the checkout's branch and the forge's have that the other has not."""

    landed: bool
    """Whether commits have landed that the checkout lacks."""
    own: bool
    """Whether the checkout has commits that the forge lacks."""


def apart(checkout: Checkout, known: Registration) -> Apart:
    """Compare the checkout's branch with the forge's."""
    bare = registrations.bare_path(checkout.folder, known)
    branch = f"refs/heads/{known.branch}"
    own, landed = tip_of(checkout.top, branch), tip_of(bare, branch)
    if own is None or landed is None or own == landed:
        return Apart(landed=landed is not None and own != landed, own=False)
    return Apart(
        landed=not _holds(checkout.top, own, landed), own=not _holds(bare, landed, own)
    )


def landed_line(checkout: Checkout, known: Registration) -> str:
    """Return the command that brings the landed work into the checkout.

    Where the person has another branch checked out, it moves the branch alone.
    """
    bare = registrations.bare_path(checkout.folder, known)
    inside = bare.is_relative_to(checkout.top)
    where = shlex.quote(str(bare.relative_to(checkout.top) if inside else bare))
    is_on, name = _is_on(checkout.top, known.branch), shlex.quote(known.branch)
    if apart(checkout, known).own:
        switch = "" if is_on else f"git switch {name} && "
        return f"{switch}git pull --rebase {where} {name}"
    if not is_on:
        both = shlex.quote(f"{known.branch}:{known.branch}")
        return f"git fetch {where} {both}"
    return f"git pull --ff-only {where} {name}"


def in_its_way(checkout: Checkout, known: Registration) -> tuple[str, ...]:
    """Return the changed files that git's part of the command would refuse to touch."""
    on = _is_on(checkout.top, known.branch)
    own = apart(checkout, known).own
    changed = checkout.changed_files() if on or own else ()
    if own or not changed:
        return changed
    bare = registrations.bare_path(checkout.folder, known)
    branch = f"refs/heads/{known.branch}"
    tips = tip_of(checkout.top, branch) or branch, branch
    shown = git.run(["diff", "--name-only", "-z", *tips, "--"], cwd=bare).stdout
    return tuple(sorted({*shown.decode(errors="replace").split("\0")} & {*changed}))


def tip_of(where: Path, branch: str) -> str | None:
    """Return the commit of a branch, by its full name; None: there is no such branch.

    Raises:
        Unavailable: there is no such repository.
    """
    found = _opened(where).references.get(branch)
    return None if found is None else str(found.resolve().target)


def _holds(where: Path, tip: str, commit: str) -> bool:
    """Whether a repository has a commit, and at a tip or below it."""
    repository = _opened(where)
    return tip == commit or (
        commit in repository and repository.descendant_of(tip, commit)
    )


def _opened(where: Path) -> pygit2.Repository:
    try:
        return pygit2.Repository(str(where))
    except pygit2.GitError as error:
        raise Unavailable(f"{where} is no repository any more: {error}") from error


def branch_of(top: Path) -> str:
    """Return the branch that is checked out; empty: none is."""
    head = _opened(top).lookup_reference("HEAD").target
    return head.removeprefix("refs/heads/") if isinstance(head, str) else ""


def _is_on(top: Path, name: str) -> bool:
    return branch_of(top) == name
