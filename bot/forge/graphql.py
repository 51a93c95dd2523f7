"""GraphQL, for what REST does not tell or do.

https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from bot.forge.rest import Model, Refused, Rest, checked

_SAID: Final = 5
"""How many errors of an answer are told."""


class _Error(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    message: str = ""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

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
            Refused: the forge has no GraphQL, or names errors.
            Unavailable: it did not answer.
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
            said = tuple(error.message for error in found.errors[:_SAID])
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            raise Refused(what, status, "; ".join(said))
        return checked(model, found.data, what)
