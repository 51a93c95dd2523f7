"""`python -I -m brat.forge --dir DIR`: serve a forge until its parent is gone.

Prints one line of JSON, {"url": ...}, when it can be reached. It ends when its standard
input does, so that it never outlives whoever started it, or on SIGTERM or SIGINT.
Workflow runs live on; the next forge on the same folder finds them.

A package may add to it, as the tests do: an entry point of the group `brat.forge` names
a function from the `Service` to an `Extension`.
"""

import argparse
import asyncio
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path

from brat.forge.http_server import serving
from brat.forge.rest.rest_call import Extension
from brat.forge.service.run_processes import How
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from grite.errors import BratError
from grite.short_traceback import log_warnings


def _watch_parent(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Set `ended` when standard input ends. In a thread: it may be any kind of file."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        with suppress(RuntimeError):  # a signal ended it first
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, name="parent", daemon=True).start()


async def _serve(
    arguments: argparse.Namespace,
    forge: Forge,
    extend: Callable[[Service], Extension] | None,
) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    how = How(feed=arguments.feed, soon=arguments.soon)
    gc.freeze()  # these objects stay: the collector can skip them
    async with serving(forge, arguments.port, how=how, extend=extend) as url:
        print(json.dumps({"url": url}), flush=True)  # noqa: T201  the promised line
        _watch_parent(loop, ended)
        await ended.wait()


def main(extend: Callable[[Service], Extension] | None = None) -> int:
    """Serve; 0 when asked to end, 1 when it could not start."""
    parser = argparse.ArgumentParser(prog="brat.forge", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="the state folder")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument(
        "--feed", type=Path, help="the folder of the local bot that shows runs live"
    )
    parser.add_argument("--soon", action="store_true", help="sessions come soon")
    arguments = parser.parse_args()
    log_warnings()
    try:
        with Forge(arguments.dir) as forge:
            added = (point.load() for point in entry_points(group="brat.forge"))
            asyncio.run(_serve(arguments, forge, extend or next(added, None)))
    except (BratError, OSError) as error:
        print(f"brat.forge: {error}", file=sys.stderr)  # noqa: T201  a command's error
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
