"""Lets the forge merge a pull request, at once or through its queue.

https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
https://docs.github.com/graphql/reference/mutations#enqueuepullrequest
"""

from http import HTTPStatus
from typing import Final

from pydantic import Field

from bot.forge.graphql import GraphQl
from bot.forge.payload import Payload
from bot.forge.rest import Refused, Rest
from convoy.model.records import Strategy
from convoy.rules.verdict import Mergeable

_SEEN: Final = """\
query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      id
      headRefOid
      isInMergeQueue
      mergeCommit { oid }
      mergeStateStatus
      merged
      reviewDecision
      timelineItems(
        last: 1
        itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]
      ) {
        nodes {
          ... on RemovedFromMergeQueueEvent { actor { __typename login } }
        }
      }
    }
  }
}"""
_ENQUEUE: Final = """\
mutation ($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $pull, expectedHeadOid: $head}) {
    clientMutationId
  }
}"""


class _Commit(Payload):
    oid: str


class _Actor(Payload):
    kind: str = Field(alias="__typename")
    login: str


class _QueueEvent(Payload):
    """The last that happened in the queue; without an actor: it was put in."""

    actor: _Actor | None = None


class _QueueEvents(Payload):
    nodes: tuple[_QueueEvent, ...] = ()


class _Pull(Payload):
    id: str
    head: str = Field(alias="headRefOid")
    queued: bool = Field(default=False, alias="isInMergeQueue")
    commit: _Commit | None = Field(None, alias="mergeCommit")
    state: str = Field("UNKNOWN", alias="mergeStateStatus")
    merged: bool = False
    review: str | None = Field(None, alias="reviewDecision")
    events: _QueueEvents = Field(default=_QueueEvents(), alias="timelineItems")

    @property
    def dequeued_by(self) -> str:
        """The person who took it out of the queue last; empty: nobody did.

        What the queue takes out itself is taken out by a bot.
        Source: https://docs.github.com/graphql/reference/objects#removedfrommergequeueevent
        """
        actors = [one.actor for one in self.events.nodes if one.actor is not None]
        return next((one.login for one in actors if one.kind == "User"), "")


class _Repository(Payload):
    pull: _Pull | None = Field(None, alias="pullRequest")


class _Data(Payload):
    repository: _Repository | None = None


class _Head(Payload):
    sha: str


class _RestPull(Payload):
    head: _Head
    merged: bool = False
    merge_commit_sha: str | None = None
    mergeable_state: str = "unknown"


class PullMerging:
    """The merges of one repository's pull requests."""

    def __init__(self, rest: Rest, graphql: GraphQl, repository: str) -> None:
        """Send nothing yet; `repository` is `owner/name`."""
        self._rest = rest
        self._graphql = graphql
        self._repository = repository

    async def seen(self, number: int) -> Mergeable:
        """Return whether a pull request is merged, or what keeps it from it."""
        try:
            pull = await self._pull(number)
        except Refused:  # a forge without GraphQL
            return await self._by_rest(number)
        return Mergeable(
            head=pull.head,
            state=pull.state.lower(),
            merged=pull.commit.oid if pull.merged and pull.commit else "",
            review=pull.review or "",
            queued=pull.queued,
            dequeued_by=pull.dequeued_by,
        )

    async def merge(
        self, number: int, head: str, method: Strategy, title: str, text: str
    ) -> None:
        """Merge a pull request if its branch still stands at `head`.

        Raises:
            Refused: 405 or 409, with the reason; nothing was changed.
        """
        content = {
            "sha": head,
            "merge_method": method,
            "commit_title": title,
            "commit_message": text,
        }
        url = f"/repos/{self._repository}/pulls/{number}/merge"
        await self._rest.write("PUT", url, content)

    async def enqueue(self, number: int, head: str) -> None:
        """Put a pull request into the forge's queue if it still stands at `head`.

        Raises:
            Refused: the queue does not take it, with the reason.
        """
        pull = await self._pull(number)
        named = {"pull": pull.id, "head": head}
        await self._graphql.change(Payload, _ENQUEUE, named)

    async def _pull(self, number: int) -> _Pull:
        owner, _, name = self._repository.partition("/")
        named = {"owner": owner, "name": name, "number": number}
        found = await self._graphql.read(_Data, _SEEN, named)
        pull = found.repository.pull if found.repository else None
        if pull is None:
            what = f"the pull request {number}"
            raise Refused(what, HTTPStatus.NOT_FOUND, "there is none")
        return pull

    async def _by_rest(self, number: int) -> Mergeable:
        url = f"/repos/{self._repository}/pulls/{number}"
        pull = await self._rest.read(_RestPull, url)
        return Mergeable(
            head=pull.head.sha,
            state=pull.mergeable_state,
            merged=(pull.merge_commit_sha or "") if pull.merged else "",
        )
