"""Pull requests and their reviews, by REST.

https://docs.github.com/rest/pulls
"""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from bot.forge import payloads
from bot.forge.rest import Refused, Rest

LATEST: Final = 100
"""How many of the pull requests changed last are listed: one page."""


class PullRequests:
    """The pull requests of one repository."""

    def __init__(self, rest: Rest, repository: str) -> None:
        """Send nothing yet; `repository` is `owner/name`."""
        self._rest = rest
        self._repository = repository
        self._repo = f"/repos/{repository}"

    async def open(self, title: str, body: str, *, head: str, base: str) -> int:
        """Open a pull request and return its number."""
        content = {"title": title, "body": body, "head": head, "base": base}
        url = f"{self._repo}/pulls"
        return (await self._rest.make(payloads.Numbered, url, content)).number

    async def of(self, head: str, base: str) -> payloads.Pull | None:
        """Return the newest pull request from `head` into `base`, open or not."""
        owner = self._repository.split("/", maxsplit=1)[0]
        asked = urlencode({"state": "all", "head": f"{owner}:{head}", "base": base})
        url = f"{self._repo}/pulls?{asked}"
        async for pull in self._rest.each(payloads.Pull, url):
            return pull
        return None

    async def latest(self) -> dict[int, payloads.Pull]:
        """Return the pull requests that were changed last, by number: one request.

        Source: https://docs.github.com/rest/pulls/pulls
        """
        listed = f"state=all&sort=updated&direction=desc&per_page={LATEST}"
        found: dict[int, payloads.Pull] = {}
        async for pull in self._rest.each(
            payloads.Pull, f"{self._repo}/pulls?{listed}"
        ):
            found[pull.number] = pull
            if len(found) == LATEST:
                break
        return found

    async def one(self, number: int) -> payloads.Pull:
        """Return a pull request."""
        return await self._rest.read(payloads.Pull, f"{self._repo}/pulls/{number}")

    async def reviews(self, number: int) -> list[payloads.Reviewed]:
        """Return a pull request's reviews, oldest first."""
        url = f"{self._repo}/pulls/{number}/reviews?per_page=100"
        return [review async for review in self._rest.each(payloads.Reviewed, url)]

    async def review_lines(self, number: int, review: int) -> list[payloads.Line]:
        """Return a review's comments on lines of the change, in order.

        Source: https://docs.github.com/rest/pulls/reviews
        """
        url = f"{self._repo}/pulls/{number}/reviews/{review}/comments?per_page=100"
        try:
            return [line async for line in self._rest.each(payloads.Line, url)]
        except Refused as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return []
            raise
