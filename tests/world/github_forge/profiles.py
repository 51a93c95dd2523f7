"""Which GitHub a forge is like: github.com, ghe.com, a release of Enterprise Server.

What each lacks is in tests/contract/github-releases.json, from GitHub's own
descriptions. The choice lies in the forge's folder and counts when it starts.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web
from msgspec import DecodeError, Struct, json

from brat.forge.resources.wire import API, BY_ID, BY_NAME, Refused, not_found
from brat.forge.rest.rest_call import Call
from brat.forge.storage.forge_state import Forge
from tests.world.github_forge.endpoint_permissions import shape

RELEASES: Final = Path(__file__).parents[2] / "contract/github-releases.json"
_FILE: Final = "profile"
_COUNTED: Final = web.RequestKey("counted", list[float])
_BY_ID, _BY_NAME = shape(BY_ID), shape(BY_NAME)


class Profile(Struct, frozen=True):
    """What a GitHub lacks that github.com has."""

    operations: frozenset[str] = frozenset()
    """Those that it does not know."""
    keys: dict[str, list[str]] = {}
    """Keys of bodies that it does not permit, by operation."""
    server: str = ""
    """The release of Enterprise Server; empty: it is none."""

    @property
    def is_server(self) -> bool:
        """Say whether it is an Enterprise Server, which has no rate limits by default.

        https://docs.github.com/enterprise-server/admin/configuring-settings/configuring-user-applications-for-your-enterprise/configuring-rate-limits
        """
        return bool(self.server)

    def guard(self, call: Call) -> dict[str, str]:
        """Let a call through, or refuse what this GitHub does not know.

        Raises `Refused`: 404 or 422.
        """
        operation = _operation(call)
        if operation in self.operations:
            raise not_found()
        try:
            body = json.decode(call.body_bytes or b"null")
        except DecodeError:
            body = None  # the endpoint says so
        for key in self.keys.get(operation, ()):
            if isinstance(body, dict) and key in body:
                said = f'Invalid request.\n\n"{key}" is not a permitted key.'
                raise Refused(422, said)
        if not self.is_server:
            return {}
        return {"X-GitHub-Enterprise-Version": f"{self.server}.0"}


class Budget:
    """Counts an account's requests of an hour, and says in each answer what is left.

    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._used = defaultdict[object, list[float]](list)

    def count(self, call: Call) -> dict[str, str]:
        now = self._forge.clock().timestamp()
        is_job = call.token.access is not None and call.token.repo is not None
        times = self._used[call.user.id, call.token.repo if is_job else None]
        if times and now >= times[0] + 3600:
            times.clear()
        times.append(now)
        call.request[_COUNTED] = times
        most = 1000 if is_job else 5000
        return {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(max(0, most - len(times))),
            "X-RateLimit-Used": str(len(times)),
            "X-RateLimit-Reset": str(int(times[0] + 3600)),
            "X-RateLimit-Resource": "core",
        }


@web.middleware
async def free_of_charge(
    request: web.Request,
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> web.StreamResponse:
    """Give back what was counted for an answer that says "not modified".

    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    answer = await handler(request)
    if answer.status == HTTPStatus.NOT_MODIFIED and _COUNTED in request:
        request[_COUNTED].pop()
        for name, by in (("Used", -1), ("Remaining", 1)):
            header = f"X-RateLimit-{name}"
            answer.headers[header] = str(int(answer.headers[header]) + by)
    return answer


def _operation(call: Call) -> str:
    resource = call.request.match_info.route.resource
    path = shape(resource.canonical if resource else "").removeprefix(API)
    return f"{call.request.method} {path.replace(_BY_ID, _BY_NAME, 1)}"


def names() -> list[str]:
    return ["github.com", *json.decode(RELEASES.read_bytes())]


def choose(folder: Path, name: str) -> None:
    """Let the forge in a folder be like this GitHub from its next start."""
    assert name in names()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FILE).write_text(name)


def chosen(folder: Path) -> Profile:
    """Return the profile of the forge in a folder: github.com if none was chosen."""
    file = folder / _FILE
    name = file.read_text() if file.exists() else "github.com"
    if name == "github.com":
        return Profile()
    known = json.decode(RELEASES.read_bytes(), type=dict[str, Profile])
    _, _, server = name.partition("ghes-")
    one = known[name]
    return Profile(one.operations, one.keys, server)
