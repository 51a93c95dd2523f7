"""The service's door: a process that takes deliveries, and what it asks of the bot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from aiohttp import web

from bot.door.front_link import (
    DeliveryAnswered,
    Destination,
    Destinations,
    FromFront,
    PartChanged,
    RequestKept,
    RosterChanged,
)
from bot.door.webhooks import READY_PATH as READY, readiness
from bot.serving import bot_service
from bot.serving.front_process import Front, FrontProcess, fronted
from bot.serving.host import Host

if TYPE_CHECKING:  # cryptography is slow to load
    from bot.door.oidc import Issuer

LOOK_S: Final = 0.1
"""How often the destinations are compared with those the door knows."""


@asynccontextmanager
async def opened_door(host: Host, issuer: "Issuer | None") -> AsyncIterator[int]:
    """Serve the door for as long as the block lasts; give its port.

    Raises:
        BratError: the address or port cannot be used.
    """
    hosting, fronts = host.hosting, list[FrontProcess]()

    def unready() -> str | None:
        for front in fronts:  # whoever hears that we are ready may deliver at once
            front.tell_destinations(destinations(host))
        return host.unready()

    app = web.Application()
    app.router.add_get(READY, readiness(unready, host.troubles))
    bot_service.with_feed(app, host.feed_of, issuer)
    front = Front(
        name="door",
        address=hosting.address,
        port=hosting.port,
        origins=hosting.origins,
        secrets=hosting.secrets,
        heard=partial(_heard, host),
        tell=host.tell,
    )
    async with fronted(front, app) as (process, port), asyncio.TaskGroup() as group:
        fronts.append(process)
        telling = group.create_task(_keep_telling(host, process), name="places")
        try:
            yield port
        finally:
            telling.cancel()


def destinations(host: Host) -> Destinations:
    """Return where deliveries go now."""
    return Destinations(
        tuple(
            Destination(
                name=name,
                repository_id=one.place.repository_id,
                label=one.place.label,
                login=one.place.login,
                inbox=str(one.place.inbox.folder),
            )
            for name, one in host.served.items()
            if one.place is not None
        )
    )


async def _keep_telling(host: Host, front: FrontProcess) -> None:
    while True:
        front.tell_destinations(destinations(host))
        await asyncio.sleep(LOOK_S)


def _heard(host: Host, told: FromFront) -> None:
    """Do what a message of the door says."""
    match told:
        case RequestKept(name=name) if name in host.served:
            host.served[name].wake.keep()
        case PartChanged(name=name, part=part) if name in host.served:
            host.served[name].wake.up(part)
        case RosterChanged():
            host.roster_changed()
        case DeliveryAnswered(event=event, status=status, seconds=seconds):
            host.metrics.answered(event, status, seconds)
        case _:  # about a repository that is served no more
            pass
