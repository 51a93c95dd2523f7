"""The dashboard of a hosted bot: each repository, for the people who may see it.

Everybody may see public repositories. Private ones, and every button, need a right on
the forge. The bot asks for the right to look at most once a minute, and for the right
to press a button at each press.
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

from bot.context.configuration import configuration
from bot.dashboard import api, page_contents, token_access
from bot.dashboard.access_policy import RepositoryView, Visitor
from bot.dashboard.application import Dashboard
from bot.dashboard.dashboard_source import DashboardSource
from bot.dashboard.log_tail import LogTail
from bot.dashboard.login import Login, OAuth, Person, Sessions
from bot.dashboard.rights import Rights
from bot.dashboard.state_watcher import StateWatcher
from bot.feed.repository_feed import last_of
from bot.loop.loop import Loop
from bot.messages.replies import Reply
from bot.serving import bot_service
from bot.serving.host import Host, Served
from bot.settings.clock import wall_clock
from bot.verbs.request_context import Asker
from bot.verbs.verb import Request
from convoy.config import ConfigError
from convoy.log.following import Reading
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.views.interventions import Intervention, standing_still, unusable
from convoy.views.unread_issues import unread
from grite.errors import BratError, Unavailable

BASE: Final = "/{owner}/{repository}"
_KEY: Final = "dashboard.key"
_NOT_THERE: Final = "There is no such page, or not for you.\n"


class HostedDashboard:
    """The service's dashboard and its access rules; for one event loop."""

    def __init__(self, host: Host, oauth: OAuth, group: asyncio.TaskGroup) -> None:
        """Show the host's repositories; `group` runs the watchers of their logs."""
        self._host = host
        self._group = group
        self._own = urlsplit(oauth.own_url).netloc
        self._sessions = Sessions(key_of(host.hosting.folder))
        self._login = Login(oauth, self._sessions)
        self._rights = Rights()
        self._views: dict[str, RepositoryView] = {}
        self._looking: list[asyncio.Task[None]] = []

    def application(self) -> web.Application:
        """Return the web application."""
        app = Dashboard(self, BASE).application()
        app.add_routes([web.get("/", self._index), *self._login.routes()])
        return app

    def close(self) -> None:
        """Stop the watchers of the logs."""
        for task in self._looking:
            task.cancel()

    # --- who comes in -----------------------------------------------------------------

    async def admit(self, request: web.Request) -> web.Response | None:
        """Refuse requests for another host name than ours."""
        if request.host != self._own and request.path != "/healthz":
            raise web.HTTPMisdirectedRequest(text="This is not our name.\n")
        return None

    async def view(self, request: web.Request) -> RepositoryView | None:
        """Return the repository that the path names, if this person may see it.

        Raises:
            HTTPNotFound: it is not served, or hidden from them; nobody learns which.
            HTTPSeeOther: nobody is signed in; signing in may help.
        """
        if "owner" not in request.match_info:
            return None
        owner, name = (request.match_info[each] for each in ("owner", "repository"))
        one = self._host.served.get(f"{owner}/{name}".casefold())
        if one is not None and await self._may_read(request, one):
            return await self._view(one)
        signed_in = self._sessions.person(request) or self._is_program(request)
        if signed_in or api.ROOT in request.path or request.method != "GET":
            raise web.HTTPNotFound(text=_NOT_THERE)
        raise web.HTTPSeeOther(f"/login?to={quote(request.path_qs, safe='')}")

    async def visitor(self, request: web.Request, view: RepositoryView) -> Visitor:
        """Return the visitor, and whether they see buttons."""
        person = self._sessions.person(request)
        if person is None:
            return Visitor(may_write=False, may_sign_in=True)
        one, login = self._one(view), person.login
        key = (view.source.repository, login, "write")
        may = await self._rights.may(
            key, lambda: _loop(one).context.github.may_write(login)
        )
        csrf = self._sessions.csrf(person)
        return Visitor(may_write=may, login=login, csrf=csrf)

    async def writer(self, request: web.Request, view: RepositoryView) -> str:
        """Return who presses a button, if the forge confirms their right to write."""
        if self._is_program(request):
            return token_access.SOMEBODY
        person = self._sessions.person(request)
        if person is None:
            raise web.HTTPForbidden(text="Sign in first.\n")
        if not token_access.is_from_here(request) or not await self._is_ours(
            request, person
        ):
            raise web.HTTPForbidden(text="This form is not one of ours.\n")
        github = _loop(self._one(view)).context.github
        if not await github.may_write(person.login):
            raise web.HTTPForbidden(text="You may not write in this repository.\n")
        return person.login

    async def _is_ours(self, request: web.Request, person: Person) -> bool:
        form = await request.post()
        given = str(form.get("csrf", "")) or request.headers.get("X-CSRF-Token", "")
        wanted = self._sessions.csrf(person)
        return hmac.compare_digest(wanted.encode(), given.encode())

    def _is_program(self, request: web.Request) -> bool:
        """Whether the request shows the API token that the operator set."""
        token = self._host.hosting.api_token
        return bool(token) and token_access.shows(request, token)

    async def _may_read(self, request: web.Request, one: Served) -> bool:
        github, name = _loop(one).context.github, one.settings.repository
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
            with suppress(Unavailable):  # this repository's loop is not open now
                if await self._may_read(request, one):
                    shown.append(one.settings.repository)
        person = self._sessions.person(request)
        csrf = self._sessions.csrf(person) if person else ""
        login = person.login if person else ""
        visitor = Visitor(may_write=False, login=login, csrf=csrf, may_sign_in=True)
        text = page_contents.index(sorted(shown, key=str.casefold), visitor)
        return web.Response(text=text, content_type="text/html")

    def _one(self, view: RepositoryView) -> Served:
        return self._host.served[view.source.repository.casefold()]

    async def _view(self, one: Served) -> RepositoryView:
        name = one.settings.repository
        if name not in self._views:
            source = _source(one)
            view = RepositoryView(source, StateWatcher(source.read, source.here))
            await view.watcher.look()
            if self._views.setdefault(name, view) is view:  # first request
                looking = view.watcher.keep_looking()
                task = self._group.create_task(looking, name=f"news of {name}")
                self._looking.append(task)
        return self._views[name]


def _source(one: Served) -> DashboardSource:
    """Return the dashboard's source for one repository, read from its current loop."""
    settings = one.settings
    # No ref in a mirror points at the log's head: only its loop knows the head.
    lines = LogTail(
        settings.folder / bot_service.MIRROR, lambda: _loop(one).context.mirror.head
    )

    def read() -> Reading:
        return _loop(one).context.mirror.reading

    async def carry_out(asker: Asker, request: Request) -> Reply:
        return await _loop(one).carry_out(asker, request)

    def printed(convoy: Convoy, task: Task) -> str:
        session = ids.session_name(convoy.name, task.number, task.started)
        return last_of(settings.folder, session)

    return DashboardSource(
        repository=settings.repository,
        read=read,
        log=lines.last,
        clock=wall_clock,
        here=lambda: (*_standing_still(one), *_misconfigured(one), *_unread(one)),
        output=printed,
        web=f"{settings.git_url}/{settings.repository}",
        carry_out=carry_out,
        base=f"/{settings.repository}",
    )


def _standing_still(one: Served) -> tuple[Intervention, ...]:
    why = one.standstill.why(one.loop, one.trouble)
    return (standing_still(why),) if why else ()


def _misconfigured(one: Served) -> tuple[Intervention, ...]:
    """Return an intervention if the default branch's configuration is unusable."""
    try:
        configuration(_loop(one).context)
    except ConfigError as error:
        return (unusable(str(error)),)
    except (BratError, KeyError):  # no loop, no default branch: reported elsewhere
        return ()
    return ()


def _unread(one: Served) -> tuple[Intervention, ...]:
    """Return the labelled issues that had no convoy at the loop's last look."""
    if one.loop is None:
        return ()
    context = one.loop.context
    return tuple(unread([*context.memory.unread.values()], context.mirror.state))


def _loop(one: Served) -> Loop:
    if one.loop is None:
        raise Unavailable(f"{one.settings.repository} is not served just now")
    return one.loop


def key_of(folder: Path) -> bytes:
    """Return the sessions' key, created the first time; only its owner can read it."""
    file = folder / _KEY
    with suppress(FileExistsError):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as made:
            made.write(secrets.token_hex(32))
    return bytes.fromhex(file.read_text())


@asynccontextmanager
async def shown(host: Host) -> AsyncIterator[int]:
    """Serve the dashboard of a service for as long as the block lasts; give its port.

    The port is 0 if no dashboard is configured.

    Raises:
        BratError: the address or port cannot be used.
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
        site = HostedDashboard(host, oauth, group)
        where = (hosting.address, hosting.dashboard_port)
        try:
            async with bot_service.listening(site.application(), *where) as port:
                yield port
        finally:
            site.close()
