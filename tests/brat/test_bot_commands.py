import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from brat.forge.storage.forge_state import Forge
from tests.world.forge import REPO, make_source, settle_in, town, until
from tests.world.layers import sampled
from tests.world.patience import patient

BRAT = Path(sys.executable).with_name("brat")
pytestmark = [pytest.mark.timeout(120), pytest.mark.layer("landing")]


STOPPED = [(signal.SIGTERM, "text"), (signal.SIGINT, "json")]


@pytest.mark.parametrize(("signal_number", "form"), sampled(STOPPED, STOPPED[1:]))
async def test_it_polls_until_it_is_stopped(
    tmp_path: Path, signal_number: signal.Signals, form: str
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, make_source(tmp_path / "source"))
        async with town(forge, tokens, tmp_path) as here:
            issue = await here.issue()
            label = {"labels": ["brat"]}
            await here.post(f"issues/{issue}/labels", label, by="alice")
            file = tmp_path / "bot.json"
            told = {"api_url": f"{here.url}/api/v3", "git_url": here.url}
            told |= {"token": tokens["bot"], "folder": str(tmp_path / "bot")}
            often = {"push_gap_s": 0, "sweep_s": 0.2}
            file.write_text(json.dumps({**told, **often, "repositories": [REPO]}))
            child = await asyncio.create_subprocess_exec(
                BRAT,
                *("bot", "serve", str(file), "--poll", "--log", form),
                stderr=asyncio.subprocess.PIPE,
            )
            try:

                async def accepted() -> bool:
                    found = await here.get(f"issues/{issue}")
                    names = {one["name"] for one in found["labels"]}
                    return "brat:active" in names

                await until(accepted, deadline_s=patient(60))
            finally:
                child.send_signal(signal_number)
                async with asyncio.timeout(patient(30)):
                    _, said = await child.communicate()

    assert child.returncode == 0
    assert b"stopped; unfinished work continues" in said
    assert b"Traceback" not in said
    if form == "json":
        lines = [json.loads(line) for line in said.splitlines()]
        assert all(
            {"timestamp", "level", "logger", "event"} <= {*line} for line in lines
        )
