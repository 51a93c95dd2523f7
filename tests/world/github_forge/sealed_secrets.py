"""REST: secrets of a repository and of an environment, stored as they come: sealed.

https://docs.github.com/rest/actions/secrets
"""

import base64
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from nacl.public import PrivateKey, SealedBox

from brat.forge.resources.account_resource import Record
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route
from brat.forge.storage.record_store import Table

KEY: Final = PrivateKey.generate()
KEY_ID: Final = "568250167242549743"


class Asked(Body):
    """The body of a PUT of a secret."""

    encrypted_value: str
    key_id: str


class Sealed(Record, frozen=True, kw_only=True):
    """A secret as it was sent."""

    repo: int
    environment: str
    """Empty: it is the repository's."""
    name: str
    value: str


class Opened(Struct, frozen=True):
    """A secret as the forge would give it to a job."""

    environment: str
    name: str
    value: str


def _table(call: Call) -> Table[Sealed]:
    return Table(call.store, Sealed, lambda one: one.repo)


def stored(call: Call, environment: str = "") -> tuple[Sealed, ...]:
    """Return the secrets of a place."""
    known = _table(call).of(call.repo.id)
    return tuple(one for one in known if one.environment == environment)


def opened(one: Sealed) -> Opened:
    """Open a secret, as only the forge can."""
    value = SealedBox(KEY).decrypt(base64.b64decode(one.value)).decode()
    return Opened(one.environment, one.name, value)


async def public_key(_: Call) -> Answer:
    """`GET public-key`."""
    key = base64.b64encode(bytes(KEY.public_key)).decode()
    return Answer({"key_id": KEY_ID, "key": key})


async def put(call: Call, environment: str = "") -> Answer:
    """`PUT` of a secret: 201 when it is new, else 204."""
    asked, name = call.body(Asked), call.word("secret_name").upper()
    if asked.key_id != KEY_ID:
        raise Refused(422, "Bad request - value is not encrypted with the public key")
    known = [one for one in stored(call, environment) if one.name == name]
    with call.store.change():
        if known:
            _table(call).put(replace(known[0], value=asked.encrypted_value))
        else:
            new = Sealed(
                id=call.store.next_id(),
                repo=call.repo.id,
                environment=environment,
                name=name,
                value=asked.encrypted_value,
            )
            _table(call).put(new)
    return Answer(status=204) if known else Answer({}, status=201)


_SECRETS: Final = "/repos/{owner}/{repo}/actions/secrets"
ROUTES: Final = (
    Route("GET", _SECRETS + "/public-key", public_key, "write"),
    Route("PUT", _SECRETS + "/{secret_name}", put, "write"),
)
