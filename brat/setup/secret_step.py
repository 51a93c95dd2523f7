"""Whether the engine's key is among the secrets; it is stored if the person has it.

Names alone can be read back. A key comes from the terminal's own environment, and
leaves it sealed.
"""

import os
from collections.abc import Sequence

from bot.forge.github_actions import secret_names
from bot.forge.rest import Rest
from brat.setup import sealed_box
from brat.setup.step import Look, for_a_person, owed, wanted


class EngineKeyStep:
    """Looks for an engine's key among the secrets, and stores the person's own."""

    def __init__(self, rest: Rest, repository: str, keys: Sequence[str]) -> None:
        """Send nothing yet; any one of `keys` is enough."""
        self._rest, self._repository, self._keys = rest, repository, keys
        self.by_hand = (
            f"give the engine's key: gh secret set {keys[0]} --repo {repository}, or "
            f"set {keys[0]} here and try again"
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
        if names is None:
            unseen = " (the token may not see which are there)"
            return for_a_person(f"{self.by_hand}{unseen}")
        if mine := self._mine():
            return owed(f"store your {mine}, of this terminal, as a secret for agents")
        return for_a_person(self.by_hand)

    async def do(self) -> None:
        """Store the key of this terminal."""
        url = f"/repos/{self._repository}/actions/secrets"
        mine = self._mine()
        value = os.environ[mine]  # noqa: TID251  a person's own terminal
        await sealed_box.store(self._rest, url, mine, value)

    def _mine(self) -> str:
        """Return the name of the key that this terminal has; empty: none."""
        environment = os.environ  # noqa: TID251  a person's own terminal
        return next((each for each in self._keys if environment.get(each)), "")
