"""Who stands before a dashboard: which repository they ask for, and what they may."""

from dataclasses import dataclass
from typing import Final, Protocol

from aiohttp import web

from bot.dashboard.house import House
from bot.dashboard.news import News
from convoy.state import State


@dataclass(frozen=True)
class Sight:
    """One repository's dashboard, as whoever asks may see it."""

    house: House
    news: News

    @property
    def state(self) -> State:
        """What the log said when it was read last."""
        return self.news.reading.state

    @property
    def now(self) -> int:
        """The time, unix ms."""
        return self.house.clock()


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """Who asks for a page, as far as the page is concerned."""

    may_write: bool
    login: str = ""
    """On the forge; empty: nobody signed in."""
    csrf: str = ""
    """What each form of this person's carries; empty: forms need none."""
    may_sign_in: bool = False
    """Whether there is a place to sign in."""


_SIGHT: Final = web.RequestKey("sight", Sight)


class Porch(Protocol):
    """Decides who comes in."""

    async def admit(self, request: web.Request) -> web.StreamResponse | None:
        """Return what is answered instead of what was asked for; None: go in.

        Raises:
            HTTPException: they may not.
        """

    async def sight(self, request: web.Request) -> Sight | None:
        """Return what the path is about; None: no one repository.

        Raises:
            HTTPException: they may not see it, or it is not there.
        """

    async def visitor(self, request: web.Request, sight: Sight) -> Visitor:
        """Return who asks."""

    async def writer(self, request: web.Request, sight: Sight) -> str:
        """Return whose word it is when a button is pressed, asked for right now.

        Raises:
            HTTPForbidden: they may not, or the form is not one of ours.
        """


def bring(request: web.Request, sight: Sight) -> None:
    """Keep with a request what it is about."""
    request[_SIGHT] = sight


def sight_of(request: web.Request) -> Sight:
    """Return what a request is about."""
    return request[_SIGHT]
