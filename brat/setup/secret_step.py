"""Whether the secrets are there: their names; no value can be read or is sent."""

from collections.abc import Sequence

from bot.forge.rest import Rest
from bot.forge.secret_names import secret_names
from brat.setup.step import Look, for_a_person, wanted


class EngineKeyStep:
    """Looks for an engine's key among the secrets; a person gives it."""

    def __init__(self, rest: Rest, repository: str, keys: Sequence[str]) -> None:
        """Send nothing yet; any one of `keys` is enough."""
        self._rest, self._repository, self._keys = rest, repository, keys
        self.by_hand = (
            f"give the engine's key: gh secret set {keys[0]} --repo {repository}"
            if keys
            else ""
        )

    async def look(self) -> Look:
        """Look for the names."""
        if not self._keys:
            return wanted("the engine needs no key that brat knows of")
        names = await secret_names(self._rest, self._repository)
        there = sorted((names or frozenset()) & set(self._keys))
        if there:
            return wanted(f"the secret {there[0]} is there")
        unseen = " (the token may not see which are there)" if names is None else ""
        return for_a_person(f"{self.by_hand}{unseen}")

    async def do(self) -> None:
        """Change nothing."""
