"""REST: the secrets and variables that runs get. A secret is never shown.

https://docs.github.com/rest/actions/secrets
https://docs.github.com/rest/actions/variables
"""

import base64
from collections.abc import MutableMapping
from typing import Any, Final

from msgspec import Struct
from nacl.public import PrivateKey, SealedBox

from brat.forge.resources.forge_records import Owned
from brat.forge.resources.wire import Refused, fields
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found, shows
from brat.forge.service.programs import SECRET, run_secrets
from brat.forge.storage.record_store import Table

KEY: Final = PrivateKey.generate()
KEY_ID: Final = "568250167242549743"
runs: MutableMapping[str, str] = {}
"""Where runs find what is stored; a forge in a process of its own has its environment.

Their jobs have no environments: they get the secrets of all.
"""


class AskedSecret(Body):
    encrypted_value: str
    key_id: str


class Sealed(Owned, frozen=True, kw_only=True):
    environment: str
    """Empty: it is the repository's."""
    name: str
    value: str
    made_at: str = ""


class Opened(Struct, frozen=True):
    """A secret as the forge would give it to a job."""

    environment: str
    name: str
    value: str


def _table(call: Call) -> Table[Sealed]:
    return Table(call.store, Sealed, lambda one: one.repo)


def stored(call: Call, environment: str = "") -> tuple[Sealed, ...]:
    known = _table(call).of(call.repo.id)
    return tuple(one for one in known if one.environment == environment)


def opened(one: Sealed) -> Opened:
    """Open a secret, as only the forge can."""
    value = SealedBox(KEY).decrypt(base64.b64decode(one.value)).decode()
    return Opened(one.environment, one.name, value)


async def public_key(_: Call) -> Answer:
    key = base64.b64encode(bytes(KEY.public_key)).decode()
    return Answer({"key_id": KEY_ID, "key": key})


async def put(call: Call, environment: str = "") -> Answer:
    asked, name = call.body(AskedSecret), call.word("secret_name").upper()
    if asked.key_id != KEY_ID:
        raise Refused(422, "Bad request - value is not encrypted with the public key")
    known = [one for one in stored(call, environment) if one.name == name]
    if known:
        _table(call).change(known[0], value=asked.encrypted_value)
    else:
        new = Sealed(
            repo=call.repo.id,
            environment=environment,
            name=name,
            value=asked.encrypted_value,
            made_at=call.service.forge.now(),
        )
        _table(call).add(new)
    runs[SECRET + name] = opened(stored(call, environment)[-1]).value
    return Answer(status=204) if known else Answer({}, status=201)


async def remove(call: Call) -> Answer:
    name = call.word("secret_name").upper()
    one = found(next((one for one in stored(call) if one.name == name), None))
    with call.store.change():
        _table(call).remove(one)
    return Answer(status=204)


def forget(call: Call, environment: str) -> None:
    """Drop the secrets of an environment; only inside `Store.change`."""
    for one in stored(call, environment):
        _table(call).remove(one)


async def list_secrets(call: Call) -> Answer:
    """`GET actions/secrets`: those that the forge was started with, and those since."""
    given = dict.fromkeys(run_secrets(), call.repo.created_at)
    return listed(call, given | {one.name: one.made_at for one in stored(call)})


async def list_shared(call: Call) -> Answer:
    return listed(call, {})


def listed(call: Call, dates: dict[str, str]) -> Answer:
    """Show the names; `dates` says when each was made."""
    return call.page(
        sorted(dates),
        lambda name: {"name": name, "created_at": dates[name]},
        wrap="secrets",
    )


class AskedVariable(Body):
    name: str
    value: str


class Variable(Owned, frozen=True, kw_only=True):
    name: str
    value: str


def _variables(call: Call) -> Table[Variable]:
    return Table(call.store, Variable, lambda one: one.repo)


def _named(call: Call, name: str) -> Variable | None:
    known = _variables(call).of(call.repo.id)
    return next((one for one in known if one.name == name.upper()), None)


def _asked(call: Call) -> Variable:
    return found(_named(call, call.word("name")))


async def list_variables(call: Call) -> Answer:
    return call.page(_variables(call).of(call.repo.id), _view, wrap="variables")


async def add_variable(call: Call) -> Answer:
    asked = call.body(AskedVariable)
    if _named(call, asked.name):
        raise Refused(409, "Already exists - Variable already exists")
    name = asked.name.upper()
    _variables(call).add(Variable(repo=call.repo.id, name=name, value=asked.value))
    runs[SECRET + name] = asked.value
    return Answer({}, status=201)


async def change_variable(call: Call) -> Answer:
    _variables(call).change(_asked(call), value=call.body(AskedVariable).value)
    return Answer(status=204)


async def remove_variable(call: Call) -> Answer:
    with call.store.change():
        _variables(call).remove(_asked(call))
    return Answer(status=204)


def _view(one: Variable) -> dict[str, Any]:
    return fields(one, "name value")


_ACTIONS: Final = "/repos/{owner}/{repo}/actions"
_SECRETS: Final = _ACTIONS + "/secrets"
_ALL: Final = _ACTIONS + "/variables"
_ONE: Final = _ALL + "/{name}"
ROUTES: Final = (
    Route("GET", _SECRETS, list_secrets, "write"),
    Route("GET", _ACTIONS + "/organization-secrets", list_shared, "write"),
    Route("GET", _SECRETS + "/public-key", public_key, "write"),
    Route("PUT", _SECRETS + "/{secret_name}", put, "write"),
    Route("DELETE", _SECRETS + "/{secret_name}", remove, "write"),
    Route("GET", _ALL, list_variables, "write"),
    Route("POST", _ALL, add_variable, "write"),
    Route("GET", _ONE, shows(lambda call: _view(_asked(call))), "write"),
    Route("PATCH", _ONE, change_variable, "write"),
    Route("DELETE", _ONE, remove_variable, "write"),
)
