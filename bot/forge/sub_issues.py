"""Sub-issues of an issue, and the issues that block it.

https://docs.github.com/rest/issues/sub-issues
https://docs.github.com/rest/issues/issue-dependencies
"""

from bot.forge.payloads import Issue
from bot.forge.rest import ABSENT, Rest


class SubIssues:
    """A repository's; a forge that has none answers 404, as for an issue without."""

    def __init__(self, rest: Rest, repo: str) -> None:
        self._rest = rest
        self._issues = f"{repo}/issues"

    async def of(self, number: int) -> list[Issue]:
        """Return an issue's sub-issues, closed ones too, in the order of the list."""
        url = f"{self._issues}/{number}/sub_issues?per_page=100"
        found: list[Issue] = []
        with ABSENT:
            found += [each async for each in self._rest.each(Issue, url)]
        return found

    async def blocking(self, issue: Issue) -> list[Issue]:
        """Return the issues that block an issue, closed ones too."""
        known = issue.issue_dependencies_summary
        found: list[Issue] = []
        if known is None or known.total_blocked_by:
            url = f"{self._issues}/{issue.number}/dependencies/blocked_by?per_page=100"
            with ABSENT:
                found += [each async for each in self._rest.each(Issue, url)]
        return found
