"""The dashboard of a hosted bot: every repository it serves, for who may see it.

Public repositories are for everybody; private ones, and every button, for people whom
the forge lets in. The forge is asked about a look at most once a minute, and about
each button when it is pressed.
"""

import asyncio
import hmac
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from aiohttp import web
from msgspec import structs

from bot.clock import wall_clock
from bot.configuration import configuration
from bot.dashboard import access, api, pages
from bot.dashboard.application import Dashboard
from bot.dashboard.house import House
from bot.dashboard.lines import LastLines
from bot.dashboard.login import Login, OAuth, Person, Sessions
from bot.dashboard.news import News
from bot.dashboard.porch import Sight, Visitor
from bot.dashboard.rights import Rights
from bot.feed.feed import last_of
from bot.loop import Loop
from bot.serving import service
from bot.serving.host import Host, Served
from convoy import ids
from convoy.commands import ApprovePlan, Command
from convoy.config import ConfigError
from convoy.decide import Refusal
from convoy.following import Reading
from convoy.state import Convoy, Task
from convoy.told.interventions import Intervention, unusable
from grite.errors import BratError, Conflict, Unavailable

BASE: Final = "/{owner}/{repository}"
TRIES: Final = 5
_KEY: Final = "dashboard.key"
_NOT_THERE: Final = "There is no such page, or not for you.\n"


class Site:
    """Who comes in where; for one event loop."""

    def __init__(self, host: Host, oauth: OAuth, group: asyncio.TaskGroup) -> None:
        """Take what is served; `group` runs what keeps the pages new."""
        self._host = host
        self._group = group
        self._own = urlsplit(oauth.own_url).netloc
        self._sessions = Sessions(key_of(host.hosting.folder))
        self._login = Login(oauth, self._sessions)
        self._rights = Rights()
        self._sights: dict[str, Sight] = {}
        self._looking: list[asyncio.Task[None]] = []

    def application(self) -> web.Application:
        """Return the web application."""
        app = Dashboard(self, BASE).application()
        app.add_routes([web.get("/", self._index), *self._login.routes()])
        return app

    def close(self) -> None:
        """End what keeps the pages new."""
        for task in self._looking:
            task.cancel()

    # --- who comes in -----------------------------------------------------------------

    async def admit(self, request: web.Request) -> web.Response | None:
        """Turn away who asks for another name than ours."""
        if request.host != self._own and request.path != "/healthz":
            raise web.HTTPMisdirectedRequest(text="This is not our name.\n")
        return None

    async def sight(self, request: web.Request) -> Sight | None:
        """Return the repository that the path names, if this person may see it.

        Raises:
            HTTPNotFound: it is not served, or not for them: nobody learns which.
            HTTPSeeOther: nobody signed in, and it may be for who does.
        """
        if "owner" not in request.match_info:
            return None
        owner, name = (request.match_info[each] for each in ("owner", "repository"))
        one = self._host.served.get(f"{owner}/{name}".casefold())
        if one is not None and await self._may_read(request, one):
            return await self._sight(one)
        signed_in = self._sessions.person(request) or self._is_program(request)
        if signed_in or api.ROOT in request.path or request.method != "GET":
            raise web.HTTPNotFound(text=_NOT_THERE)
        raise web.HTTPSeeOther(f"/login?to={quote(request.path_qs, safe='')}")

    async def visitor(self, request: web.Request, sight: Sight) -> Visitor:
        """Return who asks, and whether buttons are shown to them."""
        person = self._sessions.person(request)
        if person is None:
            return Visitor(may_write=False, may_sign_in=True)
        one, login = self._one(sight), person.login
        key = (sight.house.repository, login, "write")
        may = await self._rights.may(
            key, lambda: _loop(one).desk.github.may_write(login)
        )
        csrf = self._sessions.csrf(person)
        return Visitor(may_write=may, login=login, csrf=csrf)

    async def writer(self, request: web.Request, sight: Sight) -> str:
        """Return who presses a button, if the forge says now that they may write."""
        if self._is_program(request):
            return access.SOMEBODY
        person = self._sessions.person(request)
        if person is None:
            raise web.HTTPForbidden(text="Sign in first.\n")
        if not access.is_from_here(request) or not await self._is_ours(request, person):
            raise web.HTTPForbidden(text="This form is not one of ours.\n")
        github = _loop(self._one(sight)).desk.github
        if not await github.may_write(person.login):
            raise web.HTTPForbidden(text="You may not write in this repository.\n")
        return person.login

    async def _is_ours(self, request: web.Request, person: Person) -> bool:
        form = await request.post()
        given = str(form.get("csrf", "")) or request.headers.get("X-CSRF-Token", "")
        wanted = self._sessions.csrf(person)
        return hmac.compare_digest(wanted.encode(), given.encode())

    def _is_program(self, request: web.Request) -> bool:
        """Whether a program shows the token that whoever runs the bot gave it."""
        token = self._host.hosting.api_token
        return bool(token) and access.shows(request, token)

    async def _may_read(self, request: web.Request, one: Served) -> bool:
        github, name = _loop(one).desk.github, one.settings.repository
        if self._is_program(request):
            return True
        if await self._rights.may((name, "", "public"), github.is_public):
            return True
        person = self._sessions.person(request)
        if person is None:
            return False
        key = (name, person.login, "read")
        return await self._rights.may(key, lambda: github.may(person.login, "read"))

    # --- what they see ----------------------------------------------------------------

    async def _index(self, request: web.Request) -> web.Response:
        """List the repositories that this person may see."""
        shown = []
        for one in list(self._host.served.values()):
            with suppress(Unavailable):  # one that cannot be served now
                if await self._may_read(request, one):
                    shown.append(one.settings.repository)
        person = self._sessions.person(request)
        csrf = self._sessions.csrf(person) if person else ""
        login = person.login if person else ""
        visitor = Visitor(may_write=False, login=login, csrf=csrf, may_sign_in=True)
        text = pages.index(sorted(shown, key=str.casefold), visitor)
        return web.Response(text=text, content_type="text/html")

    def _one(self, sight: Sight) -> Served:
        return self._host.served[sight.house.repository.casefold()]

    async def _sight(self, one: Served) -> Sight:
        name = one.settings.repository
        if name not in self._sights:
            house = _house(one)
            sight = Sight(house, News(house.read, house.here))
            await sight.news.look()
            if self._sights.setdefault(name, sight) is sight:  # else another was first
                looking = sight.news.keep_looking()
                task = self._group.create_task(looking, name=f"news of {name}")
                self._looking.append(task)
        return self._sights[name]


def _house(one: Served) -> House:
    """Return one repository as its loop knows it, whichever loop that is by then."""
    settings = one.settings
    # A mirror keeps what it fetched under no ref: its loop knows the head.
    lines = LastLines(
        settings.folder / service.MIRROR, lambda: _loop(one).desk.mirror.head
    )

    def read() -> Reading:
        return _loop(one).desk.mirror.reading

    async def ask(command: Command) -> Refusal | None:
        loop = _loop(one)
        if isinstance(command, ApprovePlan):
            staged = configuration(loop.desk).staged
            command = structs.replace(command, staged=staged)
        for _ in range(TRIES):
            with suppress(Conflict):  # the loop wrote first: it is decided anew
                refused = await loop.ask(command)
                loop.wake.all()
                return refused
        raise Conflict("the log keeps moving")

    def printed(convoy: Convoy, task: Task) -> str:
        session = ids.session_name(convoy.name, task.number, task.started)
        return last_of(settings.folder, session)

    return House(
        repository=settings.repository,
        read=read,
        log=lines.last,
        clock=wall_clock,
        here=lambda: _misconfigured(one),
        output=printed,
        web=f"{settings.git_url}/{settings.repository}",
        ask=ask,
        base=f"/{settings.repository}",
    )


def _misconfigured(one: Served) -> tuple[Intervention, ...]:
    """Return that the configuration on the default branch cannot be used, if so."""
    try:
        configuration(_loop(one).desk)
    except ConfigError as error:
        return (unusable(str(error)),)
    except (BratError, KeyError):  # no loop, no default branch: said elsewhere
        return ()
    return ()


def _loop(one: Served) -> Loop:
    if one.loop is None:
        raise Unavailable(f"{one.settings.repository} is not served just now")
    return one.loop


def key_of(folder: Path) -> bytes:
    """Return the key of the sessions, drawing it the first time; the owner's alone."""
    file = folder / _KEY
    with suppress(FileExistsError):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as made:
            made.write(secrets.token_hex(32))
    return bytes.fromhex(file.read_text())


@asynccontextmanager
async def shown(host: Host) -> AsyncIterator[int]:
    """Serve the dashboard of a service for as long as the block lasts; give its port.

    0: it is to have none.

    Raises:
        BratError: nobody can listen there.
    """
    hosting = host.hosting
    if hosting.dashboard_port is None:
        yield 0
        return
    oauth = OAuth(
        client_id=hosting.client_id,
        client_secret=hosting.client_secret,
        web_url=hosting.git_url.rstrip("/"),
        api_url=hosting.api_url.rstrip("/"),
        own_url=hosting.dashboard_url,
    )
    async with asyncio.TaskGroup() as group:
        site = Site(host, oauth, group)
        where = (hosting.address, hosting.dashboard_port)
        try:
            async with service.listening(site.application(), *where) as port:
                yield port
        finally:
            site.close()
