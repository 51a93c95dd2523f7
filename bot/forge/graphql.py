"""GraphQL, for what REST does not tell or do.

https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

from http import HTTPStatus
from typing import Any, Final

from bot.forge.payload import Payload
from bot.forge.rest import Model, Refused, Rest, checked
from grite.errors import BratError, Unavailable

_PASSING: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT", "SERVICE_UNAVAILABLE"})
_SAID: Final = 5
"""How many errors of an answer are told."""


class _Error(Payload):
    message: str = ""
    type: str = ""


class _Answer(Payload):
    data: Any = None
    errors: tuple[_Error, ...] = ()


class GraphQl:
    """One token's GraphQL calls to one forge."""

    def __init__(self, rest: Rest, api_url: str) -> None:
        """Send nothing yet; `api_url` is REST's, as for `Rest`."""
        self._rest = rest
        self._url = f"{api_url.rstrip('/').removesuffix('/v3')}/graphql"

    async def read(self, model: type[Model], query: str, named: object) -> Model:
        """Return the `data` of a query's answer, checked by a model.

        Raises:
            Refused: the forge has no GraphQL (status 404), or names errors; with
                status 410, what was asked about is not there.
            Unavailable: it did not answer, or has answered enough for now.
        """
        content = {"query": query, "variables": named}
        return self._checked(model, await self._rest.query(self._url, content))

    async def change(self, model: type[Model], mutation: str, named: object) -> Model:
        """Return the `data` of a mutation's answer; sent once."""
        content = {"query": mutation, "variables": named}
        answer = await self._rest.write("POST", self._url, content)
        return self._checked(model, answer)

    def _checked(self, model: type[Model], answer: object) -> Model:
        what = f"POST {self._url}"
        found = checked(_Answer, answer, what)
        if found.errors:
            raise _refusal(what, found.errors)
        return checked(model, found.data, what)


def _refusal(what: str, errors: tuple[_Error, ...]) -> BratError:
    """Return what an answer's errors come to; their types are GitHub's."""
    said = "; ".join(error.message for error in errors[:_SAID])
    types = {error.type for error in errors}
    if types & _PASSING:
        return Unavailable(f"{what}: {said}")
    gone = types == {"NOT_FOUND"}
    status = HTTPStatus.GONE if gone else HTTPStatus.UNPROCESSABLE_ENTITY
    return Refused(what, status, said)
