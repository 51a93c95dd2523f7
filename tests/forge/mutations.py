"""GraphQL in tests: documents for the tests' forge, and its whole answers."""

from collections.abc import Mapping

from tests.world.forge import Json, Town


async def mutate(
    here: Town, name: str, given: dict[str, str], by: str = "alice"
) -> Json:
    """Send a mutation, and return the whole answer."""
    kind = f"{name[0].upper()}{name[1:]}Input"
    asked = f"mutation($in: {kind}!) {{ {name}(input: $in) {{ {_SHOWN[name]} }} }}"
    return await query(here, asked, {"in": given}, by=by)


async def query(
    here: Town,
    document: str,
    variables: Mapping[str, object] | None = None,
    by: str = "bot",
) -> Json:
    """Send a document, and return the whole answer."""
    answer = await here.client.post(
        f"{here.url}/api/graphql",
        json={"query": document, "variables": dict(variables or {})},
        headers={"Authorization": f"Bearer {here.tokens[by]}"},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


_SHOWN = {
    "closeIssue": "clientMutationId",
    "deleteIssue": "repository { id }",
    "enqueuePullRequest": "clientMutationId",
    "transferIssue": "issue { number }",
}
