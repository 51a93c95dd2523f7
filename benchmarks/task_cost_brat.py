"""`python -m benchmarks.task_cost_brat TICKS ARGS`: the command `brat ARGS`, counted.

Its forge is one that counts requests (`task_cost_forge`); how often its loop looked is
written to the file TICKS when it ends.
"""

import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

from benchmarks import task_cost_forge
from bot.loop.loop import Loop
from brat.__main__ import main
from brat.local import forge_process

TICK = Loop.tick


def counted(file: Path) -> None:
    """Run the command to its end."""
    ticks = 0

    async def tick(loop: Loop) -> bool:
        nonlocal ticks
        ticks += 1
        return await TICK(loop)

    serve = partial(forge_process.forge, program=task_cost_forge.__spec__.name)
    try:
        with (
            patch.object(Loop, "tick", tick),
            patch.object(forge_process, "forge", serve),
        ):
            main()
    finally:
        file.write_text(str(ticks), encoding="utf-8")


if __name__ == "__main__":
    counted(Path(sys.argv.pop(1)))
