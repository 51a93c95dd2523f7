"""Decides who may see which repository's dashboard, and who may press a button."""

from dataclasses import dataclass
from typing import Final, Protocol

from aiohttp import web

from bot.dashboard.dashboard_source import DashboardSource
from bot.dashboard.state_watcher import StateWatcher
from convoy.model.state import Lease, State
from convoy.rules.starting import valid_leases


@dataclass(frozen=True)
class RepositoryView:
    """One repository's dashboard: its source, and the watcher of its log."""

    source: DashboardSource
    watcher: StateWatcher

    @property
    def state(self) -> State:
        """The state when the log was last read."""
        return self.watcher.reading.state

    @property
    def now(self) -> int:
        """The time, unix ms."""
        return self.source.clock()

    @property
    def leases(self) -> tuple[Lease, ...]:
        """The leases that have not run out."""
        return valid_leases(self.state, self.now)


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """The person who asks for a page, as far as the page needs to know."""

    may_write: bool
    login: str = ""
    """The person's account on the forge; empty: nobody signed in."""
    csrf: str = ""
    """The token in each of this person's forms; empty: forms need none."""
    may_sign_in: bool = False
    """Whether the dashboard has a login."""


_VIEW: Final = web.RequestKey("view", RepositoryView)


class AccessPolicy(Protocol):
    """Decides which requests are allowed."""

    async def admit(self, request: web.Request) -> web.StreamResponse | None:
        """Return a response that replaces the page; None: go on with the request.

        Raises:
            HTTPException: the request is not allowed.
        """

    async def view(self, request: web.Request) -> RepositoryView | None:
        """Return the repository that the path is about; None: it is about none.

        Raises:
            HTTPException: the repository is missing, or hidden from this person.
        """

    async def visitor(self, request: web.Request, view: RepositoryView) -> Visitor:
        """Return the visitor."""

    async def writer(self, request: web.Request, view: RepositoryView) -> str:
        """Return who presses a button, after checking their right at this moment.

        Raises:
            HTTPForbidden: they lack the right, or the form is not one of ours.
        """


def attach(request: web.Request, view: RepositoryView) -> None:
    """Attach to a request the repository that it is about."""
    request[_VIEW] = view


def view_of(request: web.Request) -> RepositoryView:
    """Return the repository that a request is about."""
    return request[_VIEW]
