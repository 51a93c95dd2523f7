"""Comments on issues and pull requests, asked for one by one.

https://docs.github.com/rest/issues/comments
"""

from http import HTTPStatus
from typing import Final

from bot.forge import payloads
from bot.forge.graphql import GraphQl
from bot.forge.rest import Refused, Rest

_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_MAILED: Final = """\
query ($id: ID!) {
  node(id: $id) {
    ... on IssueComment { createdViaEmail }
    ... on PullRequestReview { createdViaEmail }
  }
}"""


class Remarks:
    """The comments of one repository's issues and pull requests."""

    def __init__(self, rest: Rest, graphql: GraphQl, repo: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._graphql = graphql
        self._repo = repo

    async def one(self, comment: int) -> payloads.Remarked | None:
        """Return a comment; None if it is gone."""
        url = f"{self._repo}/issues/comments/{comment}"
        try:
            return await self._rest.read(payloads.Remarked, url)
        except Refused as refused:
            if refused.status in _GONE:
                return None
            raise

    async def last_by(self, author: str, number: int) -> str:
        """Return the text of an account's newest comment on an issue, or nothing."""
        url = f"{self._repo}/issues/{number}/comments?per_page=100"
        last = ""
        async for comment in self._rest.each(payloads.Comment, url):
            if comment.user is not None and comment.user.login == author:
                last = comment.body or ""
        return last

    async def is_mailed(self, node: str) -> bool:
        """Whether a comment or review was sent by mail; only GraphQL tells it.

        A forge without GraphQL does not know, and is taken for one without mail.
        Source: https://docs.github.com/graphql/reference/interfaces#comment

        Args:
            node: its `node_id`.

        Raises:
            Unavailable: the forge did not answer.
            Refused: it does not say; with status 410, the text is gone.
        """
        try:
            named = {"id": node}
            found = await self._graphql.read(payloads.Mailed, _MAILED, named)
        except Refused as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return False
            raise
        return found.node.created_via_email
