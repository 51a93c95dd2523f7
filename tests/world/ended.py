"""Waiting for a convoy: until it has ended, or one of its tasks waits for a person."""

import asyncio
from typing import Final

from brat.repository.log_reader import Reader
from convoy.model.state import Convoy

LOOK_S: Final = 0.1


async def ended(reader: Reader, deadline_s: float) -> Convoy:
    """Return the first convoy that has ended, or cannot go on by itself.

    Raises:
        TimeoutError: there is none within the deadline.
    """
    async with asyncio.timeout(deadline_s):
        while True:
            for convoy in reader.read().convoys.values():
                if convoy.ended or any(t.state == "blocked" for t in convoy.tasks):
                    return convoy
            await asyncio.sleep(LOOK_S)
