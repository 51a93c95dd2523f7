"""The label that asks for a convoy.

https://docs.github.com/rest/issues/labels
"""

from http import HTTPStatus
from typing import Final

from bot.forge.rest import Refused, Rest
from brat.setup.step import Look, owed, wanted

LABEL: Final = "brat"
_NEW: Final = {
    "name": LABEL,
    "color": "5319e7",
    "description": "Coding agents work on this issue",
}


class LabelStep:
    """Makes the label; one that is there stays as it is."""

    by_hand = f"make the label {LABEL} under Issues, Labels"

    def __init__(self, rest: Rest, repository: str) -> None:
        """Send nothing yet."""
        self._rest, self._url = rest, f"/repos/{repository}/labels"

    async def look(self) -> Look:
        """Look whether the label is there."""
        try:
            await self._rest.get(f"{self._url}/{LABEL}")
        except Refused as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            return owed(f"make the label {LABEL}")
        return wanted(f"the label {LABEL} is there")

    async def do(self) -> None:
        """Make the label."""
        await self._rest.write("POST", self._url, _NEW)
