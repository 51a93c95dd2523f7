"""Keeps asking the forge to send lost deliveries again; serving never waits for it."""

import asyncio
import logging
from datetime import UTC, datetime
from typing import Final

from bot.door.redelivery import ask_again
from bot.door.webhooks import Metrics
from bot.serving.bot_service import Tell
from bot.serving.installations import Installations
from grite.errors import BratError

FAULT: Final = "lost deliveries cannot be asked for again: a fault of ours"

_log: Final = logging.getLogger(__name__)


class LostDeliveries:
    """Looks at what the forge could not deliver, on and on."""

    def __init__(self, app: Installations, metrics: Metrics, tell: Tell) -> None:
        """Ask nothing yet; `tell` gets a line whenever the trouble is another one."""
        self.trouble = ""
        """Why the last look failed; empty: it did not."""
        self._app = app
        self._metrics = metrics
        self._tell = tell

    async def keep_asking(self, every_s: float) -> None:
        """Look at once and then again every `every_s`, until cancelled."""
        while True:
            await self._ask()
            await asyncio.sleep(every_s)

    async def _ask(self) -> None:
        now = datetime.fromtimestamp(self._app.clock.now(), UTC)
        try:
            asked = await ask_again(self._app.app, now)
        except BratError as error:
            self._failed(f"lost deliveries cannot be asked for again: {error}")
            return
        except Exception:  # noqa: BLE001  serving goes on
            if self._failed(FAULT):
                _log.exception("lost deliveries: a fault of ours")
            return
        self.trouble = ""
        self._metrics.redelivered.inc(asked)
        if asked:
            self._tell(f"asked the forge to send {asked} deliveries again")

    def _failed(self, why: str) -> bool:
        """Count a failure, and tell it if it is new; return whether it is."""
        self._metrics.redelivery_failures.inc()
        is_new = self.trouble != why
        if is_new:
            self.trouble = why
            self._tell(why)
        return is_new
