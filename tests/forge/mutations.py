"""GraphQL in tests: the mutations that the tests' forge knows."""

from tests.world.forge import Json, Town


async def mutate(
    here: Town, name: str, given: dict[str, str], by: str = "alice"
) -> Json:
    """Send a mutation, and return the whole answer."""
    kind = f"{name[0].upper()}{name[1:]}Input"
    asked = {
        "query": f"mutation($in: {kind}!) {{ {name}(input: $in) {{ __typename }} }}",
        "variables": {"in": given},
    }
    answer = await here.client.post(
        f"{here.url}/api/graphql",
        json=asked,
        headers={"Authorization": f"Bearer {here.tokens[by]}"},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()
