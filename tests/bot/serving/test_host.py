"""One service for many repositories, on the local forge."""

import asyncio
import re
from errno import ENOSPC

import httpx
import pytest

from bot.door.webhooks import WEBHOOK_PATH
from bot.forge.transport import Ask, HttpReply, Wire
from bot.loop.loop import Loop
from bot.repository import mirror
from bot.serving.host import hosted
from grite.errors import BratError
from tests.bot.hosted import SECRET
from tests.bot.serving.hosted_town import (
    OTHER,
    accepted,
    hosting,
    labelled,
    ready,
    running,
    state_of,
)
from tests.bot.there import there
from tests.world.forge import REPO, Town, until
from tests.world.patience import patient

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


async def test_each_repository_is_served_and_woken_by_its_own_deliveries(
    here: Town,
) -> None:
    async with running(hosting(here, sweep_s=3600)) as host:
        for repo in (REPO, OTHER):
            url = f"http://127.0.0.1:{host.port}{WEBHOOK_PATH}"
            here.forge.add_hook(repo, url, SECRET)
            await until(lambda: state_of(host, repo).bots)  # noqa: B023
        first = await labelled(here, REPO)
        second = await labelled(here, OTHER)
        await accepted(here, REPO, first)
        await accepted(here, OTHER, second)

        await ready(host)
        leases = {repo: there(one.loop).lease.ref for repo, one in host.served.items()}

    for repo, lease in leases.items():
        bare = here.forge.bare(here.forge.known(repo))
        assert bare.ref(lease) is None, "it is given back at the end"


async def test_without_a_door_the_sweep_alone_finds_what_is_to_be_done(
    here: Town,
) -> None:
    number = await labelled(here, REPO)
    told = hosting(here, secret="", sweep_s=0.2)
    async with running(told, poll=True) as host:
        await accepted(here, REPO, number)
        await accepted(here, OTHER, await labelled(here, OTHER))

        assert host.port == 0


async def test_those_that_are_broken_do_not_hold_up_the_others(here: Town) -> None:
    """One is not there, and one has no place on the disk."""
    repositories = ("alice/none", REPO, OTHER)
    told = hosting(here, repositories=repositories, sweep_s=0.2, roster_s=0.2)
    folder = told.of(REPO, None, here.forge.known(REPO).id).folder
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where a folder belongs")
    numbers = {repo: await labelled(here, repo) for repo in (REPO, OTHER)}
    async with running(told) as host:
        await accepted(here, OTHER, numbers[OTHER])
        gone = host.served["alice/none"]
        await until(lambda: gone.trouble or (gone.loop and gone.loop.context.troubles))
        stuck = f"{REPO} is stuck: its loop cannot run: "
        troubles = "\n".join((await ready(host))["troubles"])
        assert stuck in troubles
        assert "cannot create its folder: " in troubles

        folder.unlink()

        await accepted(here, REPO, numbers[REPO])
        assert stuck not in "\n".join((await ready(host)).get("troubles", []))


async def test_a_fault_is_told_shortly_each_time_and_its_place_is_logged_once(
    here: Town, caplog: pytest.LogCaptureFixture
) -> None:
    told = hosting(here, repositories=(REPO,), sweep_s=0.2)
    number = here.forge.known(REPO).id
    (told.of(REPO, None, number).folder / "feed.key").mkdir(parents=True)
    lines: list[str] = []
    async with hosted(told, lines.append) as host:
        await until(
            lambda: len([line for line in lines if "trying again in" in line]) > 1
        )

        assert host.served[REPO].trouble in lines[-1]
    assert len([one for one in caplog.records if "a bug in brat" in one.message]) == 1


async def test_one_that_is_slow_does_not_hold_up_the_others(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Wire.send

    async def slow(wire: Wire, ask: Ask, token: str) -> HttpReply:
        if f"/repos/{REPO}/" in ask.url:
            await asyncio.Event().wait()
        return await send(wire, ask, token)

    monkeypatch.setattr(Wire, "send", slow)
    await labelled(here, REPO)
    number = await labelled(here, OTHER)
    async with running(hosting(here, sweep_s=0.2)):
        await accepted(here, OTHER, number)


async def said(here: Town, repo: str, number: int, words: str) -> None:
    """Wait until a comment says this."""

    async def answered() -> bool:
        path = f"issues/{number}/comments"
        found = (await here.ask("GET", path, repo=repo)).json()
        return any(words in one["body"] for one in found)

    await until(answered)


async def test_while_it_is_stopped_nothing_starts_nor_beyond_its_quota(
    here: Town,
) -> None:
    told = hosting(here, sweep_s=0.2, quota={"installation_hour": 1})
    told.folder.mkdir()
    told.stop_file.touch()
    number = await labelled(here, REPO)
    async with running(told):
        await said(here, REPO, number, "has stopped it")

        told.stop_file.unlink()
        label = {"labels": ["brat"]}
        await here.post(f"issues/{number}/labels", label, by="alice")
        await accepted(here, REPO, number)

        number = await labelled(here, OTHER)
        await said(here, OTHER, number, "add the label again at")


async def test_the_figures_are_on_a_port_of_their_own_and_a_taken_one_is_said(
    here: Town,
) -> None:
    told = hosting(here, metrics_port=0)
    async with (
        running(told) as host,
        httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client,
    ):
        with pytest.raises(BratError, match="cannot listen on"):
            async with running(hosting(here, port=host.port)):
                pass
        hidden = await client.get(f"http://127.0.0.1:{host.port}/metrics")
        url = f"http://127.0.0.1:{host.metrics_port}/metrics"
        led_here = await client.get(url, headers={"Host": "evil.example"})
        await accepted(here, REPO, await labelled(here, REPO))
        shown = ""

        async def counted() -> bool:
            nonlocal shown
            answer = await client.get(url)
            shown = answer.text
            commits = re.search(r"brat_log_commits{\S+ (\S+)", shown)
            return commits is not None and float(commits[1]) > 0

        await until(counted)

    assert (hidden.status_code, led_here.status_code) == (404, 421)
    assert "brat_repositories " in shown
    assert f'brat_convoys{{repository="{REPO}",state="active"}} 1.0' in shown
    assert f'brat_tokens_total{{kind="output",repository="{REPO}"}} 0.0' in shown
    assert f'brat_tasks{{repository="{REPO}",' in shown


async def test_a_fault_on_the_way_out_does_not_keep_the_service_from_ending(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_loop: Loop) -> None:
        raise OSError(ENOSPC, "No space left on device")

    async with asyncio.timeout(patient(60)):
        async with running(hosting(here, sweep_s=0.2), poll=True) as host:
            await until(
                lambda: len([one for one in host.served.values() if one.loop]) == 2
            )
            monkeypatch.setattr(Loop, "release", broken)


async def test_a_mirror_that_has_grown_is_collected_while_the_service_runs(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "FLOOR_BYTES", 1)
    monkeypatch.setattr("bot.serving.host.SIZED_S", 0.0)
    lines: list[str] = []
    async with hosted(hosting(here, sweep_s=0.2), lines.append):
        await until(lambda: any("its mirror has grown" in line for line in lines))
        monkeypatch.undo()

        await accepted(here, REPO, await labelled(here, REPO))
