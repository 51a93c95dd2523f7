"""Merging pull requests the way GitHub's button does: merge, squash or rebase.

https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
"""

from dataclasses import dataclass
from typing import Protocol

import pygit2

from brat.forge.resources.account_resource import User
from brat.forge.resources.issue_resource import Issue
from brat.forge.resources.pull_resource import Pull
from brat.forge.resources.repository_resource import MergeMethod, Repository
from brat.forge.storage.forge_state import Forge
from brat.forge.storage.git_storage import Bare
from brat.forge.storage.token_store import Caller
from brat.forge.wire.http_refusals import Refused

MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """How somebody wants a pull request to be merged."""

    method: MergeMethod = "merge"
    title: str | None = None
    message: str | None = None


class RefJudge(Protocol):
    """Rules of repositories: brat's forge has none, the one of its tests GitHub's."""

    def check_merge(
        self, repo: Repository, caller: Caller, pull: Pull, method: MergeMethod, /
    ) -> None:
        """Raise `Refused` if a pull request may not be merged."""

    def merge_state(self, repo: Repository, pull: Pull, /) -> str:
        """Return `clean`, `behind` or `blocked`."""


class Merges:
    """Checks whether a pull request can be merged, and builds the merge commit."""

    def __init__(self, forge: Forge) -> None:
        """Merge in the repositories of `forge`."""
        self._forge = forge
        self.judge: RefJudge | None = None
        self._known: dict[tuple[str, str], bool] = {}

    def mergeable(
        self, repo: Repository, pull: Pull, issue: Issue
    ) -> tuple[bool | None, str]:
        """Say whether a pull request merges cleanly, and GitHub's word for that."""
        if issue.state == "closed":
            return None, "unknown"
        sides = (pull.base_sha, pull.head_sha)
        if sides not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[sides] = _clean(self._forge.bare(repo), *sides)
        if not self._known[sides]:
            return False, "dirty"
        if pull.draft:
            return True, "draft"
        return True, self.judge.merge_state(repo, pull) if self.judge else "clean"

    def check(
        self, repo: Repository, caller: Caller, pull: Pull, method: MergeMethod
    ) -> None:
        """Check that no rule stands against a merge.

        Raises:
            Refused: 405, or 403 for a missing right.
        """
        if self.judge is not None:
            self.judge.check_merge(repo, caller, pull, method)

    def build(
        self, repo: Repository, pull: Pull, options: MergeOptions, actor: User
    ) -> str:
        """Make the commits that merge a pull request, and return the last one.

        No ref is moved.

        Raises:
            Refused: 405: it conflicts.
        """
        bare = self._forge.bare(repo)
        by = signature(actor)
        if options.method == "rebase":
            return _rebased(bare, pull, by)
        tree = _tree(bare, pull)
        title, message = self._words(repo, pull, options)
        text = f"{title}\n\n{message}".strip() + "\n"
        author, parents = by, [pull.base_sha, pull.head_sha]
        if options.method == "squash":
            author = bare.git[pull.head_sha].peel(pygit2.Commit).author
            parents = [pull.base_sha]
        return str(bare.git.create_commit(None, author, by, text, tree, parents))

    def _words(
        self, repo: Repository, pull: Pull, options: MergeOptions
    ) -> tuple[str, str]:
        issue = self._forge.issue_of(pull)
        if options.method == "merge":
            source = f"{repo.owner}/{pull.head}"
            title = f"Merge pull request #{pull.number} from {source}"
            message = issue.title
        else:
            title = f"{issue.title} (#{pull.number})"
            own = self._forge.bare(repo).between(pull.base_sha, pull.head_sha)
            message = "\n\n".join(f"* {commit.message.strip()}" for commit in own)
        return (
            title if options.title is None else options.title,
            message if options.message is None else options.message,
        )


def signature(who: User) -> pygit2.Signature:
    """Sign as an account, now."""
    return pygit2.Signature(who.login, f"{who.id}+{who.login}@users.noreply.localhost")


def _conflict() -> Refused:
    return Refused(405, "Pull Request is not mergeable")


def _clean(bare: Bare, base: str, head: str) -> bool:
    index = bare.git.merge_commits(base, head)
    return index.conflicts is None


def _tree(bare: Bare, pull: Pull) -> pygit2.Oid:
    index = bare.git.merge_commits(pull.base_sha, pull.head_sha)
    if index.conflicts is not None:
        raise _conflict()
    return index.write_tree(bare.git)


def _rebased(bare: Bare, pull: Pull, by: pygit2.Signature) -> str:
    """Put the commits of a pull request, without merges, on top of its base."""
    tip = bare.git[pull.base_sha].peel(pygit2.Commit)
    for commit in bare.between(pull.base_sha, pull.head_sha):
        if len(commit.parents) != 1:
            continue
        index = bare.git.merge_trees(commit.parents[0].tree, tip.tree, commit.tree)
        if index.conflicts is not None:
            raise _conflict()
        made = bare.git.create_commit(
            None,
            commit.author,
            by,
            commit.message,
            index.write_tree(bare.git),
            [tip.id],
        )
        tip = bare.git[made].peel(pygit2.Commit)
    return str(tip.id)
