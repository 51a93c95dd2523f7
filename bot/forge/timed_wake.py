"""Turns the workflow that wakes the loop by the clock on and off, by REST.

https://docs.github.com/rest/actions/workflows
"""

from typing import Final

from bot.forge import payloads
from bot.forge.rest import Rest

WAKE: Final = "brat-wake.yml"
_ACTIVE: Final = "active"


class TimedWake:
    """The schedule of one repository that wakes the loop."""

    def __init__(self, rest: Rest, repo: str) -> None:
        """Send nothing yet; `repo` is the beginning of the repository's addresses."""
        self._rest = rest
        self._url = f"{repo}/actions/workflows/{WAKE}"

    async def turn(self, *, on: bool) -> None:
        """Enable or disable the workflow where it is otherwise; safe to call again.

        Raises:
            Refused: the forge has no such file, or the token may not.
            Unavailable: the forge did not answer.
        """
        state = (await self._rest.read(payloads.Workflow, self._url)).state
        word = "enable" if on else "disable"
        if (state == _ACTIVE) is not on:
            await self._rest.write("PUT", f"{self._url}/{word}", {})
