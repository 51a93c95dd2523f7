"""GraphQL: a part of GitHub's schema, executed for whoever asks.

https://docs.github.com/graphql/guides/forming-calls-with-graphql
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from graphql import (
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    build_schema,
    graphql,
)
from msgspec import DecodeError, Struct, json

from brat.forge.resources.wire import Refused
from brat.forge.rest.rest_call import authenticate
from brat.forge.service.running_forge import Service
from tests.world.github_forge.graphql_root import Root
from tests.world.github_forge.graphql_viewer import Failed, Viewer
from tests.world.github_forge.merge_queues import MergeQueues
from tests.world.github_forge.text_edits import TextEdits

SDL: Final = Path(__file__).with_name("schema.graphql")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS: Final = {"input": "asked", "id": "node"}
"""Arguments whose name in Python would be that of a built-in function."""


class _Query(Struct):
    query: str
    variables: dict[str, Any] | None = None


class GraphQL:
    """The endpoint beside REST's."""

    def __init__(self, service: Service) -> None:
        """Serve `service`."""
        self._service = service
        self._edits, self._queues = TextEdits(service), MergeQueues(service)
        self._schema = _schema()

    def routes(self) -> list[web.RouteDef]:
        """Return the route, below the forge's own address."""
        return [web.post("/api/graphql", self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            caller = authenticate(self._service, request)
            asked = json.decode(await request.read(), type=_Query)
        except Refused as refused:
            return web.json_response(refused.body(), status=refused.status)
        except DecodeError:
            said = {"message": "Problems parsing JSON"}
            return web.json_response(said, status=400)
        viewer = Viewer(self._service, caller, self._edits, self._queues)
        done = await graphql(
            self._schema,
            asked.query,
            root_value=Root(viewer),
            variable_values=asked.variables,
            field_resolver=_resolve,
            type_resolver=lambda found, *_: found.kind,
        )
        shown: dict[str, Any] = {"data": done.data}
        if done.errors:
            shown["errors"] = [_fault(error) for error in done.errors]
        return web.json_response(shown)


def _schema() -> GraphQLSchema:
    """Read the schema; arguments and fields of inputs get Python's names."""
    schema = build_schema(SDL.read_text())
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLInputObjectType):
            for name, part in kind.fields.items():
                part.out_name = _HUMP.sub("_", name).lower()
        elif isinstance(kind, GraphQLObjectType):
            for field in kind.fields.values():
                for name, argument in field.args.items():
                    argument.out_name = _WORDS.get(name, _HUMP.sub("_", name).lower())
    return schema


def _resolve(source: object, info: GraphQLResolveInfo[None], **given: object) -> object:
    name = _HUMP.sub("_", info.field_name).lower()
    found = source.get(name) if isinstance(source, Mapping) else getattr(source, name)
    return found(**given) if callable(found) else found


def _fault(error: GraphQLError) -> dict[str, Any]:
    """Return an error as GitHub writes it."""
    shown: dict[str, Any] = dict(error.formatted)
    if isinstance(error.original_error, Failed):
        return {"type": error.original_error.kind, **shown}
    if isinstance(error.original_error, Refused):
        return {"type": "UNPROCESSABLE", **shown}
    return shown
