"""One REST call: who asks, for what, and how to answer.

An endpoint is a function of a `Call` that returns an `Answer` or raises `Refused`. What
all have in common (token, rights, ETag, headers) is the gate's.
"""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from aiohttp import BasicAuth, StreamReader, hdrs, web
from aiohttp.typedefs import Middleware
from msgspec import DecodeError, Struct, ValidationError, json

from brat.forge.resources.forge_records import (
    EPOCH,
    Access,
    Comment,
    Issue,
    Owned,
    Pull,
    Repository,
    Role,
    Token,
    User,
)
from brat.forge.resources.wire import Refused, Site, fault, not_found, parse
from brat.forge.storage.forge_state import Caller

if TYPE_CHECKING:
    from brat.forge.service.announcements import About, Renderer
    from brat.forge.service.running_forge import Service
    from brat.forge.storage.git_storage import Bare
    from brat.forge.storage.record_store import Store, Table


T = TypeVar("T")
Own = TypeVar("Own", bound=Owned)
Numbered = TypeVar("Numbered", Issue, Pull)
PER_PAGE: Final = 30
MOST_PER_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answers; `body` is for msgspec, or the bytes of a zip."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    request: web.Request
    service: "Service"
    user: User
    token: Token
    body_bytes: bytes = b""
    found: Repository | None = None

    @property
    def repo(self) -> Repository:
        """The repository that the path names; only where it names one."""
        assert self.found is not None  # noqa: S101  the route names a repository
        return self.found

    @property
    def site(self) -> Site:
        return self.service.site

    @property
    def store(self) -> "Store":
        return self.service.forge.store

    @property
    def renderer(self) -> "Renderer":
        return self.service.renderer

    @property
    def bare(self) -> "Bare":
        return self.service.forge.bare(self.repo)

    def word(self, name: str) -> str:
        """A part of the path."""
        return self.request.match_info[name]

    def number(self, name: str = "number") -> int:
        return int(self.request.match_info[name])

    def asked(self, name: str, default: str = "") -> str:
        """A parameter of the query."""
        return self.request.query.get(name, default)

    def in_order(
        self, items: Iterable[T], dates: Callable[[T], Issue | Comment], first: str
    ) -> list[T]:
        """Sort by a date, which `sort` names; `direction` is `first`, or as asked."""
        date = "updated_at" if self.asked("sort") == "updated" else "created_at"
        return sorted(
            items,
            key=lambda one: (getattr(dates(one), date), dates(one).id),
            reverse=self.asked("direction", first) == "desc",
        )

    def changed_since(self, one: Issue | Comment) -> bool:
        """Say whether a record was changed at or after the time in the query."""
        try:
            since = parse(self.asked("since") or EPOCH)
        except ValueError as error:
            raise Refused(422, f"since is no time: {error}") from error
        return parse(one.updated_at) >= since

    def tell(self, action: str, about: "About", **more: object) -> None:
        """Tell what the caller did; only inside `Store.change`."""
        self.service.events.tell(self.repo, self.user, action, about, **more)

    def own(self, table: "Table[Own]", name: str) -> Own:
        """The record of the repository whose id is a part of the path."""
        one = found(table.get(self.number(name)))
        if one.repo != self.repo.id:
            raise not_found()
        return one

    def numbered(self, table: "Table[Numbered]") -> Numbered:
        """The issue or the pull request whose number is in the path."""
        number, known = self.number(), table.of(self.repo.id)
        return found(next((one for one in known if one.number == number), None))

    def body(self, kind: type[T]) -> T:
        """Read the request's body as `kind`; an empty one is an empty object."""
        body = self.body_bytes or b"{}"
        try:
            return json.decode(body, type=kind)
        except ValidationError as error:
            said = self.service.fault_words(body, kind, str(error))
            raise Refused(422, f"Invalid request.\n\n{said}") from None
        except DecodeError:
            raise Refused(400, "Problems parsing JSON") from None

    def need(self, role: Role) -> None:
        """Refuse whoever has less than `role`."""
        if not self.service.forge.may(self.repo, self.user, role):
            raise Refused(403, f"Must have {role} rights to Repository.")

    def page(
        self, items: Sequence[T], show: Callable[[T], Any], wrap: str | None = None
    ) -> Answer:
        size = min(max(self._count("per_page", PER_PAGE), 1), MOST_PER_PAGE)
        page = max(self._count("page", 1), 1)
        shown = [show(item) for item in items[(page - 1) * size : page * size]]
        body = {"total_count": len(items), wrap: shown} if wrap else shown
        if page * size >= len(items):
            return Answer(body)
        more = self.request.rel_url.update_query(page=page + 1, per_page=size)
        return Answer(body, headers={"Link": f'<{self.site.base}{more}>; rel="next"'})

    def _count(self, name: str, default: int) -> int:
        asked = self.asked(name)
        return int(asked) if asked.isdecimal() else default


Endpoint = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and path of the API (below /api/v3), and the endpoint that answers."""

    method: str
    path: str
    endpoint: Endpoint
    role: Role = "read"
    """The role that the caller needs in the repository."""
    identify: Callable[["Service", web.Request], "Caller"] | None = None
    """Returns the caller or raises `Refused`; None: the caller is the token's user."""


class Permissions(Protocol):
    """What restricted tokens may do, in the place of their account's role."""

    def check(self, call: Call, route: Route, /) -> None:
        """Raise `Refused` if a token may not use a route."""

    def accepted(self, route: Route, /) -> dict[str, str]:
        """Return the header that names what a route needs."""

    def check_git(self, access: Access, level: str, /) -> None:
        """Raise `Refused` if a token may not fetch (`read`) or push (`write`)."""


Receive = Callable[["Service", Caller, Repository, StreamReader], Awaitable[bytes]]
"""Takes a push and returns the answer; raises `Refused` if it is none."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Additions to a served forge: brat has none, its tests add the rest of GitHub."""

    routes: Sequence[Route] = ()
    """In the place of the forge's own where method and path are the same."""
    pages: Sequence[web.RouteDef] = ()
    """Outside of the REST API."""
    guards: Sequence[Callable[[Call], Mapping[str, str]]] = ()
    """Called before each endpoint: each returns headers for the answer, or refuses."""
    middlewares: Sequence[Middleware] = ()
    """Around all that is served."""
    permissions: Permissions | None = None
    """None: no token is restricted to some."""
    receive: Receive | None = None
    """What takes pushes; None: git."""


def shows(face: Callable[[Call], object]) -> Endpoint:
    """Return the endpoint that answers with a record as callers see it."""

    async def answer(call: Call) -> Answer:
        return Answer(face(call))

    return answer


def made(face: dict[str, Any]) -> Answer:
    return Answer(face, 201, {"Location": face["url"]})


def found(thing: T | None) -> T:
    if thing is None:
        raise not_found()
    return thing


class Body(Struct, forbid_unknown_fields=True):
    """The body of a request."""


def titled(resource: str, title: str) -> None:
    """Refuse (422) what has no title."""
    if not title.strip():
        raise fault(resource, "title", "missing_field")


def new_issue(
    call: Call, title: str, body: str | None, *, pull: bool = False
) -> tuple[Repository, Issue]:
    """Make an issue, or that side of a pull request; only inside `Store.change`."""
    repo, now = call.service.forge.numbered(call.repo), call.service.forge.now()
    made = Issue(
        repo=repo.id,
        number=repo.last_number,
        title=title,
        body=body,
        author=call.user.id,
        created_at=now,
        updated_at=now,
        pull=pull,
    )
    return repo, call.store.issues.add(made)


def issue_of(call: Call) -> Issue:
    return call.numbered(call.store.issues)


def pull_of(call: Call) -> Pull:
    return call.numbered(call.store.pulls)


async def empty(call: Call) -> Answer:
    """Answer with an empty list: here is nobody to make what it would have."""
    return call.page([], lambda one: one)


_log: Final = logging.getLogger(__name__)
_NO_BODY: Final = frozenset({204, 302, 304})
NOTHING: Final = Extension()
NOT_ACCESSIBLE: Final = "Resource not accessible by integration"
_ONLY: Final = "Resource not accessible by personal access token"
MOST_BODY: Final = 25_000_000
"""Bytes."""


def secret_of(request: web.Request) -> str | None:
    """Return the token a request shows, in any of the forms GitHub takes."""
    shown = request.headers.get(hdrs.AUTHORIZATION, "")
    scheme, _, rest = shown.partition(" ")
    if scheme.lower() in {"bearer", "token"}:
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return str(BasicAuth.decode(shown).password)
        except ValueError:
            return None
    return None


def authenticate(service: "Service", request: web.Request) -> Caller:
    secret = secret_of(request)
    if secret is None:
        raise Refused(401, "Requires authentication")
    caller = service.forge.caller(secret)
    if caller is None:
        raise Refused(401, "Bad credentials")
    return caller


def visible(service: "Service", caller: Caller, full_name: str) -> Repository:
    repo = service.forge.repository(full_name)
    if repo is None or caller.token.repo not in {None, repo.id}:
        raise not_found()
    access = caller.token.access
    if access is not None and repo.id not in access.repos:
        raise not_found()
    if not service.forge.may(repo, caller.user, "read"):
        raise not_found()
    return repo


class Gate:
    """Answers what is asked of a route."""

    def __init__(self, service: "Service", extension: Extension) -> None:
        self._service = service
        self._guards = extension.guards
        self._permissions = extension.permissions

    async def answer(self, route: Route, request: web.Request) -> web.Response:
        now = self._service.forge.clock()
        headers: dict[str, str] = {hdrs.DATE: format_datetime(now, usegmt=True)}
        try:
            answer = await self._answer(route, request, headers)
        except Refused as refused:
            answer = Answer(refused.body(), refused.status, refused.headers)
        except Exception:  # noqa: BLE001  the caller gets a 500, the log the reason
            _log.exception("%s %s failed", request.method, request.path)
            answer = Answer({"message": "Server Error"}, 500)
        return _response(
            request, replace(answer, headers=headers | dict(answer.headers))
        )

    def _named(self, names: Mapping[str, str]) -> str | None:
        """Return the repository that a path names, also by id; None: it names none."""
        if "owner" in names:
            return f"{names['owner']}/{names['repo']}"
        if "repository" in names:
            repositories = self._service.forge.store.repositories
            return found(repositories.get(int(names["repository"]))).full_name
        return None

    async def _answer(
        self, route: Route, request: web.Request, headers: dict[str, str]
    ) -> Answer:
        caller = (route.identify or authenticate)(self._service, request)
        call = Call(request, self._service, caller.user, caller.token)
        full_name = self._named(request.match_info)
        if full_name is not None:
            call = replace(call, found=visible(self._service, caller, full_name))
        writes = request.method != hdrs.METH_GET
        if writes:
            call = replace(call, body_bytes=await request.read())
        for guard in self._guards:
            headers |= guard(call)
        if writes and caller.token.scope == "read":
            asked = self._permissions
            accepted = asked.accepted(route) if asked is not None else {}
            is_job = caller.token.repo is not None
            raise Refused(403, NOT_ACCESSIBLE if is_job else _ONLY, headers=accepted)
        if caller.token.access is not None and self._permissions is not None:
            self._permissions.check(call, route)
        elif call.found is not None:
            call.need(route.role)
        return await route.endpoint(call)


def _response(request: web.Request, answer: Answer) -> web.Response:
    headers = dict(answer.headers)
    if answer.status in _NO_BODY:
        return web.Response(status=answer.status, headers=headers)
    is_json = not isinstance(answer.body, bytes)
    body = json.encode(answer.body) if is_json else answer.body
    if request.method == hdrs.METH_GET and answer.status == web.HTTPOk.status_code:
        tag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        headers["ETag"] = tag
        if request.headers.get(hdrs.IF_NONE_MATCH) == tag:
            return web.Response(status=304, headers=headers)
    return web.Response(
        body=body,
        status=answer.status,
        headers=headers,
        content_type="application/json" if is_json else "application/zip",
        charset="utf-8" if is_json else None,
    )
