"""One repository on GitHub: its people, issues and comments, and which one it is.

Writes are never repeated here. If a write's answer is lost, the loop looks for its
result by the action's key before it repeats the action.

A name that a rename or a transfer freed may be taken by another repository, even a
public one. What a bot knows belongs to an id, so the id behind the name is asked for
again before anything is written that the other repository could take.
https://docs.github.com/repositories/creating-and-managing-repositories/renaming-a-repository
https://docs.github.com/rest/issues/comments
https://docs.github.com/graphql/reference/interfaces#comment
https://docs.github.com/actions/concepts/security/github_token
https://docs.github.com/rest/collaborators/collaborators
https://docs.github.com/rest/issues/issues
https://docs.github.com/graphql/reference/objects#issue
https://docs.github.com/rest/reactions/reactions
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, Literal
from urllib.parse import quote, urlencode

import httpx

from bot.forge import payloads
from bot.forge.branch_rules import BranchRules
from bot.forge.checks import JOB_LOGIN, CheckRuns, Ci
from bot.forge.github_actions import TaskRuns
from bot.forge.pace import Pace
from bot.forge.pulls import LATEST, PullRequests
from bot.forge.rest import ABSENT, Part, Refused, Rest, Tokens, Unless
from bot.forge.transport import Precedence, going
from convoy.model import ids
from grite.errors import BratError, Unavailable

WORKFLOW: Final = "brat-task.yml"
Right = Literal["read", "write", "maintain", "admin"]
_RIGHTS: Final = ("read", "write", "maintain", "admin")


class SubIssues(Part):
    """Sub-issues, and what blocks an issue.

    A forge without them answers 404, and its issues have no summary of them.

    https://docs.github.com/rest/issues/sub-issues
    https://docs.github.com/rest/issues/issue-dependencies
    """

    async def of(self, number: int) -> list[payloads.Issue]:
        """Return an issue's sub-issues, closed ones too, in the order of the list."""
        url = f"{self._repo}/issues/{number}/sub_issues?per_page=100"
        return await self._rest.all(payloads.Issue, url)

    async def add(self, parent: int, issue: payloads.Issue) -> None:
        """Put an issue below another one; safe to repeat.

        Refused where the parent has 100, or the issue another parent.
        """
        known = {issue.id}
        with ABSENT:
            known = {each.id for each in await self.of(parent)}
        if issue.id not in known:
            url = f"{self._repo}/issues/{parent}/sub_issues"
            await self._rest.write("POST", url, {"sub_issue_id": issue.id})

    async def blocking(self, issue: payloads.Issue) -> list[payloads.Issue]:
        """Return the issues that block an issue, closed ones too."""
        if issue.blockers == 0:
            return []
        url = f"{self._repo}/issues/{issue.number}/dependencies/blocked_by"
        absent = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
        with Unless(*(absent if issue.blockers is None else ())):
            return await self._rest.all(payloads.Issue, f"{url}?per_page=100")
        return []


class GitHub(Part):
    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        api_url: str,
        repository: str,
        token: str | Tokens,
        pace: Pace | None = None,
        workflow: str = WORKFLOW,
    ) -> None:
        self.repository = repository
        self.rest = rest = Rest(client, api_url=api_url, token=token, pace=pace)
        super().__init__(rest, repository)
        self.check_runs = CheckRuns(rest, repository)
        self.ci = Ci(rest, repository, workflow)
        self.pulls = PullRequests(rest, repository)
        self.sub_issues = SubIssues(rest, repository)
        self.runs = TaskRuns(rest, repository, workflow)
        self.branch_rules = BranchRules(rest, repository)

    async def login(self) -> str:
        """Return the token's account.

        A workflow run's token may not ask for its account: it belongs to the run alone.
        """
        with Unless(HTTPStatus.FORBIDDEN):
            return (await self._rest.read(payloads.Account, "/user")).login
        return JOB_LOGIN

    async def described(self) -> payloads.Repository:
        return await self._rest.read(payloads.Repository, self._repo)

    async def number(self) -> int:
        found = await self.described()
        if found.id <= 0:
            what = f"GET /repos/{found.full_name}"
            raise Unavailable(f"{what}: invalid GitHub response: no id")
        return found.id

    async def confirm(self, number: int) -> None:
        """Ask the forge whether the name still stands for the repository of this id.

        Raises:
            AnotherRepository: it stands for another one; nothing may be written there.
        """
        with going(Precedence.ANSWER):  # no answer leaves before it is known
            found = await self.number()
        if found != number:
            raise AnotherRepository(
                f"{self.repository} is now a different repository (id {found}, not "
                f"{number}), so brat will not write to it. If you renamed yours, set "
                "its new name. To serve the different one, use a separate folder."
            )

    async def may(self, login: str, right: Right = "write") -> bool:
        """Whether `login` has at least this right on the repository now.

        A custom role counts as the role on which it is based.
        """
        url = f"{self._repo}/collaborators/{quote(login, safe='')}/permission"
        enough = {*_RIGHTS[_RIGHTS.index(right) :]}
        with Unless(HTTPStatus.NOT_FOUND):
            answer = await self._rest.read(payloads.Permission, url)
            roles = {answer.permission, answer.role_name}
            return bool(roles & enough) or (answer.maintains and right != "admin")
        return False

    async def open_issue(
        self, title: str, body: str, labels: tuple[str, ...] = ()
    ) -> int:
        """Open an issue with its labels, and return its number; a repeat opens another.

        A forge drops the labels of those who may not set any.
        """
        content: dict[str, object] = {"title": title, "body": body}
        if labels:
            content["labels"] = labels
        url = f"{self._repo}/issues"
        return (await self._rest.make(payloads.Told, url, content)).number

    async def issue_marked(self, key: str, author: str, since: datetime) -> int | None:
        """Return the issue by `author` with the key's marker, updated after `since`."""
        async for issue in self._issues(state="all", since=_utc(since)):
            if issue.is_by(author) and key in ids.keys_in(issue.body or ""):
                return issue.number
        return None

    async def issue(self, number: int) -> payloads.Issue:
        """Return an issue; one that was transferred is refused with status 410.

        The forge shows the issue that it has become in another repository.
        """
        url = f"{self._repo}/issues/{number}"
        found = await self._rest.read(payloads.Issue, url)
        home = found.repository_url.casefold().partition("/repos/")[2]
        is_here = home in ("", self.repository.casefold()) or (
            home == (await self.described()).full_name.casefold()
        )
        if found.number != number or not is_here:
            raise Refused(f"GET {url}", HTTPStatus.GONE, "the issue was transferred")
        return found

    async def issues(
        self, *, pulls: bool = False, **asked: str
    ) -> list[payloads.Issue]:
        """Return the open issues, or pull requests, that fit: `labels`, `creator`."""
        found = self._issues(state="open", **asked)
        return [each async for each in found if (each.pull_request is None) != pulls]

    async def labelled(self, label: str) -> list[int]:
        """Return the issues and pull requests, open or not, that carry `label`."""
        return [each.number async for each in self._issues(state="all", labels=label)]

    async def labelling(self, number: int, label: str) -> payloads.IssueEvent | None:
        last = None
        async for event in self._events(number):
            if event.event == "labeled" and event.about == label and event.actor:
                last = event
        return last

    async def issues_since(self, moment: datetime) -> list[payloads.Issue]:
        """Return the open issues (no pull requests) that changed since `moment`."""
        since = _utc(moment)
        return await self.issues(since=since, sort="updated", direction="asc")

    async def latest_issues(self) -> dict[int, payloads.Issue]:
        """Return the issues that were changed last, by number: one request."""
        asked = f"state=all&sort=updated&direction=desc&per_page={LATEST}"
        url = f"{self._repo}/issues?{asked}"
        found = await self._rest.first(payloads.Issue, url, LATEST)
        return {issue.number: issue for issue in found}

    async def last_labellings(
        self, number: int, labels: set[str]
    ) -> dict[str, payloads.IssueEvent]:
        """Return the last event that set or took off each of these labels."""
        return {
            event.about: event
            async for event in self._events(number)
            if event.event in ("labeled", "unlabeled") and event.about in labels
        }

    async def assignment(self, number: int, login: str) -> payloads.IssueEvent | None:
        """Return the last event that assigned `login` to the issue; None: none is."""
        last = None
        async for event in self._events(number):
            to = event.assignee.login if event.assignee else None
            if event.event == "assigned" and to == login:
                last = event
        return last

    def _issues(self, **asked: str) -> AsyncIterator[payloads.Issue]:
        named = urlencode({**asked, "per_page": 100}, quote_via=quote)
        return self._rest.each(payloads.Issue, f"{self._repo}/issues?{named}")

    def _events(self, number: int) -> AsyncIterator[payloads.IssueEvent]:
        url = f"{self._repo}/issues/{number}/events?per_page=100"
        return self._rest.each(payloads.IssueEvent, url)

    async def text_edited_at(self, number: int) -> datetime | None:
        """Return when an issue's text was last edited; None: never.

        Only GraphQL tells this; a forge without it raises `Refused` or `Unavailable`.
        """
        named = {**self._named, "number": number}
        answer = await self._rest.ask(payloads.Edited, "issue_edited", named)
        return answer.last_edited_at

    async def is_public(self) -> bool:
        return not (await self.described()).private

    async def relabel(self, number: int, add: set[str], remove: set[str]) -> None:
        """Add and remove labels; safe to call twice."""
        url = f"{self._repo}/issues/{number}/labels"
        if add:
            await self._rest.write("POST", url, {"labels": sorted(add)})
        for name in sorted(remove):
            with Unless(HTTPStatus.NOT_FOUND):
                await self._rest.write("DELETE", f"{url}/{quote(name, safe='')}")

    async def close_issue(self, number: int, reason: str) -> None:
        """Close an issue as `completed` or `not_planned`; safe to call twice."""
        body = {"state": "closed", "state_reason": reason}
        await self._rest.write("PATCH", f"{self._repo}/issues/{number}", body)

    async def say(self, number: int, body: str) -> int:
        """Comment on an issue and return the comment's id; a repeat comments again."""
        url = f"{self._repo}/issues/{number}/comments"
        return (await self._rest.make(payloads.Comment, url, {"body": body})).id

    async def said(self, number: int, key: str, author: str) -> payloads.Comment | None:
        async for comment in self.said_by(author, number):
            if key in ids.keys_in(comment.body or ""):
                return comment
        return None

    async def said_by(
        self, author: str, number: int
    ) -> AsyncIterator[payloads.Comment]:
        """Give an author's comments on an issue or pull request, the oldest first."""
        url = f"{self._repo}/issues/{number}/comments?per_page=100"
        async for comment in self._rest.each(payloads.Comment, url):
            if comment.is_by(author):
                yield comment

    async def remark(self, comment: int) -> payloads.Remarked | None:
        with ABSENT:
            url = f"{self._repo}/issues/comments/{comment}"
            return await self._rest.read(payloads.Remarked, url)
        return None

    async def is_mailed(self, node: str) -> bool:
        """Whether a comment or review was sent by mail; only GraphQL tells it.

        A forge without GraphQL does not know, and is taken for one without mail.
        Refused with status 410: the text is gone.
        """
        with Unless(HTTPStatus.NOT_FOUND):
            named = {"id": node}
            found = await self._rest.ask(payloads.Mailed, "mailed", named)
            return found.by_mail
        return False

    async def remarks_since(self, moment: datetime) -> list[payloads.Remarked]:
        asked = f"since={_utc(moment)}&sort=updated&direction=asc&per_page=100"
        url = f"{self._repo}/issues/comments?{asked}"
        return await self._rest.all(payloads.Remarked, url)

    async def comment(self, comment: int) -> str | None:
        with Unless(HTTPStatus.NOT_FOUND):
            url = f"{self._repo}/issues/comments/{comment}"
            return (await self._rest.read(payloads.Comment, url)).body or ""
        return None

    async def edit_comment(self, comment: int, body: str) -> None:
        """Replace a comment's text; safe to call twice."""
        url = f"{self._repo}/issues/comments/{comment}"
        await self._rest.write("PATCH", url, {"body": body})

    async def react(self, comment: int, reaction: str) -> None:
        """React to a comment, if it is still there; safe to call twice."""
        with Unless(HTTPStatus.NOT_FOUND):
            url = f"{self._repo}/issues/comments/{comment}/reactions"
            await self._rest.write("POST", url, {"content": reaction})


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class AnotherRepository(BratError):
    """The name now stands for another repository than the one that is served."""
