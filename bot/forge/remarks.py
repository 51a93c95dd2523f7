"""Comments on issues and pull requests, asked for one by one, by REST.

https://docs.github.com/rest/issues/comments
"""

from http import HTTPStatus
from typing import Final

from bot.forge import payloads
from bot.forge.rest import Refused, Rest

_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


class Remarks:
    """The comments of one repository's issues and pull requests."""

    def __init__(self, rest: Rest, repo: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
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
