"""REST: the variables of a repository.

https://docs.github.com/rest/actions/variables
"""

from typing import Any, Final

from msgspec.structs import replace

from brat.forge.resources.account_resource import Record
from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import Answer, Body, Call, Route, found
from brat.forge.storage.record_store import Table


class Asked(Body):
    """The body of `POST actions/variables`, and of a PATCH of one."""

    name: str
    value: str


class Variable(Record, frozen=True, kw_only=True):
    """A variable."""

    repo: int
    name: str
    value: str
    made_at: str


def _table(call: Call) -> Table[Variable]:
    return Table(call.store, Variable, lambda one: one.repo)


def _named(call: Call, name: str) -> Variable | None:
    known = _table(call).of(call.repo.id)
    return next((one for one in known if one.name == name.upper()), None)


async def list_variables(call: Call) -> Answer:
    """`GET actions/variables`."""
    return call.page(_table(call).of(call.repo.id), _view, wrap="variables")


async def get_variable(call: Call) -> Answer:
    """`GET actions/variables/{name}`."""
    return Answer(_view(found(_named(call, call.word("name")))))


async def add_variable(call: Call) -> Answer:
    """`POST actions/variables`."""
    asked = call.body(Asked)
    if _named(call, asked.name):
        raise Refused(409, "Already exists - Variable already exists")
    with call.store.change():
        new = Variable(
            id=call.store.next_id(),
            repo=call.repo.id,
            name=asked.name.upper(),
            value=asked.value,
            made_at=call.service.forge.now(),
        )
        _table(call).put(new)
    return Answer({}, status=201)


async def change_variable(call: Call) -> Answer:
    """`PATCH actions/variables/{name}`."""
    known, asked = found(_named(call, call.word("name"))), call.body(Asked)
    with call.store.change():
        _table(call).put(replace(known, value=asked.value))
    return Answer(status=204)


def _view(one: Variable) -> dict[str, Any]:
    dates = {"created_at": one.made_at, "updated_at": one.made_at}
    return {"name": one.name, "value": one.value, **dates}


_ALL: Final = "/repos/{owner}/{repo}/actions/variables"
_ONE: Final = _ALL + "/{name}"
ROUTES: Final = (
    Route("GET", _ALL, list_variables, "write"),
    Route("GET", _ONE, get_variable, "write"),
    Route("POST", _ALL, add_variable, "write"),
    Route("PATCH", _ONE, change_variable, "write"),
)
