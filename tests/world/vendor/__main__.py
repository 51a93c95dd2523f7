"""`python -m tests.world.vendor --script FILE`: play a script on loopback.

Prints one line of JSON, {"url": ...}, when it can be reached. It ends when its standard
input does, so that it never outlives whoever started it.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TextIO

from tests.world.vendor.script import Script, load
from tests.world.vendor.vendor_server import serving


async def _serve(script: Script, log: TextIO) -> None:
    def note(call: dict[str, object]) -> None:
        print(json.dumps(call), file=log, flush=True)

    async with serving(script, note) as url:
        print(json.dumps({"url": url}), flush=True)  # noqa: T201  the promised line
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.world.vendor", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="what is played")
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="of calls")
    arguments = parser.parse_args()
    with arguments.log.open("a") as log:
        asyncio.run(_serve(load(arguments.script.read_bytes()), log))


if __name__ == "__main__":
    main()
