"""A bot as a process of its own, when a fault ends it."""

import asyncio
import sys
from pathlib import Path

import msgspec

from tests.bot.hosted import at_home, settings
from tests.world.given_secrets import written


async def test_a_fault_is_told_in_a_few_lines_at_the_end(tmp_path: Path) -> None:
    async with at_home(tmp_path) as here:
        told = settings(here, token=here.tokens["bot"])
        (told.folder / "feed.key").mkdir(parents=True)
        file = tmp_path / "bot.json"
        plain = told.model_dump(mode="json") | {
            "token": told.token,
            "secret": told.secret,
        }
        file.write_bytes(msgspec.json.encode(plain))

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
