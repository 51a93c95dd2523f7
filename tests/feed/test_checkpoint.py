"""The newest checkpoint of a running session is kept, whole, and nothing else."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

from bot.door.feed import Feed, checkpoint_file
from bot.door.feed_endpoint import CHECKPOINT_BYTES
from convoy.model.state import State
from runner.session.feed_client import WorkSender
from tests.feed.hall import REPO, SESSION, Hall, hall, running
from tests.world.forge import until
from tests.world.held_port import held_port
from tests.world.rules import NAME

KILLED = """
import os, signal, sys
from pathlib import Path
from bot.door.feed import Feed
from convoy.model.state import State

def die(_number):
    os.kill(os.getpid(), signal.SIGKILL)

os.fsync = die
folder, repository, session = sys.argv[1:]
Feed(Path(folder), repository, State).keep(session, b"the second one, cut off")
"""


async def test_what_a_witness_sends_is_kept_until_the_next(here: Hall) -> None:
    courier = WorkSender(here.place())
    for bundle in (b"one", b"two"):
        courier.send(bundle)
        await until(lambda: here.feed.kept(SESSION) == bundle)  # noqa: B023
    await asyncio.to_thread(courier.close)

    (kept,) = (here.folder / "feed" / NAME).iterdir()
    assert kept.name == "1-1.bundle"
    for body, status in ((b"", 400), (b"1" * (CHECKPOINT_BYTES + 1), 413)):
        refused = await here.send("POST", "checkpoint", content=body)
        assert (refused.status_code, here.feed.kept(SESSION)) == (status, b"two")
    here.rules.lost(1, "gone")
    here.feed.forget()
    assert here.feed.kept(SESSION) == b""


async def test_what_does_not_arrive_is_tried_again_and_holds_up_nobody(
    tmp_path: Path,
) -> None:
    with held_port() as port:
        async with hall(tmp_path, running(), port) as here:
            courier = WorkSender(here.place())
        courier.send(b"one")  # to nobody
        async with hall(tmp_path, running(), port) as here:
            await until(lambda: here.feed.kept(SESSION) == b"one")
            await asyncio.to_thread(courier.close)


def test_a_bot_killed_while_it_keeps_one_has_the_one_before(tmp_path: Path) -> None:
    feed = Feed(tmp_path, REPO, State)
    feed.keep(SESSION, b"the first")

    argv = [sys.executable, "-c", KILLED, str(tmp_path), REPO, SESSION]
    died = subprocess.run(argv, check=False)

    assert died.returncode == -signal.SIGKILL
    assert Feed(tmp_path, REPO, State).kept(SESSION) == b"the first"
    beside = checkpoint_file(tmp_path, SESSION).with_suffix(".part")
    assert beside.exists()
    feed.forget()
    assert not beside.exists()
