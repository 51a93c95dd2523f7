"""The pull requests in merge queues, as the tests' forge keeps them."""

from typing import Literal

from brat.forge.resources.account_resource import Record

EntryState = Literal["QUEUED", "AWAITING_CHECKS", "MERGEABLE"]


class QueueEntry(Record, frozen=True, kw_only=True):
    """A pull request in the merge queue of its base; its id is the order of coming."""

    repo: int
    base: str
    pull: int
    number: int
    head_sha: str
    """The head that was queued; another one is not."""
    enqueuer: int
    enqueued_at: str
    jump: bool = False
    group_base: str = ""
    """What its group was built on."""
    group_sha: str = ""
    """The commit that is judged and lands; empty: not built yet."""
    mergeable: bool = False
    """Whether that commit is green."""

    @property
    def group_ref(self) -> str:
        """The branch that holds its group.

        https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
        """
        name = f"gh-readonly-queue/{self.base}/pr-{self.number}-{self.group_base}"
        return f"refs/heads/{name}"

    @property
    def state(self) -> EntryState:
        """GitHub's word for where it is."""
        if not self.group_sha:
            return "QUEUED"
        return "MERGEABLE" if self.mergeable else "AWAITING_CHECKS"
