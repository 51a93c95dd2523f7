"""A merge of two commits as git leaves it, with its conflict markers in the files.

An agent resolves it; the labels of the markers are the two commits, so that whatever is
left over of them is found again.
https://git-scm.com/docs/git-merge-tree
"""

from pathlib import Path

import pygit2

from bot.repository.attributed_merge import merged


def left_over(repository: Path, merge: str, work: str) -> tuple[str, ...]:
    """Return the files of `work` in which markers of the merge are left.

    Args:
        repository: bare.
        merge: the commit with the markers; its parents are the merged commits.
        work: what was made of it.

    Raises:
        GitFailed: it cannot be read.
        Unavailable: it takes too long.
    """
    repo = pygit2.Repository(str(repository))
    ours, theirs = (str(p) for p in repo[merge].peel(pygit2.Commit).parent_ids)
    marks = (f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode())
    tree = repo[work].peel(pygit2.Commit).tree
    return tuple(
        path
        for path in merged(repository, ours, theirs).paths
        if any(line.startswith(marks) for line in _lines(tree, path))
    )


def _lines(tree: pygit2.Tree, path: str) -> list[bytes]:
    try:
        found = tree[path]
    except KeyError:
        return []
    return found.data.splitlines() if isinstance(found, pygit2.Blob) else []
