"""Which GitHub a forge is like: github.com, ghe.com, a release of Enterprise Server.

What each lacks is in tests/contract/github-releases.json, from GitHub's own
descriptions. The choice lies in the forge's folder and counts when it starts.
"""

from pathlib import Path
from typing import Final

from msgspec import DecodeError, Struct, json

from brat.forge.resources.wire import API, BY_ID, BY_NAME, Refused, not_found
from brat.forge.rest.rest_call import Call
from tests.world.github_forge.endpoint_permissions import shape

RELEASES: Final = Path(__file__).parents[2] / "contract/github-releases.json"
_FILE: Final = "profile"
_BY_ID, _BY_NAME = shape(BY_ID), shape(BY_NAME)


class Profile(Struct, frozen=True):
    """What a GitHub lacks that github.com has."""

    operations: frozenset[str] = frozenset()
    """Those that it does not know."""
    keys: dict[str, list[str]] = {}
    """Keys of bodies that it does not permit, by operation."""
    server: str = ""
    """The release of Enterprise Server; empty: it is none."""

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
        if not self.server:
            return {}
        return {"X-GitHub-Enterprise-Version": f"{self.server}.0"}


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
