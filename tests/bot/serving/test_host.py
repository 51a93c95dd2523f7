"""One service for many repositories, on the local forge, and strangers there."""

import asyncio
import json
import re
from contextlib import AsyncExitStack
from errno import ENOSPC
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from bot.dashboard.application import MOST_ANONYMOUS
from bot.door.webhooks import WEBHOOK_PATH
from bot.forge.transport import Ask, HttpReply, Wire
from bot.loop.loop import PATIENCE_S, Loop
from bot.repository import mirror
from bot.serving import bot_service
from bot.serving.host import Host, hosted
from bot.serving.hosted_dashboard import opened_dashboard, source_of
from brat.demo import BotProcess
from brat.forge.storage.forge_state import Forge
from brat.local import forge_process, local_mode
from brat.repository import registration as registrations
from brat.repository.registration import BOT, FORGE_FOLDER
from grite.errors import BratError, Unavailable
from grite.wal import WAL_REF
from tests.bot import door_client
from tests.bot.hosted import SECRET
from tests.bot.room import room
from tests.bot.serving.hosted_town import (
    OTHER,
    accepted,
    alone,
    as_app,
    hosting,
    labelled,
    ready,
    running,
    state_of,
)
from tests.bot.there import there
from tests.whole.crash import set_up
from tests.world.forge import REPO, Town, make_source, until
from tests.world.forge_rules import put_hook
from tests.world.github_forge.apps import Apps
from tests.world.github_forge.injected_faults import Faults
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
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault on the way out does not keep the service from ending."""

    async def broken(_loop: Loop) -> None:
        raise OSError(ENOSPC, "No space left on device")

    number = await labelled(here, REPO)
    told = hosting(here, secret="", sweep_s=0.2)
    async with asyncio.timeout(patient(60)), running(told, poll=True) as host:
        await accepted(here, REPO, number)
        await accepted(here, OTHER, await labelled(here, OTHER))

        assert host.port == 0
        monkeypatch.setattr(Loop, "release", broken)


async def test_those_that_are_broken_or_slow_do_not_hold_up_the_others(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is not there, one answers nothing, and one has no place on the disk."""
    send = Wire.send

    async def slow(wire: Wire, ask: Ask, token: str) -> HttpReply:
        if "/repos/alice/slow/" in ask.url:
            await asyncio.Event().wait()
        return await send(wire, ask, token)

    monkeypatch.setattr(Wire, "send", slow)
    here.forge.add_repository("alice/slow", source=here.folder / "source")
    here.forge.grant("alice/slow", "brat[bot]", "write")
    repositories = ("alice/none", "alice/slow", REPO, OTHER)
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


async def test_a_fault_is_told_each_time_and_logged_once_and_a_grown_mirror_collected(
    here: Town, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(mirror, "FLOOR_BYTES", 1)
    monkeypatch.setattr("bot.serving.host.SIZED_S", 0.0)
    told = hosting(here, sweep_s=0.2)
    folder = told.of(REPO, None, here.forge.known(REPO).id).folder
    (folder / "feed.key").mkdir(parents=True)
    lines: list[str] = []

    def count(words: str) -> int:
        return sum(words in line for line in lines)

    async with hosted(told, lines.append) as host:
        await until(lambda: count(f"{REPO}: ") > 1 and count("its mirror has grown"))
        assert count(f"{REPO}: {host.served[REPO].trouble}; trying again in ") > 1
        monkeypatch.undo()

        await accepted(here, OTHER, await labelled(here, OTHER))
    assert len([one for one in caplog.records if "a bug in brat" in one.message]) == 1


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
    here: Town, client: httpx.AsyncClient
) -> None:
    told = hosting(here, metrics_port=0)
    async with running(told) as host:
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


# --- an App: what is installed, by whom, and what the forge refuses -------------------


async def test_an_app_serves_where_an_allowed_owner_installed_it(here: Town) -> None:
    told = as_app(here, allowed_owners=("Alice",), sweep_s=0.2, roster_s=0.2)
    number = await labelled(here, REPO)
    here.forge.add_user("bob")
    here.forge.add_repository("bob/tool", source=here.folder / "source")
    Apps(here.forge).install("helper", "bob/tool")
    async with running(told) as host:
        await accepted(here, REPO, number)
        assert [*host.served] == [REPO], "what a stranger installed is not served"

        Apps(here.forge).install("helper", OTHER)
        await accepted(here, OTHER, await labelled(here, OTHER))
        assert {*host.served} == {REPO, OTHER}

        shown = source_of(host.served[REPO], host.served)
        one = Apps(here.forge).installations.all()[0]
        Apps(here.forge).suspend(one)

        await until(lambda: not host.served)

        with here.forge.store.change():
            Apps(here.forge).installations.put(one)
        again = await labelled(here, REPO)
        await accepted(here, REPO, again)
        assert again in {each.issue for each in shown.read().state.live()}

        with here.forge.store.change():
            alice = replace(there(here.forge.user("alice")), login="alice2")
            here.forge.store.users.put(alice)
        await until(lambda: any("now on alice2" in each for each in host.troubles()))


async def test_an_installation_that_is_broken_does_not_hide_the_others(
    here: Town,
) -> None:
    here.forge.add_user("bob")
    here.forge.add_repository("bob/tool", source=here.folder / "source")
    told = as_app(here, allowed_owners=("alice", "bob"), sweep_s=0.2, roster_s=0.2)
    apps, faults = Apps(here.forge), Faults(here.forge.folder)
    (first,) = apps.installations.all()
    path = f"/app/installations/{first.id}/access_tokens"
    rule = faults.refuse("POST", path, 403, "Not for you")
    lines: list[str] = []
    async with hosted(told, lines.append) as host:
        apps.install("helper", "bob/tool")

        await until(lambda: [*host.served] == ["bob/tool"])
        (trouble,) = (await ready(host))["troubles"]
        assert f"cannot list the repositories of installation {first.id}" in trouble
        assert b"brat_installations_broken 1.0" in host.metrics.text()
        faults.lift(rule)

        await until(lambda: {*host.served} == {"bob/tool", REPO})
        faults.refuse("POST", path, 403, "Not for you")

        async def broken() -> bool:
            said = (await ready(host)).get("troubles", [])
            return any("cannot list" in each for each in said)

        await until(broken)
        assert {*host.served} == {"bob/tool", REPO}
    assert len([line for line in lines if "cannot list" in line]) == 2


async def test_what_was_refused_is_tried_again_when_the_installation_changes(
    here: Town,
) -> None:
    faults = Faults(here.forge.folder, BOT)
    faults.refuse("POST", r".*/issues/\d+/labels", 403, "Not for you")
    number = await labelled(here, REPO)
    async with running(hosting(here, repositories=(REPO,), sweep_s=3600)) as host:
        await until(lambda: state_of(host, REPO).set_aside)
        faults.lift()
        host.roster_changed()
        await accepted(here, REPO, number)


# --- a repository of which nothing moves is named, and the others are served ----------

REFUSING = 'case "$1" in refs/grite/*) echo "not here" >&2; exit 1;; esac'


def refusing_the_log(here: Town, name: str) -> None:
    put_hook(here.forge.bare(here.forge.known(name)).path, "update", REFUSING)


async def until_ready(port: int, status: int, words: str) -> httpx.Response:
    """Wait until this is answered to who asks whether it is ready."""
    async with httpx.AsyncClient(trust_env=False, timeout=patient(20)) as client:

        async def asked() -> httpx.Response | None:
            answer = await client.get(f"http://127.0.0.1:{port}/readyz")
            meant = answer.status_code == status and words in answer.text
            return answer if meant else None

        answer: httpx.Response = await until(asked)
    return answer


async def test_a_repository_whose_log_is_refused_is_named_and_all_make_it_unready(
    here: Town,
) -> None:
    refusing_the_log(here, REPO)
    async with hosted(hosting(here, sweep_s=0.2), lambda _: None) as host:
        answer = await until_ready(host.port, 200, "is stuck")
        (trouble,) = answer.json()["troubles"]
        assert trouble.startswith(f"{REPO} is stuck: the forge refuses the log")
        still = 'brat_repository_standing_still{repository="%s"} %s'
        assert still % (REPO, "1.0") in host.metrics.text().decode()
        assert still % (OTHER, "0.0") in host.metrics.text().decode()

        refusing_the_log(here, OTHER)
        await labelled(here, OTHER)
        await until_ready(host.port, 503, "refuses the log")


async def test_the_bot_of_one_repository_is_unready(tmp_path: Path) -> None:
    known = set_up(tmp_path)
    put_hook(registrations.bare_path(tmp_path, known), "update", REFUSING)
    folder, log = tmp_path / FORGE_FOLDER, tmp_path / "forge.log"
    with forge_process.forge(folder, 0, log=log) as (url, _):
        bot = BotProcess(tmp_path, known, url)
        bot.start()
        try:
            async with local_mode.person(url, known) as github:
                issue = await github.open_issue("Do it", "- [ ] one")
                await github.relabel(issue, {"brat"}, set())
            await until_ready(bot.port, 503, "the log")
        finally:
            bot.stop()


async def test_ticks_that_are_cut_short_are_a_standstill_after_two_minutes(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, roles=("mayor",)) as here:
        now, loop = [0], here.loop
        clock, loop.context.clock = loop.context.clock, lambda: now[0]
        assert loop.standstill == ""
        for _ in range(2):
            loop.cut_short("tick", Unavailable("nobody answers"))
            assert loop.standstill == ""
            now[0] += int(PATIENCE_S) * 500
        now[0] += 1
        assert "over two minutes: nobody answers" in loop.standstill
        loop.context.clock = clock
        await loop.tick()
        assert loop.standstill == ""


# --- who takes connections and gives nothing stops nobody -----------------------------


async def answers(client: httpx.AsyncClient, host: Host) -> list[int]:
    settings = host.served[REPO].settings
    repository = {"full_name": REPO, "id": settings and settings.repository_id}
    body = json.dumps(door_client.labelled(repository=repository)).encode()
    url = f"http://127.0.0.1:{host.port}"
    healthy = await client.get(f"{url}/healthz")
    headers = door_client.headers_of(body, secret=SECRET)
    taken = await client.post(f"{url}{WEBHOOK_PATH}", content=body, headers=headers)
    return [healthy.status_code, taken.status_code]


async def test_many_streams_and_unfinished_deliveries_stop_nobody(
    here: Town, client: httpx.AsyncClient
) -> None:
    told = hosting(
        here,
        sweep_s=60,
        dashboard_port=0,
        dashboard_url="https://brat.example",
        client_id="made-up-client",
        client_secret="made-up-client-secret",
    )
    stream = f"GET /{REPO}/events HTTP/1.1\r\nHost: brat.example\r\n\r\n"
    half = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\n"
    half += "Content-Length: 1000000\r\n\r\nhalf"
    async with (
        hosted(told, lambda _: None) as host,
        opened_dashboard(host) as dashboard,
    ):
        served = host.served
        await until(lambda: served and all(one.loop for one in served.values()))
        await ready(host)
        for port, sent, count in ((dashboard, stream, 1_100), (host.port, half, 600)):
            first = []
            async with AsyncExitStack() as stack:
                for _ in range(count):
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    stack.callback(writer.close)
                    writer.write(sent.encode())
                    first.append(asyncio.ensure_future(reader.readline()))
                if port == dashboard:
                    async with asyncio.timeout(patient(60)):
                        lines = await asyncio.gather(*first, return_exceptions=True)
                    opened = [
                        e for e in lines if isinstance(e, bytes) and b" 200 " in e
                    ]
                    assert 0 < len(opened) <= MOST_ANONYMOUS

                assert await answers(client, host) == [200, 202]


# --- a name is given away: what is known of one repository never reaches another ------


def rename(forge: Forge, full_name: str, name: str) -> str:
    """Give a repository another name; its id and all that is in it stay.

    Returns:
        The new full name; the old one is free.
    """
    repo = forge.known(full_name)
    bare = forge.bare(repo)
    bare.close()
    path = bare.path.rename(bare.path.with_name(f"{name}.git"))
    bare.path = path
    return forge.update(repo, name=name).full_name


def create(forge: Forge, full_name: str, source: Path) -> int:
    """Create a public repository in which the bot may write; return its id."""
    made = forge.add_repository(full_name, source=source)
    forge.grant(full_name, "brat[bot]", "write")
    return made.id


def refs(here: Town, name: str) -> set[str]:
    bare = here.forge.bare(here.forge.known(name))
    return set(bare.git.references) - {"refs/heads/main"}


async def test_the_log_is_not_pushed_into_a_repository_that_took_the_name(
    here: Town, tmp_path: Path
) -> None:
    """The attack: a private one is renamed, and a public one created by its name."""
    here.forge.update(here.forge.known(REPO), private=True)
    number = await labelled(here, REPO)
    async with running(hosting(here, repositories=(REPO,), sweep_s=0.2)) as host:
        await accepted(here, REPO, number)
        assert host.served[REPO].loop

        moved = rename(here.forge, REPO, "moved")
        create(here.forge, REPO, make_source(tmp_path / "public"))

        await until(lambda: "a different repository" in host.served[REPO].trouble)
    assert refs(here, REPO) == set()
    assert WAL_REF in refs(here, moved)


async def test_a_renamed_repository_keeps_its_log_and_its_folder(here: Town) -> None:
    told = as_app(here, allowed_owners=("alice",), sweep_s=0.2, roster_s=0.2)
    number = await labelled(here, REPO)
    async with running(told) as host:
        await accepted(here, REPO, number)
        before = host.served[REPO].settings

        moved = rename(here.forge, REPO, "moved")

        await until(lambda: state_of(host, moved).convoys)
        after = host.served[moved].settings
        assert [*host.served] == [moved]
    assert there(after).folder == there(before).folder


async def test_a_bot_of_its_own_refuses_the_folder_of_another_repository(
    here: Town, tmp_path: Path
) -> None:
    async with bot_service.opened(alone(here), lambda _: None) as loop:
        assert not await bot_service.tick(loop)
        rename(here.forge, REPO, "moved")
        create(here.forge, REPO, make_source(tmp_path / "public"))

        with pytest.raises(BratError, match="a different repository"):
            await asyncio.to_thread(loop.context.mirror.look)
        with pytest.raises(BratError, match="a different repository"):
            await bot_service.tick(loop)
    with pytest.raises(BratError, match="a different repository"):
        async with bot_service.opened(alone(here), lambda _: None):
            pass
    assert refs(here, REPO) == set()
