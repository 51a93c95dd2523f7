"""REST: a pull request is merged by the forge, by one of GitHub's three methods.

https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pygit2

from brat.forge.resources.account_resource import MergeMethod, Repository, User
from brat.forge.resources.issue_resource import Pull
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Answer, Body, Call, Route, pull_of
from brat.forge.service.renderer import signature
from brat.forge.storage.forge_state import Caller, Forge
from brat.forge.storage.git_storage import Bare, Move


@runtime_checkable
class MergeJudge(Protocol):
    """Rules that stand against merges."""

    def check_merge(
        self, repo: Repository, caller: Caller, pull: Pull, method: MergeMethod, /
    ) -> None:
        """Raise `Refused` if a pull request may not be merged."""


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """How somebody wants a pull request to be merged."""

    method: MergeMethod = "merge"
    title: str | None = None
    message: str | None = None


def build(
    forge: Forge, repo: Repository, pull: Pull, options: MergeOptions, actor: User
) -> str:
    """Make the commits that merge a pull request, and return the last one.

    No ref is moved.

    Raises:
        Refused: 405: it conflicts.
    """
    bare = forge.bare(repo)
    by = signature(actor)
    if options.method == "rebase":
        return _rebased(bare, pull, by)
    tree = _tree(bare, pull)
    title, message = _words(forge, repo, pull, options)
    text = f"{title}\n\n{message}".strip() + "\n"
    author, parents = by, [pull.base_sha, pull.head_sha]
    if options.method == "squash":
        author = bare.git[pull.head_sha].peel(pygit2.Commit).author
        parents = [pull.base_sha]
    return str(bare.git.create_commit(None, author, by, text, tree, parents))


def _words(
    forge: Forge, repo: Repository, pull: Pull, options: MergeOptions
) -> tuple[str, str]:
    issue = forge.issue_of(pull)
    if options.method == "merge":
        source = f"{repo.owner}/{pull.head}"
        title = f"Merge pull request #{pull.number} from {source}"
        message = issue.title
    else:
        title = f"{issue.title} (#{pull.number})"
        own = forge.bare(repo).between(pull.base_sha, pull.head_sha)
        message = "\n\n".join(f"* {commit.message.strip()}" for commit in own)
    return (
        title if options.title is None else options.title,
        message if options.message is None else options.message,
    )


def _conflict() -> Refused:
    return Refused(405, "Pull Request is not mergeable")


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


class MergeAsked(Body):
    """The body of `PUT pulls/{number}/merge`."""

    sha: str | None = None
    merge_method: MergeMethod = "merge"
    commit_title: str | None = None
    commit_message: str | None = None


async def merge(call: Call) -> Answer:
    """Merge a pull request; with `sha` only if that is still its head."""
    asked = call.body(MergeAsked)
    async with call.service.lock(call.repo):
        pull = pull_of(call)
        _allowed(call, pull, asked)
        options = MergeOptions(
            asked.merge_method, asked.commit_title, asked.commit_message
        )
        made = build(call.service.forge, call.repo, pull, options, call.user)
        move = Move(f"refs/heads/{pull.base}", pull.base_sha, made)
        call.bare.move(move.ref, made)
        with call.store.change():
            signed = asked.merge_method != "rebase"
            call.service.pushes.merged(call.repo, call.user, pull, made, signed=signed)
            call.service.pushes.settle(call.repo, call.user, [move])
    said = "Pull Request successfully merged"
    return Answer({"sha": made, "merged": True, "message": said})


def _allowed(call: Call, pull: Pull, asked: MergeAsked) -> None:
    issue = call.service.forge.issue_of(pull)
    if issue.state == "closed" or pull.draft:
        raise Refused(405, "Pull Request is not mergeable")
    if asked.sha is not None and asked.sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    judge: object = call.service.merges.judge
    if isinstance(judge, MergeJudge):
        caller = Caller(call.user, call.token)
        judge.check_merge(call.repo, caller, pull, asked.merge_method)


async def is_merged(call: Call) -> Answer:
    """`GET pulls/{number}/merge`: 204 if it is, else 404."""
    if pull_of(call).merged_at is None:
        raise not_found()
    return Answer(status=204)


_MERGE = r"/repos/{owner}/{repo}/pulls/{number:\d+}/merge"
ROUTES = (
    Route("GET", _MERGE, is_merged),
    Route("PUT", _MERGE, merge, "write"),
)
