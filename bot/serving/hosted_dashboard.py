"""The dashboard of a hosted bot: each repository, for the people who may see it.

Everybody may see public repositories. Private ones, and every button, need a right on
the forge. The bot asks for the right to look at most once a minute, and for the right
to press a button at each press.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from aiohttp import web

from bot import wall_clock
from bot.dashboard import access_policy, page_contents
from bot.dashboard.access_policy import Visitor
from bot.dashboard.application import ROOT, dashboard_application
from bot.dashboard.dashboard_source import (
    DashboardSource,
    LogHistory,
    RepositoryView,
    changes_in,
    log_tail,
)
from bot.dashboard.login import Login, Sessions
from bot.door.feed import BRIEF_BYTES, LAST_BYTES, kept_key, last_output
from bot.door.listening import listener_at, serving_on
from bot.forge.github import AnotherRepository, Right
from bot.loop.loop import Loop
from bot.roles.bot_context import configuration
from bot.serving import bot_service
from bot.serving.host import Host, Served
from convoy.config import ConfigError
from convoy.log.record import Reading
from convoy.rules.verdict import Checks
from convoy.views.interventions import (
    Intervention,
    standing_still,
    unread_issues,
    unusable_config,
)
from grite.errors import BratError, Unavailable

Public = Literal["public"]
"""What everybody may see."""
BASE: Final = "/{owner}/{repository}"
KEPT_S: Final = 60.0
"""How long a person who lost a right may still see pages and buttons."""
MOST_RIGHTS: Final = 10_000
_NOT_THERE: Final = "This page does not exist, or you do not have access to it.\n"


class HostedDashboard:
    """The service's dashboard and its access rules; for one event loop."""

    def __init__(self, host: Host, group: asyncio.TaskGroup) -> None:
        self._host = host
        self._group = group
        self._own = urlsplit(host.hosting.dashboard_url).netloc
        self._sessions = Sessions(kept_key(host.hosting.folder / "dashboard.key"))
        self._login = Login(host.hosting, self._sessions)
        self._rights: dict[tuple[str, ...], tuple[float, bool]] = {}
        """What the forge answered, and when."""
        self._views: dict[str, RepositoryView] = {}
        self._looking: list[asyncio.Task[None]] = []

    def application(self) -> web.Application:
        app = dashboard_application(self, BASE)
        app.add_routes([web.get("/", self._index), *self._login.routes()])
        return app

    def close(self) -> None:
        for task in self._looking:
            task.cancel()

    async def admit(self, request: web.Request) -> web.Response | None:
        if request.host != self._own and request.path != "/healthz":
            raise web.HTTPMisdirectedRequest(text="Unknown host name.\n")
        return None

    async def view(self, request: web.Request) -> RepositoryView | None:
        """Return the repository that the path names, if this person may see it."""
        if "owner" not in request.match_info:
            return None
        owner, name = (request.match_info[each] for each in ("owner", "repository"))
        one = self._host.served.get(f"{owner}/{name}".casefold())
        if one is not None and await self._may_read(request, one):
            key = _view_key(one)
            if key not in self._views:
                source = source_of(one, self._host.served)
                view = RepositoryView(source)
                await view.look()
                if self._views.setdefault(key, view) is view:  # first request
                    looking, name = view.keep_looking(), f"news of {one.name}"
                    self._looking.append(self._group.create_task(looking, name=name))
            return self._views[key]
        signed_in = self._sessions.person(request) or self._is_program(request)
        if signed_in or ROOT in request.path or request.method != "GET":
            raise web.HTTPNotFound(text=_NOT_THERE)
        raise web.HTTPSeeOther(f"/login?to={quote(request.path_qs, safe='')}")

    async def visitor(self, request: web.Request, view: RepositoryView) -> Visitor:
        person = self._sessions.person(request)
        if person is None:
            return Visitor(may_write=False, may_sign_in=True)
        one, login = self._one(view), person.login
        may_maintain = await self._may(one, login, "maintain")
        return Visitor(
            may_write=may_maintain or await self._may(one, login, "write"),
            may_maintain=may_maintain,
            login=login,
            csrf=self._sessions.csrf(person),
        )

    async def writer(
        self, request: web.Request, view: RepositoryView, right: Right
    ) -> str:
        """Return who presses a button, if the forge confirms that they have a right."""
        if self._is_program(request):
            return access_policy.SOMEBODY
        person = self._sessions.person(request)
        if person is None:
            raise web.HTTPForbidden(text="Sign in first.\n")
        await self._sessions.check_form(request, person)
        if not await _has(self._one(view), person.login, right):
            raise web.HTTPForbidden(
                text=f"You do not have {right} access to this repository.\n"
            )
        return person.login

    def _is_program(self, request: web.Request) -> bool:
        token = self._host.hosting.api_token
        return bool(token) and access_policy.shows_token(request, token)

    async def _may_read(self, request: web.Request, one: Served) -> bool:
        loop_of(one)  # nobody sees what is not served now
        if self._is_program(request) or await self._may(one, "", "public"):
            return True
        person = self._sessions.person(request)
        return person is not None and await self._may(one, person.login, "read")

    async def _may(self, one: Served, login: str, right: Right | Public) -> bool:
        """Whether somebody has a right, as known for at most a minute.

        Where the forge does not answer, it raises: nobody has a right without.
        """
        key, now = (_view_key(one), login, right), time.monotonic()
        known = self._rights.get(key)
        if known is None or now - known[0] >= KEPT_S:
            known = now, await _has(one, login, right)
            if len(self._rights) >= MOST_RIGHTS:
                self._rights.clear()
            self._rights[key] = known
        return known[1]

    async def _index(self, request: web.Request) -> web.Response:
        shown = []
        for one in list(self._host.served.values()):
            with suppress(Unavailable):  # this repository's loop is not open now
                if await self._may_read(request, one):
                    shown.append(one.name)
        person = self._sessions.person(request)
        csrf = self._sessions.csrf(person) if person else ""
        login = person.login if person else ""
        visitor = Visitor(may_write=False, login=login, csrf=csrf, may_sign_in=True)
        text = page_contents.index(sorted(shown, key=str.casefold), visitor)
        return web.Response(text=text, content_type="text/html")

    def _one(self, view: RepositoryView) -> Served:
        return self._host.served[view.source.repository.casefold()]


def _view_key(one: Served) -> str:
    """Return what is shown by: the repository's name and its id."""
    return f"{one.name} {loop_of(one).context.settings.repository_id}"


async def _has(one: Served, login: str, right: Right | Public) -> bool:
    """Ask about a right, while the name stands for the repository served."""
    context = loop_of(one).context
    try:
        await context.github.confirm(context.settings.repository_id)
    except AnotherRepository:
        return False
    if right == "public":
        return await context.github.is_public()
    return await context.github.may(login, right)


@asynccontextmanager
async def opened_dashboard(host: Host) -> AsyncIterator[int]:
    """Serve the dashboard while the block lasts and give its port; 0: there is none."""
    hosting = host.hosting
    if hosting.dashboard_port is None:
        yield 0
        return
    listener = listener_at(hosting.address, hosting.dashboard_port)
    async with asyncio.TaskGroup() as group:
        site = HostedDashboard(host, group)
        try:
            app = site.application()
            async with serving_on(listener, app, origins=hosting.origins) as port:
                yield port
        finally:
            site.close()


def source_of(one: Served, served: Mapping[str, Served]) -> DashboardSource:
    """Return the dashboard's source for one repository, read from its current loop.

    `served` are all: after a pause another stands there under its name.
    """
    settings, name = loop_of(one).context.settings, one.name.casefold()

    def now() -> Served:
        return served.get(name, one)

    def loop() -> Loop:
        found = loop_of(now())
        if found.context.settings.repository_id != settings.repository_id:
            raise Unavailable(f"{one.name} is now a different repository")
        return found

    # No ref in a mirror points at the log's head: only its loop knows the head.
    mirror = settings.folder / bot_service.MIRROR

    def read() -> Reading:
        return loop().context.mirror.reading

    def checks() -> Mapping[str, Checks]:
        open_loop = now().loop
        return open_loop.context.observed.checks if open_loop else {}

    return DashboardSource(
        repository=settings.repository,
        read=read,
        log=log_tail(mirror, lambda: loop().context.mirror.head),
        history=LogHistory(mirror, read),
        clock=wall_clock,
        here=lambda: _here(now()),
        output=lambda session: last_output(
            settings.folder, session.name, BRIEF_BYTES if session.brief else LAST_BYTES
        ),
        checks=checks,
        changes=changes_in(mirror),
        web=f"{settings.git_url}/{settings.repository}",
        carry_out=lambda asker, request: loop().carry_out(asker, request),
        base=f"/{settings.repository}",
    )


def _here(one: Served) -> tuple[Intervention, ...]:
    """Return why it stands still, a bad configuration, and issues without a convoy."""
    found = [standing_still(why)] if (why := one.standstill) else []
    if one.loop is None:
        return tuple(found)
    context = one.loop.context
    try:
        configuration(context)
    except ConfigError as error:
        found.append(unusable_config(str(error)))
    except (BratError, KeyError):  # no default branch: reported elsewhere
        pass
    unread = unread_issues([*context.memory.unread.values()], context.mirror.state)
    return (*found, *unread)


def loop_of(one: Served) -> Loop:
    """Return the loop.

    Raises:
        Unavailable: it is not open now.
    """
    if one.loop is None:
        raise Unavailable(f"{one.name} is not currently served")
    return one.loop
