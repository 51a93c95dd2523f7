"""Logs refused requests: one line for each client and reason, however many came."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from aiohttp.http_exceptions import HttpProcessingError

AGAIN_S: Final = 3_600.0
"""How long a logged refusal is not logged again."""
LINES: Final = 200
"""The most lines in that time: a stranger can have any number of addresses."""

_log: Final = logging.getLogger(__name__)


class RefusalLog(logging.Filter):
    """Remembers what was logged; for one event loop.

    As a filter of aiohttp's log it takes the place of the traceback with which aiohttp
    tells of every request that is no HTTP.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Measure time with `clock`, in seconds."""
        super().__init__()
        self._clock = clock
        self._said: OrderedDict[tuple[str, str], float] = OrderedDict()

    def say(self, client: str, why: str) -> None:
        """Log a refusal, if no such line was logged within the hour."""
        now = self._clock()
        while self._said and now - next(iter(self._said.values())) >= AGAIN_S:
            self._said.popitem(last=False)
        if (client, why) in self._said or len(self._said) >= LINES:
            return
        self._said[client, why] = now
        more = ""
        if len(self._said) == LINES:
            more = "; refusals of more clients are not logged for an hour"
        _log.warning("refused: client=%.80r %.200s%s", client, why, more)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether aiohttp's own line is to be logged."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            return True
        address = record.args[0] if isinstance(record.args, tuple) else ""
        self.say(str(address or ""), f"400 no HTTP ({type(error).__name__})")
        return False
