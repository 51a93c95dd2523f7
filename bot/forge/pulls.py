"""Pull requests: opening, reviews, threads, and merging, at once or by the queue.

https://docs.github.com/rest/pulls
https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
https://docs.github.com/graphql/reference/mutations#enqueuepullrequest
https://docs.github.com/rest/pulls/reviews
https://docs.github.com/graphql/reference/objects#removedfrommergequeueevent
https://docs.github.com/graphql/reference/objects#pullrequestreviewthread
https://docs.github.com/rest/pulls/comments#create-a-reply-for-a-review-comment
"""

import logging
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from pydantic import Field

from bot.forge import payloads
from bot.forge.payloads import Payload, at
from bot.forge.rest import Part, Refused, Unless
from convoy.model.records import Strategy
from convoy.rules.observed import Mergeable

_log: Final = logging.getLogger(__name__)

NO_DRAFTS: Final = "Draft pull requests are not supported"
"""How GitHub's refusal (422) begins, in private repositories of a free plan."""
LATEST: Final = 100
"""How many of the pull requests changed last are listed: one page."""


class _QueueEvent(Payload):
    """The last that happened in the queue; without an actor: it was put in."""

    actor: payloads.Actor | None = None
    group: str = at("beforeCommit", "oid", default="")
    reason: str | None = None


class _Pull(Payload):
    id: str
    head: str = Field(alias="headRefOid")
    queued: bool = Field(default=False, alias="isInMergeQueue")
    commit: str = at("mergeCommit", "oid", default="")
    state: str = Field("UNKNOWN", alias="mergeStateStatus")
    merged: bool = False
    review: str | None = Field(None, alias="reviewDecision")
    events: tuple[_QueueEvent, ...] = at("timelineItems", "nodes", default=())

    @property
    def left(self) -> _QueueEvent:
        """How it left the queue last; empty: it is in it, or never was."""
        return _QueueEvent() if self.queued else next(iter(self.events), _QueueEvent())

    @property
    def dequeued_by(self) -> str:
        """The person who took it out of the queue last; empty: nobody did.

        What the queue takes out itself is taken out by a bot.
        """
        actors = [one.actor for one in self.events if one.actor is not None]
        return next((one.login for one in actors if one.kind == "User"), "")


class _Seen(Payload):
    pull: _Pull | None = at("repository", "pullRequest", default=None)


class PullRequests(Part):
    _has_drafts = True

    async def open(
        self, title: str, body: str, *, head: str, base: str, draft: bool = False
    ) -> int:
        """Open one; where the repository's plan has no drafts, an ordinary one.

        https://docs.github.com/rest/pulls/pulls#create-a-pull-request
        """
        content = {"title": title, "body": body, "head": head, "base": base}
        as_draft = {"draft": True} if draft and self._has_drafts else {}
        url = f"{self._repo}/pulls"
        try:
            made = await self._rest.make(payloads.Told, url, content | as_draft)
        except Refused as refused:
            if not as_draft or NO_DRAFTS not in refused.said:
                raise
            _log.warning("opening ordinary pull requests, not drafts: %s", refused.said)
            self._has_drafts = False
            return await self.open(title, body, head=head, base=base)
        return made.number

    async def of(self, head: str, base: str) -> payloads.Pull | None:
        """Return the newest pull request from `head` into `base`, open or not."""
        head = f"{self._named['owner']}:{head}"
        asked = urlencode({"state": "all", "head": head, "base": base})
        url = f"{self._repo}/pulls?{asked}"
        async for pull in self._rest.each(payloads.Pull, url):
            return pull
        return None

    async def latest(self) -> dict[int, payloads.Pull]:
        """Return the pull requests that were changed last, by number: one request."""
        asked = f"state=all&sort=updated&direction=desc&per_page={LATEST}"
        url = f"{self._repo}/pulls?{asked}"
        found = await self._rest.first(payloads.Pull, url, LATEST)
        return {pull.number: pull for pull in found}

    async def one(self, number: int) -> payloads.Pull:
        return await self._rest.read(payloads.Pull, f"{self._repo}/pulls/{number}")

    async def reviews(self, number: int) -> list[payloads.Reviewed]:
        url = f"{self._repo}/pulls/{number}/reviews?per_page=100"
        return await self._rest.all(payloads.Reviewed, url)

    async def threads(self, number: int) -> tuple[payloads.Thread, ...]:
        """Return the newest threads, 100 at most; none where there is no GraphQL."""
        named = {**self._named, "number": number}
        with Unless(HTTPStatus.NOT_FOUND):
            found = await self._rest.ask(payloads.Threads, "review_threads", named)
            return tuple(thread for thread in found.threads if thread.comments)
        return ()

    async def reply(self, number: int, comment: int, body: str) -> int:
        """Answer in the thread that begins with a comment; return the answer's id."""
        url = f"{self._repo}/pulls/{number}/comments/{comment}/replies"
        return (await self._rest.make(payloads.Comment, url, {"body": body})).id

    async def resolve(self, thread: str) -> None:
        """Resolve a thread by its global id; safe to call twice."""
        await self._rest.change("resolve_thread", {"thread": thread})

    async def mergeable(self, number: int) -> Mergeable:
        try:
            pull = await self._pull(number)
        except Refused:  # a forge without GraphQL
            by_rest = await self.one(number)
            return Mergeable(
                head=by_rest.head.sha,
                state=by_rest.mergeable_state,
                merged=(by_rest.merge_commit_sha or "") if by_rest.merged_at else "",
            )
        return Mergeable(
            head=pull.head,
            state=pull.state.lower(),
            merged=pull.commit if pull.merged else "",
            review=pull.review or "",
            queued=pull.queued,
            dequeued_by=pull.dequeued_by,
            group=pull.left.group,
            reason=pull.left.reason or "",
        )

    async def merge(
        self, number: int, head: str, method: Strategy, title: str, text: str
    ) -> None:
        """Merge a pull request if its branch still stands at `head`.

        Refused with 405 or 409, and the reason, nothing was changed.
        """
        content = {
            "sha": head,
            "merge_method": method,
            "commit_title": title,
            "commit_message": text,
        }
        url = f"{self._repo}/pulls/{number}/merge"
        await self._rest.write("PUT", url, content)

    async def enqueue(self, number: int, head: str) -> None:
        """Put a pull request into the forge's queue if it still stands at `head`."""
        pull = await self._pull(number)
        await self._rest.change("enqueue", {"pull": pull.id, "head": head})

    async def _pull(self, number: int) -> _Pull:
        named = {**self._named, "number": number}
        pull = (await self._rest.ask(_Seen, "pull_request", named)).pull
        if pull is None:
            what = f"pull request {number}"
            raise Refused(what, HTTPStatus.NOT_FOUND, "it does not exist")
        return pull
