"""What only GraphQL can do, done by people in tests."""

from tests.world.forge import Town


async def mutate(here: Town, name: str, given: dict[str, str]) -> None:
    kind = f"{name[0].upper()}{name[1:]}Input"
    does = f"{name}(input: $in) {{ clientMutationId }}"
    document = f"mutation($in: {kind}!) {{ {does} }}"
    answer = await here.client.post(
        f"{here.url}/api/graphql",
        json={"query": document, "variables": {"in": given}},
        headers={"Authorization": f"Bearer {here.tokens['alice']}"},
    )
    assert "errors" not in answer.json(), answer.text
