"""One REST call as the endpoints see it: who asks, for what, and how to answer.

An endpoint is a function of a `Call` that returns an `Answer` or raises `Refused`. What
all have in common (token, rights, ETag, headers) is in `request_gate`.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from aiohttp import web
from msgspec import DecodeError, Struct, ValidationError, json, structs

from brat.forge.resources.account_resource import Access, Repository, Role, Token, User
from brat.forge.rest.git_process import Receive, receive_pack
from brat.forge.service.renderer import RefJudge
from brat.forge.wire import Fault, Refused, Site, fault, invalid, not_found
from convoy.text import BODY_CHARS, LABEL_CHARS, SUMMARY_CHARS, TITLE_CHARS

if TYPE_CHECKING:
    from brat.forge.service.running_forge import Service
    from brat.forge.storage.forge_state import Caller
    from brat.forge.storage.git_storage import Bare
    from brat.forge.storage.record_store import Store


T = TypeVar("T")
PER_PAGE: Final = 30
MOST_PER_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answers.

    `body` is anything msgspec can encode, or bytes in the form that was asked for.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request."""

    request: web.Request
    service: "Service"
    user: User
    token: Token
    body_bytes: bytes = b""
    form: str = "json"
    """What to answer in: `json`, or one of the route's forms."""
    found: Repository | None = None

    @property
    def repo(self) -> Repository:
        """The repository that the path names; only where it names one."""
        assert self.found is not None  # noqa: S101  the route names a repository
        return self.found

    @property
    def site(self) -> Site:
        """Where the forge is reached."""
        return self.service.site

    @property
    def store(self) -> "Store":
        """The records."""
        return self.service.forge.store

    @property
    def bare(self) -> "Bare":
        """The repository on disk."""
        return self.service.forge.bare(self.repo)

    def word(self, name: str) -> str:
        """A part of the path."""
        return self.request.match_info[name]

    def number(self, name: str = "number") -> int:
        """A part of the path that is a number."""
        return int(self.request.match_info[name])

    def asked(self, name: str, default: str = "") -> str:
        """A parameter of the query."""
        return self.request.query.get(name, default)

    def choice(self, name: str, words: Sequence[str]) -> str:
        """A parameter of the query that is one of some words; the first is the default.

        Raises:
            Refused: 422: it is none of them.
        """
        asked = self.asked(name, words[0])
        if asked not in words:
            said = f"{name} must be one of: {', '.join(words)}"
            raise invalid(Fault("Request", name, "invalid", said))
        return asked

    def falling(self, default: str) -> bool:
        """Say whether `direction` asks for the greatest first.

        Raises:
            Refused: 422: it is no direction.
        """
        other = "asc" if default == "desc" else "desc"
        return self.choice("direction", (default, other)) == "desc"

    def body(self, kind: type[T]) -> T:
        """Read the request's body as `kind`.

        Raises:
            Refused: it is not JSON (400) or not what the endpoint takes (422).
        """
        return read(self.body_bytes, kind)

    def need(self, role: Role) -> None:
        """Refuse whoever has less than `role`.

        Raises:
            Refused: 403.
        """
        if not self.service.forge.may(self.repo, self.user, role):
            raise Refused(403, f"Must have {role} rights to Repository.")

    def page(
        self,
        items: Sequence[T],
        show: Callable[[T], Any],
        wrap: str | None = None,
    ) -> Answer:
        """Answer with one page of a list, and where the others are.

        Args:
            items: all of them, in order.
            show: turns one item into JSON.
            wrap: names the list in an object with `total_count`; None: a bare list.
        """
        size = min(max(self._count("per_page", PER_PAGE), 1), MOST_PER_PAGE)
        page = max(self._count("page", 1), 1)
        last = max(-(-len(items) // size), 1)
        shown = [show(item) for item in items[(page - 1) * size : page * size]]
        body = {"total_count": len(items), wrap: shown} if wrap else shown
        links = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        if page >= last:
            del links["next"], links["last"]
        if page == 1:
            del links["prev"], links["first"]
        base, here = self.site.base, self.request.rel_url
        link = ", ".join(
            f'<{base}{here.update_query(page=to, per_page=size)}>; rel="{rel}"'
            for rel, to in links.items()
        )
        return Answer(body, headers={"Link": link} if link else {})

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
    forms: tuple[str, ...] = ()
    """What it answers in beside JSON, where `Accept` asks for it: `diff`, ..."""


class Permissions(Protocol):
    """What restricted tokens may do, in the place of their account's role."""

    def check(self, call: Call, route: Route, /) -> None:
        """Raise `Refused` if a token may not use a route."""

    def accepted(self, route: Route, /) -> dict[str, str]:
        """Return the header that names what a route needs."""

    def check_git(self, access: Access, level: str, /) -> None:
        """Raise `Refused` if a token may not fetch (`read`) or push (`write`)."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Additions to a served forge: brat has none, its tests add the rest of GitHub."""

    routes: Sequence[Route] = ()
    """In the place of the forge's own where method and path are the same."""
    pages: Sequence[web.RouteDef] = ()
    """Outside of the REST API."""
    guards: Sequence[Callable[[Call], Mapping[str, str]]] = ()
    """Called before each endpoint: each returns headers for the answer, or refuses."""
    judge: RefJudge | None = None
    """What is held against merges; None: nothing."""
    permissions: Permissions | None = None
    """None: no token is restricted to some."""
    receive: Receive = receive_pack
    """What takes pushes."""


def found(thing: T | None) -> T:
    """Return `thing`.

    Raises:
        Refused: 404: it is None.
    """
    if thing is None:
        raise not_found()
    return thing


_AN: Final = {
    "array": "an array",
    "bool": "a boolean",
    "int": "a number",
    "object": "an object",
    "str": "a string",
}
_WRONG_TYPE: Final = re.compile(
    r"Expected `(?P<type>[^`]+)`, got `(?P<got>[^`]+)`(?: - at `\$\.?(?P<at>.*)`)?"
)


class Body(Struct, forbid_unknown_fields=True):
    """The body of a request."""


def read(body: bytes, kind: type[T]) -> T:
    """Read a body as `kind`; an empty one is an empty object.

    Raises:
        Refused: it is not JSON (400) or not what the endpoint takes (422).
    """
    try:
        return json.decode(body or b"{}", type=kind)
    except ValidationError as error:
        said = "\n".join(_faults(json.decode(body or b"{}"), kind, str(error)))
        raise Refused(422, f"Invalid request.\n\n{said}") from None
    except DecodeError:
        raise Refused(400, "Problems parsing JSON") from None


def _faults(shown: Any, kind: Any, error: str) -> Iterator[str]:  # noqa: ANN401  JSON
    """Name what is wrong with a body, as GitHub does."""
    wrong = _WRONG_TYPE.match(error)
    if wrong:
        *first, _ = wrong["type"].split(" | ")
        wanted = _AN.get(first[0] if first else wrong["type"], wrong["type"])
        at = re.sub(r"\.|\[(\.{3}|\d+)\]", "/", wrong["at"] or "").strip("/")
        where = f"For 'properties/{at}', {_at(shown, at)}" if at else _plain(shown)
        yield f"{where} is not {wanted}."
        return
    if isinstance(shown, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        fields = structs.fields(kind)
        missing = [
            one.encode_name
            for one in fields
            if one.required and one.encode_name not in shown
        ]
        known = {one.encode_name for one in fields}
        closed = kind.__struct_config__.forbid_unknown_fields
        unknown = [key for key in shown if closed and key not in known]
        if unknown:
            yield _listed(unknown, "is not a permitted key", "are not permitted keys")
        if missing:
            yield _listed(missing, "wasn't supplied", "weren't supplied")
        if unknown or missing:
            return
    yield error


def _listed(names: Sequence[str], one: str, many: str) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{quoted} {one if len(names) == 1 else many}."


def _at(shown: Any, path: str) -> str:  # noqa: ANN401  JSON
    """Write what a body has at a path."""
    for part in path.split("/"):
        if not isinstance(shown, dict) or part not in shown:
            break
        shown = shown[part]
    return _plain(shown)


def _plain(shown: Any) -> str:  # noqa: ANN401  JSON
    return "nil" if shown is None else json.encode(shown).decode()


MOST_ANNOTATIONS: Final = 50
"""In one request. https://docs.github.com/rest/checks/runs#create-a-check-run"""
MOST_ACTIONS: Final = 3
ACTION_CHARS: Final = {"label": 20, "description": 40, "identifier": 20}
_LABEL_TEXT: Final = 100
_COLOR: Final = re.compile(r"[0-9A-Fa-f]{6}")


def checked(resource: str, title: str | None, body: str | None) -> None:
    """Check what a person wrote.

    Raises:
        Refused: 422: there is no title, or something is too long.
    """
    if title is not None and not title.strip():
        raise fault(resource, "title", "missing_field")
    within(resource, "title", title, TITLE_CHARS)
    within(resource, "body", body, BODY_CHARS)


def within(resource: str, field: str, text: str | None, most: int) -> None:
    """Check that a text has at most so many characters.

    Raises:
        Refused: 422: it has more.
    """
    if text is not None and len(text) > most:
        said = f"{field} is too long (maximum is {most} characters)"
        raise fault(resource, field, "custom", said)


def checked_label(name: str, color: str, description: str | None) -> None:
    """Check what a label is to be.

    Raises:
        Refused: 422: it has no name, no such colour can be, or something is too long.
    """
    if not name.strip():
        raise fault("Label", "name", "missing_field")
    within("Label", "name", name, LABEL_CHARS)
    within("Label", "description", description, _LABEL_TEXT)
    if not _COLOR.fullmatch(color):
        raise fault("Label", "color", "invalid")


def checked_output(texts: dict[str, str | None], annotations: Sequence[object]) -> None:
    """Check what a check run says: characters are counted first, and then bytes.

    https://github.com/github/docs/issues/35252 has the second sentence,
    https://github.com/reviewdog/action-actionlint/issues/72 the first.

    Raises:
        Refused: 422: it is too much.
    """
    for name, text in texts.items():
        size = len(text or "")
        if size > SUMMARY_CHARS:
            raise _too_many(f"Only {SUMMARY_CHARS} characters are", size)
        if len((text or "").encode()) > SUMMARY_CHARS:
            said = f"{name} exceeds a maximum bytesize of {SUMMARY_CHARS}"
            raise fault("CheckRun", name, "custom", said)
    if len(annotations) > MOST_ANNOTATIONS:
        most = f"No more than {MOST_ANNOTATIONS} items are"
        raise _too_many(most, len(annotations))


def checked_actions(actions: Sequence[dict[str, str]]) -> None:
    """Check the buttons of a check run.

    https://docs.github.com/rest/checks/runs#create-a-check-run has the figures.

    Raises:
        Refused: 422: there are too many, or a text is too long.
    """
    if len(actions) > MOST_ACTIONS:
        raise _too_many(f"No more than {MOST_ACTIONS} items are", len(actions))
    for name, most in ACTION_CHARS.items():
        for action in actions:
            within("CheckRun", name, action[name], most)


def _too_many(most: str, given: int) -> Refused:
    said = f"Invalid request.\n\n{most} allowed; {given} were supplied."
    return Refused(422, said)
