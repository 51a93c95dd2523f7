"""`python -m benchmarks.door_server FOLDER SECRET`: the door and its inbox alone.

It prints its port when it is ready. Nobody takes from the inbox: as with the peer.
"""

import asyncio
import gc
import sys
from pathlib import Path

from bot.door.inbox import Inbox, Wake
from bot.door.listening import listening
from bot.door.webhooks import DeliveryPlace, Door


async def serve(folder: Path, secret: str) -> None:
    """Serve until the process is ended."""
    inbox = Inbox(folder)
    place = DeliveryPlace(label="brat", login="brat[bot]", inbox=inbox, wake=Wake())
    door = Door(secrets=(secret,), place=lambda _: place)
    async with listening(door.application(), "127.0.0.1", 0) as port:
        gc.freeze()  # as `brat bot serve` does
        print(port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
