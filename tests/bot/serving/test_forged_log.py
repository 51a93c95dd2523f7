"""A token that may push, as every CI job may hold, writes to a running bot's log."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from convoy.events.leases import BotStarted
from convoy.events.people_events import ConvoyPaused
from convoy.log.record import follow, record
from grite.errors import Conflict
from grite.remote import RefUpdate, Remote, ensure_mirror
from grite.wal import WAL_REF, Log
from tests.bot.serving.hosted_town import accepted, hosting, labelled, running
from tests.world.forge import REPO, Town, until

pytestmark = pytest.mark.timeout(180)

MALLORY = b"mallory's actor!"


def forge_a_pause(remote: Remote) -> str:
    """Push, as a bot that started just now, that every convoy is paused."""
    while True:
        remote.fetch([f"+{WAL_REF}:{WAL_REF}"])
        log = Log(remote.mirror)
        head = str(log.head())
        state = follow(log, head).state
        facts = [ConvoyPaused(convoy=name, by="alice") for name in state.convoys]
        at = state.moment.at + 1
        events = record(state, (BotStarted(version="1"), *facts), actor=MALLORY, at=at)[
            1
        ]
        new = log.write(events, parent=head, actor=MALLORY, at_ms=at)
        with suppress(Conflict):  # the bot was faster
            remote.push((RefUpdate(WAL_REF, new, head),))
            return new


async def test_a_push_to_the_logs_ref_makes_nobody_a_bot(
    here: Town, tmp_path: Path
) -> None:
    mirror = tmp_path / "mallory.git"
    ensure_mirror(mirror)
    remote = Remote(f"{here.url}/{REPO}.git", mirror, here.tokens["alice"])
    number = await labelled(here, REPO)
    async with running(hosting(here, repositories=(REPO,), sweep_s=0.2)) as host:
        await accepted(here, REPO, number)

        theirs = await asyncio.to_thread(forge_a_pause, remote)
        await accepted(here, REPO, await labelled(here, REPO, "Another issue"))

        loop = host.served[REPO].loop
        assert loop is not None
        mirror_of_bot = loop.context.mirror

        await until(lambda: not mirror_of_bot.foreign)
        state = mirror_of_bot.state
    assert MALLORY.hex() not in state.bots
    assert {convoy.state for convoy in state.convoys.values()}.isdisjoint({"paused"})
    bare = here.forge.bare(here.forge.known(REPO)).path
    log = Log(bare)
    assert theirs in {
        each.commit for each in log.entries(str(log.head())) if each.is_foreign
    }
