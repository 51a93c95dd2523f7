"""Writes requests to the disk; those that arrive meanwhile go into the next file.

Each file costs two disk waits and takes the interpreter's lock several times, however
many requests it holds; so under load the files grow, and the answers stay quick.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from bot.door.delivery_inbox import Inbox, Kept, check

TURNS: Final = 2
"""The most files written at once: under low load no request waits for another."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    inbox: Inbox
    delivery: str
    kept: Kept
    done: asyncio.Future[None]


_Faults = dict[Inbox, Exception]


class Writer:
    """Writes requests to the disk from one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(TURNS, "inbox")
        self._waiting: list[_Waiting] = []
        self._turns = 0

    async def keep(self, inbox: Inbox, delivery: str, kept: Kept) -> None:
        """Return once the inbox holds the request and it would survive a crash.

        Raises:
            ValueError: the id is not of GitHub's form.
            OSError: the request cannot be written.
        """
        check(delivery)
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append(_Waiting(inbox, delivery, kept, done))
        self._begin(loop)
        await done

    async def close(self) -> None:
        """Wait for the writes under way, and end."""
        await asyncio.to_thread(self._threads.shutdown)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting and self._turns < TURNS:
            together, self._waiting = self._waiting, []
            self._turns += 1

            def ended(write: Future[_Faults]) -> None:
                loop.call_soon_threadsafe(self._ended, loop, together, write.result())

            self._threads.submit(_write, together).add_done_callback(ended)

    def _ended(
        self,
        loop: asyncio.AbstractEventLoop,
        together: Sequence[_Waiting],
        faults: _Faults,
    ) -> None:
        self._turns -= 1
        for each in together:
            if each.done.done():  # the caller has gone
                continue
            if (fault := faults.get(each.inbox)) is not None:
                each.done.set_exception(fault)
            else:
                each.done.set_result(None)
        self._begin(loop)


def _write(together: Sequence[_Waiting]) -> _Faults:
    """Write one file for each inbox; return the errors by inbox."""
    files: dict[Inbox, dict[str, Kept]] = {}
    for each in together:
        files.setdefault(each.inbox, {})[each.delivery] = each.kept
    faults: _Faults = {}
    for inbox, requests in files.items():
        try:
            inbox.put_all(requests)
        except Exception as fault:  # noqa: BLE001  the waiting callers get it
            faults[inbox] = fault
    return faults
