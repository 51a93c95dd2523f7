"""One service for many repositories, on the local forge."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.door.webhooks import PATH
from bot.forge.app_auth import PERMISSIONS
from bot.forge.http_client import Ask, Reply, Wire
from bot.serving.host import Host
from bot.serving.hosted_service import hosted
from bot.settings.service_settings import ServiceSettings
from brat.forge import Forge
from grite.errors import BratError
from tests.world.app_key import pair
from tests.world.forge import REPO, Town, make_source, settle_in, town, until
from tests.world.github_forge.apps import Apps, NewApp
from tests.world.github_forge.injected_faults import Faults

OTHER = "alice/lib"
SECRET = "made-up-secret-of-the-webhook"
pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Town]:
    with Forge(tmp_path / "forge") as forge:
        source = make_source(tmp_path / "source")
        tokens = settle_in(forge, source)
        forge.add_repository(OTHER, source=source)
        forge.grant(OTHER, "brat[bot]", "write")
        async with town(forge, tokens, tmp_path) as served:
            yield served


def hosting(here: Town, **given: object) -> ServiceSettings:
    told = {
        "api_url": f"{here.url}/api/v3",
        "git_url": here.url,
        "secret": SECRET,
        "folder": here.folder / "bot",
        "push_gap_s": 0,
        "port": 0,
        **given,
    }
    if "app_id" not in told:
        told |= {"token": here.tokens["bot"]}
        told.setdefault("repositories", (REPO, OTHER))
    return ServiceSettings.model_validate(told)


def as_app(here: Town, **given: object) -> ServiceSettings:
    """Return the settings of a service that is an App, installed in alice/app."""
    new = NewApp(
        slug="helper", owner="alice", public_key=pair()[1], permissions=PERMISSIONS
    )
    app = Apps(here.forge).add(new)
    Apps(here.forge).install("helper", REPO)
    file = here.folder / "app.pem"
    file.write_text(pair()[0])
    return hosting(here, app_id=app.id, private_key_file=file, **given)


@asynccontextmanager
async def running(told: ServiceSettings, *, poll: bool = False) -> AsyncIterator[Host]:
    lines: list[str] = []
    async with hosted(told, lines.append, poll=poll) as host:
        yield host


async def labelled(here: Town, repo: str, title: str = "Fix it") -> int:
    body = {"title": title, "body": "Please."}
    made = await here.ask("POST", "issues", body, by="alice", repo=repo)
    number = int(made.json()["number"])
    label = {"labels": ["brat"]}
    await here.ask("POST", f"issues/{number}/labels", label, by="alice", repo=repo)
    return number


async def accepted(here: Town, repo: str, number: int) -> None:
    """Wait until the issue shows that it became a convoy."""

    async def shown() -> bool:
        issue = (await here.ask("GET", f"issues/{number}", repo=repo)).json()
        return "brat:active" in {label["name"] for label in issue["labels"]}

    await until(shown, deadline_s=60)


async def test_each_repository_is_served_and_woken_by_its_own_deliveries(
    here: Town,
) -> None:
    async with running(hosting(here, sweep_s=3600)) as host:
        for repo in (REPO, OTHER):
            url = f"http://127.0.0.1:{host.port}{PATH}"
            here.forge.add_hook(repo, url, SECRET, ("*",))

        async def ticked() -> bool:
            loops = [one.loop for one in host.served.values()]
            return len(loops) == 2 and all(
                loop and loop.context.mirror.head for loop in loops
            )

        await until(ticked, deadline_s=60)
        first = await labelled(here, REPO)
        second = await labelled(here, OTHER)
        await accepted(here, REPO, first)
        await accepted(here, OTHER, second)

        async with httpx.AsyncClient(trust_env=False) as client:
            ready = await client.get(f"http://127.0.0.1:{host.port}/readyz")
        assert ready.status_code == 200


async def test_without_a_door_the_sweep_alone_finds_what_is_to_be_done(
    here: Town,
) -> None:
    number = await labelled(here, REPO)
    told = hosting(here, secret="", sweep_s=0.2)
    async with running(told, poll=True) as host:
        await accepted(here, REPO, number)
        later = await labelled(here, OTHER)
        await accepted(here, OTHER, later)

        assert host.port == 0


async def test_one_that_is_broken_does_not_hold_up_the_others(here: Town) -> None:
    told = hosting(here, repositories=("alice/none", OTHER), sweep_s=0.2)
    number = await labelled(here, OTHER)
    async with running(told) as host:
        await accepted(here, OTHER, number)

        broken = host.served["alice/none"]

        async def said() -> bool:
            return bool(
                broken.trouble or (broken.loop and broken.loop.context.troubles)
            )

        await until(said, deadline_s=60)


async def test_a_fault_is_told_shortly_each_time_and_its_place_is_logged_once(
    here: Town, caplog: pytest.LogCaptureFixture
) -> None:
    told = hosting(here, repositories=(REPO,), sweep_s=0.2)
    (told.of(REPO, None).folder / "feed.key").mkdir(parents=True)
    lines: list[str] = []
    async with hosted(told, lines.append) as host:

        async def tried_again() -> bool:
            return len([line for line in lines if "tried again in" in line]) > 1

        await until(tried_again, deadline_s=60)

        assert host.served[REPO].trouble in lines[-1]
    places = [one for one in caplog.records if "a fault of ours" in one.message]
    assert len(places) == 1


async def test_one_that_has_no_place_on_the_disk_does_not_end_the_others(
    here: Town,
) -> None:
    told = hosting(here, sweep_s=0.2, roster_s=0.2)
    folder = told.of(REPO, None).folder
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where a folder belongs")
    numbers = {repo: await labelled(here, repo) for repo in (REPO, OTHER)}
    async with running(told) as host:
        await accepted(here, OTHER, numbers[OTHER])
        (trouble,) = (await ready(host))["troubles"]
        assert trouble.startswith(f"{REPO} cannot be served: ")

        folder.unlink()

        await accepted(here, REPO, numbers[REPO])
        assert "troubles" not in await ready(host)


async def test_one_that_is_slow_does_not_hold_up_the_others(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Wire.send

    async def slow(wire: Wire, ask: Ask, token: str) -> Reply:
        if f"/repos/{REPO}/" in ask.url:
            await asyncio.Event().wait()
        return await send(wire, ask, token)

    monkeypatch.setattr(Wire, "send", slow)
    await labelled(here, REPO)
    number = await labelled(here, OTHER)
    async with running(hosting(here, sweep_s=0.2)):
        await accepted(here, OTHER, number)


async def test_an_app_serves_where_an_allowed_owner_installed_it(here: Town) -> None:
    told = as_app(here, allowed_owners=("Alice",), sweep_s=0.2, roster_s=0.2)
    number = await labelled(here, REPO)
    async with running(told) as host:
        await accepted(here, REPO, number)
        assert [*host.served] == [REPO]

        Apps(here.forge).install("helper", OTHER)
        later = await labelled(here, OTHER)
        await accepted(here, OTHER, later)
        assert {*host.served} == {REPO, OTHER}

        (one,) = Apps(here.forge).installations.all()
        Apps(here.forge).suspend(one)

        async def empty() -> bool:
            return not host.served

        await until(empty, deadline_s=60)


async def test_what_a_stranger_installed_is_not_served(here: Town) -> None:
    await labelled(here, REPO)
    told = as_app(here, allowed_owners=("bob",), sweep_s=0.2)
    async with running(told) as host:
        async with asyncio.timeout(60):
            await host.known.wait()
        assert host.served == {}


async def ready(host: Host) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{host.port}/readyz")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_a_forge_that_does_not_list_its_deliveries_is_served_all_the_same(
    here: Town, status: int
) -> None:
    told = as_app(here, allowed_owners=("alice",), sweep_s=0.2, roster_s=0.2)
    faults = Faults(here.forge.folder)
    rule = faults.refuse("GET", "/app/hook/deliveries", status, "Not for you")
    number = await labelled(here, REPO)
    lines: list[str] = []
    async with hosted(told, lines.append) as host:
        await accepted(here, REPO, number)
        Apps(here.forge).install("helper", OTHER)
        await accepted(here, OTHER, await labelled(here, OTHER))

        async def said() -> bool:
            return "troubles" in await ready(host)

        await until(said, deadline_s=60)
        (trouble,) = (await ready(host))["troubles"]
        assert "lost deliveries cannot be asked for again" in trouble
        assert b"brat_redelivery_failures_total 0.0" not in host.metrics.text()
        refused = len(faults.refused())

        async def more() -> bool:
            return len(faults.refused()) > refused

        await until(more, deadline_s=60)
        assert [line for line in lines if "lost deliveries" in line] == [trouble]

        faults.lift(rule)

        async def over() -> bool:
            return "troubles" not in await ready(host)

        await until(over, deadline_s=60)


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

        async def served() -> bool:
            return [*host.served] == ["bob/tool"]

        await until(served, deadline_s=60)
        (trouble,) = (await ready(host))["troubles"]
        assert f"installation {first.id} does not show its repositories" in trouble
        assert b"brat_installations_broken 1.0" in host.metrics.text()
        faults.lift(rule)

        async def both() -> bool:
            return {*host.served} == {"bob/tool", REPO}

        await until(both, deadline_s=60)
        faults.refuse("POST", path, 403, "Not for you")

        async def broken() -> bool:
            said = (await ready(host)).get("troubles", [])
            return any("does not show" in each for each in said)

        await until(broken, deadline_s=60)
        assert {*host.served} == {"bob/tool", REPO}
    assert len([line for line in lines if "does not show" in line]) == 2


async def test_a_lease_is_given_back_at_the_end(here: Town) -> None:
    number = await labelled(here, REPO)
    async with running(hosting(here, repositories=(REPO,), sweep_s=0.2)) as host:
        await accepted(here, REPO, number)
        loop = host.served[REPO].loop
        assert loop is not None

    repo = here.forge.repository(REPO)
    assert repo is not None
    assert here.forge.bare(repo).ref(loop.lease.ref) is None


async def test_while_it_is_stopped_nothing_starts_and_it_says_so(here: Town) -> None:
    told = hosting(here, repositories=(REPO,), sweep_s=0.2)
    told.folder.mkdir()
    told.stop_file.touch()
    number = await labelled(here, REPO)
    async with running(told):

        async def answered() -> bool:
            said = await here.get(f"issues/{number}/comments")
            return any("has stopped it" in one["body"] for one in said)

        await until(answered, deadline_s=60)

        told.stop_file.unlink()
        label = {"labels": ["brat"]}
        await here.post(f"issues/{number}/labels", label, by="alice")
        await accepted(here, REPO, number)


async def test_more_than_the_quota_is_refused_with_the_time(here: Town) -> None:
    quota = {"installation_hour": 1}
    told = hosting(here, sweep_s=0.2, quota=quota)
    async with running(told):
        await accepted(here, REPO, await labelled(here, REPO))
        number = await labelled(here, OTHER)

        async def answered() -> bool:
            said = (
                await here.ask("GET", f"issues/{number}/comments", repo=OTHER)
            ).json()
            return any("set the label again at" in one["body"] for one in said)

        await until(answered, deadline_s=60)


async def test_the_figures_are_on_a_port_of_their_own(here: Town) -> None:
    told = hosting(here, metrics_port=0)
    async with running(told) as host, httpx.AsyncClient(trust_env=False) as client:
        hidden = await client.get(f"http://127.0.0.1:{host.port}/metrics")
        await accepted(here, REPO, await labelled(here, REPO))
        shown = ""

        async def counted() -> bool:
            nonlocal shown
            answer = await client.get(f"http://127.0.0.1:{host.metrics_port}/metrics")
            shown = answer.text
            commits = re.search(r"brat_log_commits{\S+ (\S+)", shown)
            return commits is not None and float(commits[1]) > 0

        await until(counted, deadline_s=60)

    assert hidden.status_code == 404
    assert "brat_repositories " in shown
    assert f'brat_convoys{{repository="{REPO}",state="active"}} 1.0' in shown
    assert f'brat_tokens_total{{kind="output",repository="{REPO}"}} 0.0' in shown
    assert f'brat_tasks{{repository="{REPO}",' in shown
    assert "brat_loop_lag_seconds_bucket" in shown


async def test_without_a_secret_it_does_not_start(here: Town) -> None:
    with pytest.raises(BratError, match="anybody could send deliveries"):
        async with running(hosting(here, secret="")):
            pass


async def test_a_port_that_is_taken_is_said(here: Town) -> None:
    async with running(hosting(here)) as host:
        with pytest.raises(BratError, match="cannot listen on"):
            async with running(hosting(here, port=host.port)):
                pass


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"token": "x", "secret": "short"}, "at least 16 characters"),
        ({"token": "x"}, "is told which it serves"),
        ({"app_id": 1, "private_key_file": "x"}, "name the accounts"),
        ({"token": "x", "repositories": ["x"]}, "pattern"),
    ],
)
def test_settings_that_serve_anybody_are_refused(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        ServiceSettings.model_validate({"folder": tmp_path, **given})


@pytest.mark.parametrize(
    ("owners", "listed", "name", "served"),
    [
        (("alice",), (), "Alice/App", True),
        (("alice",), (), "mallory/app", False),
        (("alice",), ("alice/app",), "alice/lib", False),
        ((), ("Alice/App",), "alice/app", True),
        (("alice",), (), "alice/..", False),
    ],
)
def test_only_the_named_are_served(
    owners: tuple[str, ...],
    listed: tuple[str, ...],
    name: str,
    served: bool,  # noqa: FBT001  a parameter of a test
    tmp_path: Path,
) -> None:
    told = ServiceSettings(
        folder=tmp_path,
        app_id="1",
        private_key_file=tmp_path / "x",
        allowed_owners=owners,
        repositories=listed,
    )

    assert told.serves(name) is served
