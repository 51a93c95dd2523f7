"""`python -m tests.world.vendor --script FILE`: play a script on loopback.

Prints one line of JSON, {"url": ...}, when it can be reached. It ends when its standard
input does, so that it never outlives whoever started it, or on SIGTERM or SIGINT.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

from grite.errors import BratError
from tests.world.vendor.script import Script, load
from tests.world.vendor.vendor_server import Note, serving


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.world.vendor", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="what is played")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--log", type=Path, help="write a line here for every call")
    return parser.parse_args()


async def _serve(script: Script, port: int, note: Note) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)

    def wait() -> None:
        while os.read(0, 4096):
            pass
        with suppress(RuntimeError):  # a signal was faster
            loop.call_soon_threadsafe(ended.set)

    async with serving(script, port, note) as url:
        print(json.dumps({"url": url}), flush=True)  # noqa: T201  the promised line
        threading.Thread(target=wait, name="parent", daemon=True).start()
        await ended.wait()


def main() -> int:
    """Serve; 0 when asked to end, 1 when it could not start."""
    arguments = _arguments()
    try:
        with ExitStack() as stack:
            script = load(arguments.script.read_bytes())
            log = arguments.log and stack.enter_context(arguments.log.open("a"))

            def note(call: dict[str, object]) -> None:
                if log:
                    print(json.dumps(call), file=log, flush=True)

            asyncio.run(_serve(script, arguments.port, note))
    except (BratError, OSError) as error:
        print(f"tests.world.vendor: {error}", file=sys.stderr)  # noqa: T201  a command's error
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
