"""A variable of the repository that workflows read.

https://docs.github.com/rest/actions/variables
"""

from http import HTTPStatus

from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest


class _Known(Payload):
    value: str


class Variable:
    """One variable by its name."""

    def __init__(self, rest: Rest, repository: str, name: str) -> None:
        """Send nothing yet."""
        self._rest, self._name = rest, name
        self._all = f"/repos/{repository}/actions/variables"

    async def value(self) -> str:
        """Return its value without blanks around it; empty: there is none."""
        return (await self._known() or "").strip()

    async def put(self, value: str) -> None:
        """Give it a value; safe to call again."""
        asked = {"name": self._name, "value": value}
        if await self._known() is None:
            await self._rest.write("POST", self._all, asked)
        else:
            await self._rest.write("PATCH", f"{self._all}/{self._name}", asked)

    async def _known(self) -> str | None:
        try:
            known = await self._rest.read(_Known, f"{self._all}/{self._name}")
        except Refused as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            return None
        return known.value
