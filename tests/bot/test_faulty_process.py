"""A bot as a process of its own, when a fault ends it."""

import asyncio
import json
import sys
from pathlib import Path

from tests.bot.hosted import at_home, served
from tests.world.forge import REPO
from tests.world.given_secrets import written


async def test_a_fault_is_told_in_a_few_lines_at_the_end(tmp_path: Path) -> None:
    async with at_home(tmp_path) as here:
        told = served(here) | {"repository": REPO, "token": here.tokens["bot"]}
        (here.folder / "bot/feed.key").mkdir(parents=True)
        file = tmp_path / "bot.json"
        file.write_text(json.dumps(told, default=str))

        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "bot", str(file)),
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        _, err = await process.communicate()

    lines = written(err.decode()).splitlines()
    assert process.returncode == 1
    assert lines[0].startswith("IsADirectoryError: ")
    assert lines[-1].startswith("    ")
    assert len(lines) < 40
    assert "Traceback" not in err.decode()
