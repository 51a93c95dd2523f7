"""What a commit changes of the files that tell CI what to run."""

from pathlib import Path

import pygit2

from convoy.gate import ci_files, printable
from grite import git


def ci_changes(repository: Path, target: str, commit: str) -> tuple[str, ...]:
    """Return the CI files of `commit` that are not as on the target, in printable form.

    What only the target has changed since does not count: the commit is older there.

    Raises:
        GitFailed: one of them is not a commit in the repository.
    """
    repo = pygit2.Repository(str(repository))
    base = repo.merge_base(target, commit)
    args = ["diff-tree", "-r", "-z", "--root", "--name-only", "--no-renames"]
    said = git.run([*args, str(base or target), commit], cwd=repository).stdout
    paths = [name.decode(errors="surrogateescape") for name in said.split(b"\0")]
    there, here = (repo[each].peel(pygit2.Tree) for each in (target, commit))
    return tuple(
        printable(path)
        for path in ci_files(filter(None, paths))
        if _entry(there, path) != _entry(here, path)
    )


def _entry(tree: pygit2.Tree, path: str) -> tuple[str, int] | None:
    try:
        found = tree[path]
    except KeyError:
        return None
    return str(found.id), found.filemode
