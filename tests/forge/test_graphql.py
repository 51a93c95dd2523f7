"""What the tests' forge answers by GraphQL, and that GitHub has all of it."""

from collections.abc import Mapping

import pytest
from graphql import GraphQLNamedType, GraphQLSchema, build_schema

from tests.contract.webhook_schemas import NPM
from tests.forge.mutations import query
from tests.world.forge import Json, Town
from tests.world.github_forge.graphql import SDL
from tests.world.github_forge.mailed_texts import MailedTexts
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


async def ask(here: Town, document: str, by: str = "bot", **named: Json) -> Json:
    """Ask for something that must be there."""
    answer = await query(here, document, named, by=by)
    assert "errors" not in answer, answer
    return answer["data"]["repository"]


async def test_an_issue_tells_when_its_text_was_edited(here: Town) -> None:
    number = await here.issue()
    document = """
    query ($number: Int!) {
      repository(owner: "alice", name: "app") {
        issue(number: $number) { lastEditedAt }
      }
    }"""
    never = (await ask(here, document, number=number))["issue"]
    await here.ask("PATCH", f"issues/{number}", {"title": "Other"}, by="alice")
    renamed = (await ask(here, document, number=number))["issue"]
    await here.ask("PATCH", f"issues/{number}", {"body": "Other"}, by="alice")

    edited = (await ask(here, document, number=number))["issue"]

    assert never == renamed == {"lastEditedAt": None}
    assert edited["lastEditedAt"] == (await here.get(f"issues/{number}"))["updated_at"]


async def test_a_field_that_github_lacks_is_an_error(here: Town) -> None:
    answer = await query(here, "{ viewer { shoeSize } }")

    assert answer["data"] is None
    assert "shoeSize" in answer["errors"][0]["message"]


async def test_a_comment_tells_whether_it_came_by_mail(here: Town) -> None:
    await here.issue()
    made = [await here.post("issues/1/comments", {"body": text}) for text in "ab"]
    MailedTexts(here.forge.folder).mark(made[1]["id"])
    asked = "query ($id: ID!) { node(id: $id) { ... on Comment { createdViaEmail } } }"

    answers = [await query(here, asked, {"id": one["node_id"]}) for one in made]

    assert [one["data"]["node"] for one in answers] == [
        {"createdViaEmail": False},
        {"createdViaEmail": True},
    ]
