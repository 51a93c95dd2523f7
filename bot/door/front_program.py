"""`python -I -m bot.door.front_program`: what strangers reach, as a process of its own.

It holds no key of the bot. It takes deliveries into the inboxes by itself, whatever the
bot is busy with, and passes on all else within limits.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web

from bot.door import front_link as messages
from bot.door.front_link import Destination, FromFront, Relay, Setup, ToFront
from bot.door.inbox import Inbox
from bot.door.listening import serving_on
from bot.door.webhooks import DeliveryPlace, Door
from grite.short_traceback import short_line, short_traceback

UNREAD_BYTES: Final = 4_000_000
"""How much the bot may leave unread. What is dropped then is found by its sweep."""
LINE_BYTES: Final = 16_000_000
_to_front: Final = msgspec.json.Decoder(ToFront)


class Outlet:
    """Writes messages to the bot, without waiting for it."""

    def __init__(self) -> None:
        self._pipe: asyncio.WriteTransport | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        pipe, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
        self._pipe = pipe

    def write(self, message: FromFront) -> None:
        """Write a message, unless the bot has left too much unread."""
        if self._pipe is not None and self._pipe.get_write_buffer_size() < UNREAD_BYTES:
            self._pipe.write(msgspec.json.encode(message) + b"\n")


class LogToBot(logging.Handler):
    """Sends log lines to the bot, each short and without secrets."""

    def __init__(self, outlet: Outlet) -> None:
        super().__init__(logging.INFO)
        self._outlet = outlet

    def emit(self, record: logging.LogRecord) -> None:
        line = short_line(record.getMessage())
        if record.exc_info and record.exc_info[1] is not None:
            line += f"\n{short_traceback(record.exc_info[1])}"
        self._outlet.write(messages.Logged(record.levelno, record.name, line))


class FarWake:
    """Wakes a repository's loop in the bot's process."""

    def __init__(self, outlet: Outlet, name: str) -> None:
        self._outlet = outlet
        self._name = name

    def up(self, part: str) -> None:
        """Say that `part` may have changed."""
        self._outlet.write(messages.PartChanged(self._name, part))

    def keep(self) -> None:
        self._outlet.write(messages.RequestKept(self._name))


class Places:
    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._known: Mapping[Destination, DeliveryPlace] = {}

    def take(self, told: messages.Destinations) -> None:
        self._known = {
            each: self._known.get(each)
            or DeliveryPlace(
                label=each.label,
                login=each.login,
                inbox=Inbox(Path(each.inbox)),
                wake=FarWake(self._outlet, each.name),
                repository_id=each.repository_id,
            )
            for each in told.all
        }

    def of(self, name: str) -> DeliveryPlace | None:
        """Return the place of a repository by its lower-case name."""
        found = (place for told, place in self._known.items() if told.name == name)
        return next(found, None)

    def having(self, number: int) -> DeliveryPlace | None:
        found = (each for each in self._known.values() if each.repository_id == number)
        return next(found, None)


async def _serve(commands: asyncio.StreamReader, outlet: Outlet) -> None:
    """Serve until standard input ends."""
    setup = _to_front.decode(await commands.readline())
    if not isinstance(setup, Setup):
        raise TypeError("the first line is no Setup")
    places = Places(outlet)
    async with AsyncExitStack() as stack:
        relay = await stack.enter_async_context(Relay.to(Path(setup.behind)))
        app = _application(setup, places, relay, outlet)
        listener = socket.socket(fileno=setup.listener)
        await stack.enter_async_context(
            serving_on(listener, app, origins=setup.origins)
        )
        outlet.write(messages.Opened())
        while line := await commands.readline():
            told = _to_front.decode(line)
            if isinstance(told, messages.Destinations):
                places.take(told)


def _application(
    setup: Setup, places: Places, relay: Relay, outlet: Outlet
) -> web.Application:
    if not setup.secrets:
        app = web.Application()
    else:
        app = Door(
            secrets=setup.secrets,
            place_of=places.of,
            place_with=places.having,
            roster_changed=lambda: outlet.write(messages.RosterChanged()),
            ready=relay.answer,
            version=setup.version,
            origins=setup.origins,
            answered=lambda *told: outlet.write(messages.DeliveryAnswered(*told)),
        ).application()
    app.router.add_route("*", "/{rest:.*}", relay.answer)
    return app


async def _until_told() -> None:
    outlet = Outlet()
    logging.basicConfig(handlers=[LogToBot(outlet)], level=logging.INFO)
    await outlet.open()
    commands = asyncio.StreamReader(limit=LINE_BYTES)
    loop = asyncio.get_running_loop()
    # The bot's signals are for the bot: it ends us by closing our standard input.
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: None)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), os.fdopen(0, "rb", buffering=0)
    )
    await _serve(commands, outlet)


if __name__ == "__main__":
    asyncio.run(_until_told())
