"""A service that is an App: what is installed, by whom, and what the forge refuses."""

import pytest
from msgspec.structs import replace

from bot.serving.host import hosted
from bot.serving.hosted_dashboard import source_of
from brat.repository.registration import BOT
from tests.bot.serving.hosted_town import (
    OTHER,
    accepted,
    as_app,
    hosting,
    labelled,
    ready,
    running,
    state_of,
)
from tests.bot.there import there
from tests.world.forge import REPO, Town, until
from tests.world.github_forge.apps import Apps
from tests.world.github_forge.injected_faults import Faults

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]


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
