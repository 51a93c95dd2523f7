"""What the tests' forge answers by GraphQL, and that GitHub has all of it."""

from collections.abc import Mapping

import pytest
from graphql import GraphQLNamedType, GraphQLSchema, build_schema

from tests.contract.webhook_schemas import NPM
from tests.world.github_forge.graphql import SDL
from tests.world.npm import installed


def _differences(ours: GraphQLSchema, theirs: GraphQLSchema) -> list[str]:
    """Return what we have otherwise than GitHub."""
    found = []
    for name, kind in ours.type_map.items():
        if name.startswith("__"):
            continue
        known = theirs.type_map.get(name)
        if type(known) is not type(kind):
            found.append(f"{name} is {type(known).__name__}")
            continue
        here, there = _parts(kind), _parts(known)
        found += [
            f"{name}.{part} is {there.get(part)}, not {text}"
            for part, text in here.items()
            if there.get(part) != text
        ]
    return found


def _parts(kind: GraphQLNamedType) -> Mapping[str, str]:
    """Return fields with their types and arguments, values and interfaces."""
    parts = {f"{each} (value)": "" for each in getattr(kind, "values", {})}
    parts |= {f"{each.name} (face)": "" for each in getattr(kind, "interfaces", ())}
    for name, field in getattr(kind, "fields", {}).items():
        parts[name] = str(field.type)
        for word, argument in getattr(field, "args", {}).items():
            parts[f"{name}({word})"] = f"{argument.type} = {argument.default_value}"
    return parts


@pytest.mark.needs("npm")
def test_github_has_all_that_the_forge_has() -> None:
    file = installed(NPM) / "@octokit/graphql-schema/schema.graphql"

    published = build_schema(file.read_text(), assume_valid=True)

    assert _differences(build_schema(SDL.read_text()), published) == []
