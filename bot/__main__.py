"""`python -I -m bot SETTINGS.json [PORT]`: one bot as a process of its own."""

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

from bot.serving import bot_service
from bot.settings.bot_settings import Settings, read_settings_as
from grite.errors import BratError
from grite.short_traceback import log_warnings, short_traceback


async def _serve(file: Path, port: int) -> None:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101  asyncio.run makes one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    settings = read_settings_as(Settings, file)
    if settings.ends_with_stdin:
        events = asyncio.get_running_loop()

        def readable() -> None:
            if not os.read(0, 1024):
                events.remove_reader(0)
                running.cancel()

        events.add_reader(0, readable)
    async with (
        bot_service.opened(settings, _tell) as loop,
        bot_service.door(loop, port, lambda: loop.standstill or None) as bound,
    ):
        gc.freeze()  # these objects stay: the collector can skip them
        print(bound, flush=True)  # noqa: T201  the parent process waits for the port
        await bot_service.forever(loop)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201  its log is its stderr


def main() -> int:
    """Serve until SIGTERM; return 0 after it, 1 on a fault."""
    log_warnings()
    file = Path(sys.argv[1])
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0  # noqa: PLR2004  optional
    try:
        asyncio.run(_serve(file, port))
    except (asyncio.CancelledError, KeyboardInterrupt):
        return 0
    except BratError as error:
        _tell(str(error))
        return 1
    except Exception as error:  # noqa: BLE001  a bug in brat ends the process
        _tell(short_traceback(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
